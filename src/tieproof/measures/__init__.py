"""The measures: each reads `Ties` and returns its value's lower, expected and upper estimate and variance.

base.py has the protocol, the registry and the spelling; every other file with a capitalised name below is a
family of measures. rank_weights.py and numbers.py are the arithmetic under them.

Kernels pass over all ties once. The ties of query q are starts[q] … starts[q+1]-1, the nearest first; those from rank
last[q] on do not count. Terms are added up in the order of the ties. The rows of `estimates`, (4, Q), are lower,
expected, upper value and variance, and come as zeros.
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
# Help and docs have the measures in the order in which they register, those that most people look for first.
from tieproof.measures.cascade import ERR
from tieproof.measures.preferences import bpref

DEFAULT_MEASURES = ("AP", "AP@R", "Rprec", "P@1", "P@10", "R@10", "Success@1", "Success@10", "RR", "nDCG@10")
"""What is evaluated when nothing else is asked for."""

__all__ = [
    "AP",
    "AP_TRAPEZOID",
    "AUC",
    "DEFAULT_MEASURES",
    "ERR",
    "F1",
    "INP",
    "RBP",
    "REGISTRY",
    "RR",
    "Definition",
    "Estimates",
    "Measure",
    "P",
    "Parameter",
    "R",
    "RelP",
    "Rprec",
    "Success",
    "aliases",
    "bpref",
    "define",
    "nDCG",
    "parse",
    "parse_list",
]
