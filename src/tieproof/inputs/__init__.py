"""Checks and conversions of all inputs: arrays, labels and relevance, runs, options; `readers` reads files."""
