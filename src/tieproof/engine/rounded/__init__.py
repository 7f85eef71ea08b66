"""Distances in a number format: real numbers that are rounded once and then ranked."""
