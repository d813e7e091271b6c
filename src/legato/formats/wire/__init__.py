"""Request bodies of every dialect."""
