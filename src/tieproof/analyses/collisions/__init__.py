"""Ties in rankings: how many items are at the same distance, and what these ties cost."""
