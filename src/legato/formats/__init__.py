"""Session files that people have on disk, read into the model and written from it."""
