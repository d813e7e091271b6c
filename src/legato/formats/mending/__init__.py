"""Repair of files of any format, and the check that nothing is lost by it."""
