"""The loop: turns, steps, tool history and subagents."""
