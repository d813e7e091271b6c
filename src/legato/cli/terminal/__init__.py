"""The terminal: what may be written to it, how events look there, and how a person answers."""
