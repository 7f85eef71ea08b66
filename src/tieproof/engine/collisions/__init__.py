"""Whole rankings: which neighbours are at the same distance, or closer than a number; some queries at a time."""
