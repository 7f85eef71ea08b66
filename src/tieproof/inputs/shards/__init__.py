"""Embeddings in many files; at most a few blocks of rows are in memory at a time."""
