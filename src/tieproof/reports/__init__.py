"""A result for people and for other programs: text.py for the screen, files.py for the disk."""
