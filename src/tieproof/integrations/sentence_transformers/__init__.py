"""Evaluators for sentence-transformers and its trainer, with ties that never pay (extra `sentence-transformers`).

>>> from tieproof.integrations.sentence_transformers import TieproofEvaluator
>>> evaluator = TieproofEvaluator(sentences=["a cat", "the cat", "a dog", "the dog"], labels=[0, 0, 1, 1])
>>> evaluator.greater_is_better
True
"""

from typing import TYPE_CHECKING

from tieproof import errors
from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.integrations.sentence_transformers.evaluator import TieproofEvaluator as TieproofEvaluator
    from tieproof.integrations.sentence_transformers.evaluator import (
        TieproofNanoBEIREvaluator as TieproofNanoBEIREvaluator,
    )
    from tieproof.integrations.sentence_transformers.reranking import (
        TieproofRerankingEvaluator as TieproofRerankingEvaluator,
    )
else:
    errors.import_extra(
        "sentence_transformers", "tieproof.integrations.sentence_transformers", "sentence-transformers"
    )
    __getattr__, __dir__ = exports(__name__)
