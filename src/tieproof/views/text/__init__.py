"""Results and measures as text, for people and for other programs.

A result: text.py for terminals, confidence.py for its error-versus-reject curves, lines.py in the format of
trec_eval, files.py for files. Error rates: rates.py. The measures: measures.py.
"""
