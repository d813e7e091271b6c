"""Stored sessions: found by id, picked from a list, shown."""
