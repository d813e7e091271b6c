"""The conversation at the command line: in a terminal, or one question and its answer."""
