"""Interfaces of other libraries: change one import, keep the call, and get numbers that ties cannot change.

beir : its evaluation; oml : open-metric-learning; pml : pytorch-metric-learning; torchmetrics : retrieval metrics.
Import each by name, because each needs other libraries. docs/migration lists what is the same and what differs.
"""
