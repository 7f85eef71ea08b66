"""Evaluators for sentence-transformers and its trainer, with ties that never pay (extra `sentence-transformers`).

>>> from tieproof.integrations.sentence_transformers import TieproofEvaluator
>>> evaluator = TieproofEvaluator(sentences=["a cat", "the cat", "a dog", "the dog"], labels=[0, 0, 1, 1])
>>> evaluator.greater_is_better
True
"""

from importlib.util import find_spec

from tieproof import errors

if find_spec("sentence_transformers") is None:
    raise errors.MissingExtraError("tieproof.integrations.sentence_transformers", "sentence-transformers")

from tieproof.integrations.sentence_transformers.evaluator import TieproofEvaluator, TieproofNanoBEIREvaluator
from tieproof.integrations.sentence_transformers.reranking import TieproofRerankingEvaluator

__all__ = ["TieproofEvaluator", "TieproofNanoBEIREvaluator", "TieproofRerankingEvaluator"]
