"""The measures: each reads `Ties` and returns the lower, expected and upper value and the variance.

base.py has the protocol, the registry and the spelling; every other file from which a measure is imported below is a
family of measures. rank_weights.py and numbers.py are the arithmetic that they use.

Kernels pass over all ties once. The ties of query q are starts[q] … starts[q+1]-1, nearest first; ties that begin at
rank last[q] or later do not count. Terms are added up in the order of the ties. The rows of `estimates`, (4, Q), are
the lower, expected and upper value and the variance; they are zeros when a kernel is called.
"""

from tieproof.measures.base import (
    REGISTRY,
    Definition,
    Estimates,
    Measure,
    Parameter,
    aliases,
    define,
    parse,
    parse_list,
)
from tieproof.measures.relevant_ranks import AP, AP_TRAPEZOID, INP, RR, Success
from tieproof.measures.weighted_ranks import AUC, F1, RBP, P, R, RelP, Rprec, nDCG

# isort: split
# Help texts and docs list the measures in the order of their registration, the most common ones first.
from tieproof.measures.cascade import ERR
from tieproof.measures.interpolated import IPrec
from tieproof.measures.preferences import BinG, bpref
from tieproof.measures.retrieved import (
    Judged,
    NumNonRelJudgedRet,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    RBPResidual,
    SetAP,
    SetF,
    SetP,
    SetR,
    SetRelP,
    Unjudged,
)

DEFAULT_MEASURES = ("AP", "AP@R", "Rprec", "P@1", "P@10", "R@10", "Success@1", "Success@10", "RR", "nDCG@10")
"""The measures that are evaluated by default."""

PRECISION_RECALL = tuple(f"IPrec(recall={tenths / 10:g})" for tenths in range(11))
"""Interpolated precision at the eleven usual levels of recall, which `Result.plot_precision_recall` draws."""

__all__ = [
    "AP",
    "AP_TRAPEZOID",
    "AUC",
    "DEFAULT_MEASURES",
    "ERR",
    "F1",
    "INP",
    "PRECISION_RECALL",
    "RBP",
    "REGISTRY",
    "RR",
    "BinG",
    "Definition",
    "Estimates",
    "IPrec",
    "Judged",
    "Measure",
    "NumNonRelJudgedRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Parameter",
    "R",
    "RBPResidual",
    "RelP",
    "Rprec",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "Success",
    "Unjudged",
    "aliases",
    "bpref",
    "define",
    "nDCG",
    "parse",
    "parse_list",
]
