"""Exact, tie-aware evaluation of embeddings and rankings."""

from tieproof import confidence, measures
from tieproof.audit import AuditReport, audit
from tieproof.collision_counts import Collisions
from tieproof.collisions import collisions
from tieproof.errors import InputError, InputWarning, MissingExtraError, TieproofError, UnsafeProductError
from tieproof.evaluate import evaluate
from tieproof.evaluator import Evaluator
from tieproof.fnmr import fnmr_at_fmr, fnmr_at_fmr_of_distances
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
from tieproof.pcf import pcf
from tieproof.pooled.rates import ErrorRates, OperatingPoint
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
    "AuditReport",
    "Collisions",
    "ErrorRates",
    "Estimate",
    "Evaluator",
    "InputError",
    "InputWarning",
    "MissingExtraError",
    "OperatingPoint",
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
    "audit",
    "collisions",
    "confidence",
    "evaluate",
    "evaluate_distances",
    "evaluate_run",
    "evaluate_scores",
    "fnmr_at_fmr",
    "fnmr_at_fmr_of_distances",
    "measures",
    "nDCG",
    "pcf",
]
