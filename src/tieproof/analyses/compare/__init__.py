"""Comparisons of systems that were evaluated on the same queries, and how similar two rankings with ties are."""
