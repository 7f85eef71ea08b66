"""For people and for other programs: what a result says, and what the measures are.

A result: text.py for the screen, lines.py for who reads trec_eval, files.py for the disk. Error rates: rates.py. The
measures: measures.py.
"""
