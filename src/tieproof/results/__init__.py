"""What a call returns: numbers, and nothing of how they are shown."""
