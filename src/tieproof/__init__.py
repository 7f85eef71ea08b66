"""Exact, tie-aware evaluation of embeddings and rankings."""

from tieproof import measures
from tieproof.errors import InputError, MissingExtraError, TieproofError, UnsafeProductError
from tieproof.evaluate import evaluate
from tieproof.evaluator import Evaluator
from tieproof.fnmr import fnmr_at_fmr, fnmr_at_fmr_of_distances
from tieproof.lists import evaluate_distances, evaluate_scores
from tieproof.measures import DEFAULT_MEASURES
from tieproof.pcf import pcf
from tieproof.pooled.rates import ErrorRates, OperatingPoint
from tieproof.result import Estimate, Result, TieSummary
from tieproof.runs import evaluate_run
from tieproof.ties import Ties

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_MEASURES",
    "ErrorRates",
    "Estimate",
    "Evaluator",
    "InputError",
    "MissingExtraError",
    "OperatingPoint",
    "Result",
    "TieSummary",
    "TieproofError",
    "Ties",
    "UnsafeProductError",
    "evaluate",
    "evaluate_distances",
    "evaluate_run",
    "evaluate_scores",
    "fnmr_at_fmr",
    "fnmr_at_fmr_of_distances",
    "measures",
    "pcf",
]
