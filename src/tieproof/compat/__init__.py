"""Interfaces of other libraries: change one import, keep the call, and get numbers that ties cannot move.

oml : open-metric-learning; pml : pytorch-metric-learning; torchmetrics : its retrieval metrics. Each is imported by
name, since each needs libraries of its own. What is the same and what differs is in docs/compat.md.
"""
