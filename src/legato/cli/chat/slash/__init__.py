"""Slash commands: what they are, what each does, and the table of them all."""
