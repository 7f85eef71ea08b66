"""Comparisons of systems that were evaluated on the same queries."""
