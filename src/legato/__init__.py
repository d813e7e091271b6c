"""Legato: one conversation, any model."""

__version__ = "0.1.0"
