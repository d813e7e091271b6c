"""Conversations as HTML pages: what Python writes, and the scripts and styles that go into it."""
