"""What the formats use to repair their own files: a plan of the changes, and the records of the file as they were."""
