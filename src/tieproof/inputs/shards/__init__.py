"""Embeddings in many files, of which no more than a few blocks of rows are ever in memory."""
