"""Lists of MTEB, also saved ones, without the library: a folder of predictions takes only what it is itself.

predictions.py: {Task}_predictions.json, query by query ─┐
judgments.py: what is relevant, and the task's rules ────┼─► splits.py: batches ──► scores.py: the interval of each
printed.py: what MTEB printed, {Task}.json ──────────────┘   measure ──► report.py: tables and JSON
"""
