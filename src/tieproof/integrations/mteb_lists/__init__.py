"""The intervals of MTEB's lists, without the library; a folder of saved predictions is enough.

predictions.py: {Task}_predictions.json, query by query ─┐
judgments.py: the judgments, and the task's conventions ─┼─► splits.py: batches ──► scores.py: the interval of each
(splits.py reads) the scores of MTEB, {Task}.json ─────┘   measure ──► report.py: tables and JSON
"""
