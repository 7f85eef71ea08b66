"""tieproof inside the programs where people evaluate already; each is imported by name, for it needs its library.

sentence_transformers : an evaluator for sentence-transformers and its trainer
"""
