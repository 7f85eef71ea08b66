"""Exact, tie-aware evaluation of embeddings and rankings."""

from tieproof import measures
from tieproof.errors import InputError, MissingExtraError, TieproofError, UnsafeProductError
from tieproof.evaluate import evaluate
from tieproof.evaluator import Evaluator
from tieproof.lists import evaluate_distances, evaluate_scores
from tieproof.measures import DEFAULT_MEASURES
from tieproof.result import Estimate, Result
from tieproof.runs import evaluate_run
from tieproof.tie_summary import TieSummary
from tieproof.ties import Ties

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_MEASURES",
    "Estimate",
    "Evaluator",
    "InputError",
    "MissingExtraError",
    "Result",
    "TieSummary",
    "TieproofError",
    "Ties",
    "UnsafeProductError",
    "evaluate",
    "evaluate_distances",
    "evaluate_run",
    "evaluate_scores",
    "measures",
]
