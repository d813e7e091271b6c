"""The settings: what can be set, the places that set it, and which of those are trusted."""
