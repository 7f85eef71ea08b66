"""Exact, tie-aware evaluation of embeddings and rankings."""

from tieproof import measures
from tieproof.errors import InputError, MissingExtraError, TieproofError, UnsafeProductError
from tieproof.evaluate import evaluate
from tieproof.evaluator import Evaluator
from tieproof.lists import evaluate_distances, evaluate_scores
from tieproof.measures import (
    AP,
    AP_TRAPEZOID,
    AUC,
    DEFAULT_MEASURES,
    F1,
    INP,
    RBP,
    RR,
    P,
    R,
    RelP,
    Rprec,
    Success,
    nDCG,
)
from tieproof.result import Estimate, Result
from tieproof.runs import evaluate_run
from tieproof.tie_summary import TieSummary
from tieproof.ties import Ties

__version__ = "0.1.0"

__all__ = [
    "AP",
    "AP_TRAPEZOID",
    "AUC",
    "DEFAULT_MEASURES",
    "F1",
    "INP",
    "RBP",
    "RR",
    "Estimate",
    "Evaluator",
    "InputError",
    "MissingExtraError",
    "P",
    "R",
    "RelP",
    "Result",
    "Rprec",
    "Success",
    "TieSummary",
    "TieproofError",
    "Ties",
    "UnsafeProductError",
    "evaluate",
    "evaluate_distances",
    "evaluate_run",
    "evaluate_scores",
    "measures",
    "nDCG",
]
