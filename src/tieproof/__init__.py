"""Exact, tie-aware evaluation of embeddings and rankings."""

from typing import TYPE_CHECKING

from tieproof.audit import audit  # not lazily: an import of the package `tieproof.audit` would take its place
from tieproof.later import handed_on

if TYPE_CHECKING:
    from tieproof import confidence, measures
    from tieproof.audit.report import AuditReport
    from tieproof.calls.answers import evaluate_answers
    from tieproof.calls.batches import Evaluator
    from tieproof.calls.collisions import collisions
    from tieproof.calls.compare import compare
    from tieproof.calls.embeddings import evaluate
    from tieproof.calls.fnmr import fnmr_at_fmr, fnmr_at_fmr_of_distances
    from tieproof.calls.lists import evaluate_distances, evaluate_scores
    from tieproof.calls.neighbor_recall import neighbor_recall
    from tieproof.calls.neighbors import evaluate_neighbors
    from tieproof.calls.pcf import pcf
    from tieproof.calls.range_recall import range_recall
    from tieproof.calls.runs import evaluate_run
    from tieproof.calls.shards import open  # noqa: A004
    from tieproof.calls.verify import verify
    from tieproof.errors import (
        ClusterError,
        InputError,
        InputWarning,
        MissingExtraError,
        TieproofError,
        UnsafeProductError,
    )
    from tieproof.inputs.shards.shards import Shards
    from tieproof.installed import __version__ as __version__
    from tieproof.measures import (
        AP,
        AP_TRAPEZOID,
        AUC,
        DEFAULT_MEASURES,
        ERR,
        F1,
        INP,
        RBP,
        RR,
        P,
        R,
        RelP,
        Rprec,
        Success,
        bpref,
        nDCG,
    )
    from tieproof.results.collisions import Collisions
    from tieproof.results.comparison import Comparison
    from tieproof.results.differences import Difference, QueryDifference
    from tieproof.results.evaluated import TieSummary
    from tieproof.results.intervals import Interval
    from tieproof.results.neighbor_recall import NeighborRecall, RecallAtK
    from tieproof.results.range_recall import RangeRecall
    from tieproof.results.rates import ErrorRates, OperatingPoint
    from tieproof.results.records import load
    from tieproof.results.results import Result
    from tieproof.results.verdicts import Verdict
    from tieproof.results.verification import Verification
    from tieproof.ties import Estimate, Ties
else:
    __getattr__, __dir__ = handed_on(
        __name__,
        {
            "AP": "tieproof.measures",
            "AP_TRAPEZOID": "tieproof.measures",
            "AUC": "tieproof.measures",
            "AuditReport": "tieproof.audit.report",
            "ClusterError": "tieproof.errors",
            "Collisions": "tieproof.results.collisions",
            "Comparison": "tieproof.results.comparison",
            "DEFAULT_MEASURES": "tieproof.measures",
            "Difference": "tieproof.results.differences",
            "ERR": "tieproof.measures",
            "ErrorRates": "tieproof.results.rates",
            "Estimate": "tieproof.ties",
            "Evaluator": "tieproof.calls.batches",
            "F1": "tieproof.measures",
            "INP": "tieproof.measures",
            "InputError": "tieproof.errors",
            "InputWarning": "tieproof.errors",
            "Interval": "tieproof.results.intervals",
            "MissingExtraError": "tieproof.errors",
            "NeighborRecall": "tieproof.results.neighbor_recall",
            "OperatingPoint": "tieproof.results.rates",
            "P": "tieproof.measures",
            "QueryDifference": "tieproof.results.differences",
            "R": "tieproof.measures",
            "RBP": "tieproof.measures",
            "RR": "tieproof.measures",
            "RangeRecall": "tieproof.results.range_recall",
            "RecallAtK": "tieproof.results.neighbor_recall",
            "RelP": "tieproof.measures",
            "Result": "tieproof.results.results",
            "Rprec": "tieproof.measures",
            "Shards": "tieproof.inputs.shards.shards",
            "Success": "tieproof.measures",
            "TieSummary": "tieproof.results.evaluated",
            "TieproofError": "tieproof.errors",
            "Ties": "tieproof.ties",
            "UnsafeProductError": "tieproof.errors",
            "Verdict": "tieproof.results.verdicts",
            "Verification": "tieproof.results.verification",
            "__version__": "tieproof.installed",
            "bpref": "tieproof.measures",
            "collisions": "tieproof.calls.collisions",
            "compare": "tieproof.calls.compare",
            "confidence": None,
            "evaluate": "tieproof.calls.embeddings",
            "evaluate_answers": "tieproof.calls.answers",
            "evaluate_distances": "tieproof.calls.lists",
            "evaluate_neighbors": "tieproof.calls.neighbors",
            "evaluate_run": "tieproof.calls.runs",
            "evaluate_scores": "tieproof.calls.lists",
            "fnmr_at_fmr": "tieproof.calls.fnmr",
            "fnmr_at_fmr_of_distances": "tieproof.calls.fnmr",
            "load": "tieproof.results.records",
            "measures": None,
            "nDCG": "tieproof.measures",
            "neighbor_recall": "tieproof.calls.neighbor_recall",
            "open": "tieproof.calls.shards",
            "pcf": "tieproof.calls.pcf",
            "range_recall": "tieproof.calls.range_recall",
            "verify": "tieproof.calls.verify",
        },
    )


__all__ = [
    "AP",
    "AP_TRAPEZOID",
    "AUC",
    "DEFAULT_MEASURES",
    "ERR",
    "F1",
    "INP",
    "RBP",
    "RR",
    "AuditReport",
    "ClusterError",
    "Collisions",
    "Comparison",
    "Difference",
    "ErrorRates",
    "Estimate",
    "Evaluator",
    "InputError",
    "InputWarning",
    "Interval",
    "MissingExtraError",
    "NeighborRecall",
    "OperatingPoint",
    "P",
    "QueryDifference",
    "R",
    "RangeRecall",
    "RecallAtK",
    "RelP",
    "Result",
    "Rprec",
    "Shards",
    "Success",
    "TieSummary",
    "TieproofError",
    "Ties",
    "UnsafeProductError",
    "Verdict",
    "Verification",
    "audit",
    "bpref",
    "collisions",
    "compare",
    "confidence",
    "evaluate",
    "evaluate_answers",
    "evaluate_distances",
    "evaluate_neighbors",
    "evaluate_run",
    "evaluate_scores",
    "fnmr_at_fmr",
    "fnmr_at_fmr_of_distances",
    "load",
    "measures",
    "nDCG",
    "neighbor_recall",
    "open",
    "pcf",
    "range_recall",
    "verify",
]
