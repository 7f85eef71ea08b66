"""For people and for other programs: what a result says, and what the measures are.

A result: text.py for the screen, confidence.py for its error-versus-reject curves, lines.py for who reads trec_eval,
files.py for the disk. Error rates: rates.py. The measures: measures.py.
"""
