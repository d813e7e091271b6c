"""Conversations in files: linted, repaired, converted and shown."""
