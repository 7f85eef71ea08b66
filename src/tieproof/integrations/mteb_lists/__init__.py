"""The intervals of MTEB's lists, without the library; a folder of saved predictions is enough.

files.py: predictions, query by query, judgments, and the scores of MTEB ──► scores.py: the interval of each measure
of each split ──► report.py: tables and JSON
"""
