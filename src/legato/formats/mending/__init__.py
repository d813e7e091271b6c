"""Repair of files: what has to change, and the check that nothing is lost by it."""
