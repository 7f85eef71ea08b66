"""`leaderboard`: many runs on the same judgments, ranked, with what ties and the choice of queries leave open.

qrels, runs ──► evaluation/runs.py: a Result for each ──► same queries ──► places: by ties
            ──► measures/statistics/tests.py: by queries ──► RankedSystems
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tieproof.analyses.compare.same_queries import about_settings, aligned, on_shared
from tieproof.analyses.leaderboard.published import published_of
from tieproof.analyses.leaderboard.result import Place, Places, RankedSystems
from tieproof.errors import InputError, about
from tieproof.evaluation.intervals import check_confidence
from tieproof.evaluation.result import Result
from tieproof.evaluation.runs import as_in_runs, at_level, evaluate_runs
from tieproof.evaluation.scoring import check_score
from tieproof.inputs.system_names import named
from tieproof.measures import Measure, parse
from tieproof.measures.statistics.tests import told_apart
from tieproof.ties import ROUNDING, Estimate


def leaderboard(
    qrels: Any,
    runs: Any,
    *,
    measure: str | Measure = "AP",
    published: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    **options: Any,
) -> RankedSystems:
    """Rank many runs on the same judgments, with the places that ties and the choice of queries leave open to each.

    Parameters
    ----------
    qrels : as in `evaluate_run`; None if all runs are results
    runs : {name: run}, or paths of files, two or more
        Each run as in `evaluate_run`, or a `Result` that has the measure. The name of a file is that without its
        folder and its known extensions.
    measure : str or Measure
        The measure that ranks, such as "nDCG@10".
    published : {name: number}
        Published numbers of systems, by their names, or by what stands after a dot in their names. If every
        system has one, they decide the places; otherwise the expected values do.
    confidence : float
        The confidence with which all sets of places over the choice of queries hold together.
    **options :
        Further arguments of `evaluate_run`, such as missing="skip" or precision="float32".

    Returns
    -------
    RankedSystems

    Raises
    ------
    InputError
        As `evaluate_run` does, and as `compare` does for results that do not belong together; if there are fewer
        than two systems; if the measure is a count; if no published number is that of a system.

    Notes
    -----
    Ties: a system is at best behind all whose lower value is above its upper value, and at worst behind all whose
    upper value is above its lower value. Queries: simultaneous confidence sets of ranks, Mogstad, Romano, Shaikh and
    Wilhelm 2024, "Inference for ranks with applications to mobility across neighbourhoods and academic achievement
    across countries". With missing="skip", systems that answered different queries are ranked by those that all of
    them answered, and a note says so.

    Examples
    --------
    >>> import tieproof as tp
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> runs = {
    ...     "sure": {"q1": {"d1": 2.0, "d3": 1.0}, "q2": {"d3": 2.0, "d2": 1.0}},
    ...     "tied": {"q1": {"d1": 1.0, "d3": 1.0}, "q2": {"d2": 1.0, "d3": 1.0}},
    ... }
    >>> board = tp.leaderboard(qrels, runs, published={"sure": 0.75, "tied": 1.0})
    >>> [(each.place, each.name, str(each.by_ties), each.bias) for each in board.systems]
    [(1, 'tied', '1-2', 0.25), (2, 'sure', '1-2', 0.0)]
    >>> board.swaps
    (('tied', 'sure'),)

    """
    check_confidence("confidence", confidence)
    wanted = measure_in_runs(measure, options.get("level"))
    with about("measure"):
        check_score(wanted)
    results, left_out = on_shared(_results_of(qrels, runs, wanted, options))
    rows, name, ordered = aligned(results), str(wanted), sorted(results)
    printed, strange = published_of(published, ordered)
    first, scores = next(iter(results.values())), [results[each][wanted] for each in ordered]
    queries, strata = first._in_groups(first.per_query(name).lower, least=1)
    values = [results[each].per_query(name).expected[rows[each]][queries] for each in ordered]
    apart = told_apart(np.stack(values, axis=1), strata, confidence)
    by = "published" if len(printed) == len(ordered) else "expected"
    deciding = [
        printed[each] if by == "published" else score.expected for each, score in zip(ordered, scores, strict=True)
    ]
    ahead = np.subtract.outer(deciding, deciding) > ROUNDING
    place, by_ties = (1 + ahead.sum(axis=0)).tolist(), possible_places(scores)
    systems = []
    order = sorted(range(len(ordered)), key=place.__getitem__)
    for at, following in zip(order, [*order[1:], order[-1]], strict=True):
        alike = ~(apart[at] | apart[:, at])
        others = tuple(name for other, name in enumerate(ordered) if other != at and alike[other])
        swaps = place[at] != place[following] and can_swap(scores[at], scores[following])
        by_queries = Places(1 + int(apart[:, at].sum()), len(ordered) - int(apart[at].sum()))
        places = Places(*by_ties[at]), by_queries
        systems.append(Place(place[at], ordered[at], scores[at], printed.get(ordered[at]), *places, others, swaps))
    notes = (*left_out, *about_settings(results), *strange)
    return RankedSystems(name, len(queries), confidence, by, tuple(systems), notes)


def possible_places(scores: Sequence[Estimate[float]]) -> list[tuple[int, int]]:
    """Return the best and the worst place of each system over all orders of tied items.

    The ties of two systems are broken independently: a system at its upper value is behind those alone whose lower
    value is larger, and a system at its lower value is behind all those whose upper value is larger.
    """
    lower, upper = (np.array([getattr(each, bound) for each in scores]) for bound in ("lower", "upper"))
    best = 1 + (lower[:, None] > upper + ROUNDING).sum(axis=0)
    above = upper[:, None] > lower + ROUNDING
    np.fill_diagonal(above, False)
    return list(zip(best.tolist(), (1 + above.sum(axis=0)).tolist(), strict=True))


def can_swap(first: Estimate[float], second: Estimate[float]) -> bool:
    """Whether the orders of tied items alone can put either of two systems above the other one."""
    return first.upper > second.lower + ROUNDING and second.upper > first.lower + ROUNDING


def measure_in_runs(measure: str | Measure, level: float | None) -> Measure:
    """Return the measure as `evaluate_run` reads it, of grades from a level on."""
    (wanted,) = at_level([parse(as_in_runs([measure])[0])], level)
    return wanted


def _results_of(qrels: Any, runs: Any, measure: Measure, options: Mapping[str, Any]) -> dict[str, Result]:
    if "measures" in options:
        raise InputError("A leaderboard is by one measure: pass measure= in place of measures=.", "measures")
    given = runs
    if isinstance(runs, list | tuple) and all(isinstance(each, str | os.PathLike) for each in runs):
        given = named([str(each) for each in runs], {})
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(
            f"runs must be {{name: run}}, with strings as names, or a list of paths, not {type(runs).__name__}.",
            "runs",
        )
    if len(given) < 2:
        raise InputError(f"A leaderboard needs the runs of two or more systems, not {len(given)}.", "runs")
    done = {name: each for name, each in given.items() if isinstance(each, Result)}
    for name, each in done.items():
        if measure not in each.evaluated.per_query:
            raise InputError(f"'{name}' has no {measure}; it has {', '.join(each.measures)}.", "runs")
    left = {name: each for name, each in given.items() if name not in done}
    if left and qrels is None:
        raise InputError(f"'{next(iter(left))}' is no Result. Pass the qrels, too, to evaluate it.", "qrels")
    made = dict(zip(left, evaluate_runs(qrels, left.values(), measures=[measure], **options), strict=True))
    return {name: done[name] if name in done else made[name] for name in given}
