"""Distances as a number format keeps them: real numbers, rounded once, and then ranked."""
