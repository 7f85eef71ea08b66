"""Exact, tie-aware evaluation of embeddings and rankings."""

from typing import TYPE_CHECKING

from tieproof import confidence, measures
from tieproof.audit import AuditReport, audit
from tieproof.calls.batches import Evaluator
from tieproof.calls.collisions import collisions
from tieproof.calls.embeddings import evaluate
from tieproof.calls.fnmr import fnmr_at_fmr, fnmr_at_fmr_of_distances
from tieproof.calls.lists import evaluate_distances, evaluate_scores
from tieproof.calls.pcf import pcf
from tieproof.calls.runs import evaluate_run
from tieproof.errors import InputError, InputWarning, MissingExtraError, TieproofError, UnsafeProductError
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
from tieproof.results.collisions import Collisions
from tieproof.results.rates import ErrorRates, OperatingPoint
from tieproof.results.results import Result
from tieproof.results.tie_summary import TieSummary
from tieproof.ties import Estimate, Ties

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """`__version__`, as it was installed; looked up when it is asked for, since that takes 10 ms."""
        if name != "__version__":
            raise AttributeError(f"module 'tieproof' has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("tieproof")
        except PackageNotFoundError:
            return "0+source.not.installed"


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
