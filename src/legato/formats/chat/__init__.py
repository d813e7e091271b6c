"""Messages in the shape of chat APIs, as agents and tools write them to disk."""
