"""Decide which of two items is nearer as in real arithmetic; README.md in this folder derives the bounds."""
