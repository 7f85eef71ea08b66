"""Measures of verification in fractions, from orderings of all pairs; imports nothing of tieproof.

An ordering is a string of r (a relevant pair) and o (another pair), the nearest pair first.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product


def orderings(relevant: Sequence[object], others: Sequence[object]) -> Iterator[str]:
    """All orderings of tied pairs that differ, each as often as any other."""
    ties = []
    for key in sorted({*relevant, *others}):  # type: ignore[type-var]
        r, o = list(relevant).count(key), list(others).count(key)
        places = combinations(range(r + o), r)
        ties.append(["".join("r" if at in chosen else "o" for at in range(r + o)) for chosen in places])
    for parts in product(*ties):
        yield "".join(parts)


def points(ordering: str) -> list[tuple[Fraction, Fraction]]:
    """FMR and FNMR if the first 0, 1, 2, … pairs are accepted."""
    relevant, others = ordering.count("r"), ordering.count("o")
    return [
        (Fraction(ordering[:n].count("o"), others), Fraction(ordering[n:].count("r"), relevant))
        for n in range(len(ordering) + 1)
    ]


def crossing(curve: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Where the straight lines between operating points meet FMR = FNMR."""
    for (first, high), (last, low) in pairwise(curve):
        if last >= low:
            part = (high - first) / ((last - first) + (high - low))
            return first + part * (last - first)
    raise AssertionError("the last point is 1, 0")


def tar(curve: Sequence[tuple[Fraction, Fraction]], far: Fraction) -> Fraction:
    """The largest share of accepted relevant pairs with at most this FMR."""
    return max(1 - fnmr for fmr, fnmr in curve if fmr <= far)


def min_dcf(curve: Iterable[tuple[Fraction, Fraction]], p: Fraction, miss: Fraction, accept: Fraction) -> Fraction:
    """The smallest normalized cost."""
    costs = [miss * p * fnmr + accept * (1 - p) * fmr for fmr, fnmr in curve]
    return min(costs) / min(miss * p, accept * (1 - p))


def thresholds(relevant: Sequence[object], others: Sequence[object]) -> list[tuple[Fraction, Fraction]]:
    """The operating points that accept all or none of a tie."""
    keys = sorted({*relevant, *others})  # type: ignore[type-var]
    return [(Fraction(0), Fraction(1))] + [
        (
            Fraction(sum(key <= end for key in others), len(others)),  # type: ignore[operator]
            Fraction(sum(key > end for key in relevant), len(relevant)),  # type: ignore[operator]
        )
        for end in keys
    ]


def _cuts(ordering: str) -> list[tuple[int, int]]:
    """How many relevant and other pairs are accepted if the first 0, 1, 2, … pairs are."""
    return [(ordering[:n].count("r"), ordering[:n].count("o")) for n in range(len(ordering) + 1)]


def best_accuracy(relevant: int, others: int, cuts: Iterable[tuple[int, int]]) -> Fraction:
    """The largest share of right decisions."""
    return max(Fraction(right + others - wrong, relevant + others) for right, wrong in cuts)


def best_f1(relevant: int, others: int, cuts: Iterable[tuple[int, int]]) -> Fraction:
    """The largest harmonic mean of precision and recall."""
    return max(Fraction(2 * right, right + wrong + relevant) for right, wrong in cuts)


def decisions(ordering: str) -> tuple[Fraction, Fraction]:
    """The largest accuracy and the largest F1 of any cut of an ordering."""
    counts = ordering.count("r"), ordering.count("o"), _cuts(ordering)
    return best_accuracy(*counts), best_f1(*counts)


def average_precision(ordering: str) -> Fraction:
    """The mean of the precisions at the relevant pairs."""
    hits = [at for at, kind in enumerate(ordering, 1) if kind == "r"]
    return sum((Fraction(n, at) for n, at in enumerate(hits, 1)), Fraction(0)) / len(hits)


def auc(ordering: str) -> Fraction:
    """The share of pairs of a relevant and another pair in which the relevant one is nearer."""
    ahead = sum(ordering[at:].count("o") for at, kind in enumerate(ordering) if kind == "r")
    return Fraction(ahead, ordering.count("r") * ordering.count("o"))
