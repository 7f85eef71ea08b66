"""Exact, tie-aware evaluation of embeddings and rankings."""

from typing import TYPE_CHECKING

from tieproof.audit import audit  # not lazily: an import of the package `tieproof.audit` would take its place
from tieproof.later import handed_on

if TYPE_CHECKING:
    from tieproof import confidence, measures
    from tieproof.audit.report import AuditReport
    from tieproof.collision.collisions import collisions
    from tieproof.collision.result import Collisions
    from tieproof.comparison.compare import compare
    from tieproof.comparison.result import Comparison
    from tieproof.comparison.verdicts import Difference, QueryDifference, Verdict
    from tieproof.errors import (
        ClusterError,
        InputError,
        InputWarning,
        MissingExtraError,
        TieproofError,
        UnsafeProductError,
    )
    from tieproof.evaluation.answers import evaluate_answers
    from tieproof.evaluation.batches import Evaluator
    from tieproof.evaluation.embeddings import evaluate
    from tieproof.evaluation.evaluated import TieSummary
    from tieproof.evaluation.explained_variance import pcf
    from tieproof.evaluation.intervals import Interval
    from tieproof.evaluation.lists import evaluate_distances, evaluate_scores
    from tieproof.evaluation.neighbors import evaluate_neighbors
    from tieproof.evaluation.result import Result
    from tieproof.evaluation.runs import evaluate_run
    from tieproof.inputs.shards.shards import (
        Shards,
        open,  # noqa: A004
    )
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
    from tieproof.rates.fnmr import fnmr_at_fmr, fnmr_at_fmr_of_distances
    from tieproof.rates.result import ErrorRates, OperatingPoint
    from tieproof.recall.neighbor_recall import neighbor_recall
    from tieproof.recall.range_recall import RangeRecall, range_recall
    from tieproof.recall.result import NeighborRecall, RecallAtK
    from tieproof.records.record import load
    from tieproof.records.verification import Verification
    from tieproof.records.verify import verify
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
            "Collisions": "tieproof.collision.result",
            "Comparison": "tieproof.comparison.result",
            "DEFAULT_MEASURES": "tieproof.measures",
            "Difference": "tieproof.comparison.verdicts",
            "ERR": "tieproof.measures",
            "ErrorRates": "tieproof.rates.result",
            "Estimate": "tieproof.ties",
            "Evaluator": "tieproof.evaluation.batches",
            "F1": "tieproof.measures",
            "INP": "tieproof.measures",
            "InputError": "tieproof.errors",
            "InputWarning": "tieproof.errors",
            "Interval": "tieproof.evaluation.intervals",
            "MissingExtraError": "tieproof.errors",
            "NeighborRecall": "tieproof.recall.result",
            "OperatingPoint": "tieproof.rates.result",
            "P": "tieproof.measures",
            "QueryDifference": "tieproof.comparison.verdicts",
            "R": "tieproof.measures",
            "RBP": "tieproof.measures",
            "RR": "tieproof.measures",
            "RangeRecall": "tieproof.recall.range_recall",
            "RecallAtK": "tieproof.recall.result",
            "RelP": "tieproof.measures",
            "Result": "tieproof.evaluation.result",
            "Rprec": "tieproof.measures",
            "Shards": "tieproof.inputs.shards.shards",
            "Success": "tieproof.measures",
            "TieSummary": "tieproof.evaluation.evaluated",
            "TieproofError": "tieproof.errors",
            "Ties": "tieproof.ties",
            "UnsafeProductError": "tieproof.errors",
            "Verdict": "tieproof.comparison.verdicts",
            "Verification": "tieproof.records.verification",
            "__version__": "tieproof.installed",
            "bpref": "tieproof.measures",
            "collisions": "tieproof.collision.collisions",
            "compare": "tieproof.comparison.compare",
            "confidence": None,
            "evaluate": "tieproof.evaluation.embeddings",
            "evaluate_answers": "tieproof.evaluation.answers",
            "evaluate_distances": "tieproof.evaluation.lists",
            "evaluate_neighbors": "tieproof.evaluation.neighbors",
            "evaluate_run": "tieproof.evaluation.runs",
            "evaluate_scores": "tieproof.evaluation.lists",
            "fnmr_at_fmr": "tieproof.rates.fnmr",
            "fnmr_at_fmr_of_distances": "tieproof.rates.fnmr",
            "load": "tieproof.records.record",
            "measures": None,
            "nDCG": "tieproof.measures",
            "neighbor_recall": "tieproof.recall.neighbor_recall",
            "open": "tieproof.inputs.shards.shards",
            "pcf": "tieproof.evaluation.explained_variance",
            "range_recall": "tieproof.recall.range_recall",
            "verify": "tieproof.records.verify",
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
