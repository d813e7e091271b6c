"""A sandbox for commands: they write in the working folder alone, and reach no network, unless it is allowed."""

from __future__ import annotations

from legato.tools.sandbox.policy import SandboxMode, SandboxPolicy

__all__ = ["SandboxMode", "SandboxPolicy"]
