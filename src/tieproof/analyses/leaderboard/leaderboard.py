"""`leaderboard`: many runs on the same judgments, ranked, with what ties and the choice of queries leave open.

qrels, runs ──► evaluation/runs.py: a Result for each ──► same queries ──► places.py: by ties
            ──► measures/statistics/rank_sets.py: by queries ──► RankedSystems
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from tieproof.analyses.compare.differences import values_in_order
from tieproof.analyses.compare.same_queries import about_settings, aligned, on_shared
from tieproof.analyses.leaderboard.places import places_by, possible_places
from tieproof.analyses.leaderboard.result import Place, Places, RankedSystems, neighbors_swap
from tieproof.errors import InputError, about
from tieproof.evaluation.intervals import check_confidence
from tieproof.evaluation.result import Result
from tieproof.evaluation.runs import evaluate_runs
from tieproof.evaluation.scoring import check_score
from tieproof.inputs.system_names import named
from tieproof.measures import Measure, parse
from tieproof.measures.statistics.rank_sets import told_apart
from tieproof.measures.statistics.resampling import grouped
from tieproof.ties import BoolArray


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
    wanted = parse(measure)
    with about("measure"):
        check_score(wanted)
    results, left_out = on_shared(_results_of(qrels, runs, wanted, options))
    places = aligned(results)
    name, ordered = str(wanted), sorted(results)
    values = np.stack([values_in_order(results[each], places[each], name).expected for each in ordered], axis=1)
    first = next(iter(results.values()))
    counted = ~np.isnan(values[:, 0])
    categories = first.category_of_query if first.setting.average == "macro" else None
    order, strata = grouped(None if categories is None else categories[counted], int(counted.sum()))
    apart = told_apart(values[counted][order], strata, confidence)
    printed, notes = _published_of(published, ordered)
    systems = _placed(ordered, [results[each] for each in ordered], name, printed, apart)
    by = "published" if len(printed) == len(ordered) else "expected"
    sentences = (*left_out, *about_settings(results), *notes)
    return RankedSystems(systems, name, len(order), confidence, by, sentences)


def _results_of(qrels: Any, runs: Any, measure: Measure, options: Mapping[str, Any]) -> dict[str, Result]:
    """Return the result of each system, by its name."""
    given = runs if isinstance(runs, Mapping) else named_runs(runs)
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


def named_runs(runs: Any) -> dict[str, Any]:
    """Return {name: path} of paths; anything else is refused."""
    if isinstance(runs, str) or not isinstance(runs, Sequence):
        raise InputError(f"runs must be {{name: run}} or a list of paths, not {type(runs).__name__}.", "runs")
    return dict(named([str(each) for each in runs], {}))


def _published_of(published: Mapping[str, float] | None, names: Sequence[str]) -> tuple[dict[str, float], list[str]]:
    """Return the published number of each system that has one, and a sentence on those of no system."""
    if published is None:
        return {}, []
    found: dict[str, float] = {}
    for name in names:
        tags = [each for each in published if name == each or name.endswith(f".{each}")]
        if tags:
            found[name] = float(published[max(tags, key=len)])
    strange = [each for each in published if each not in found and not any(n.endswith(f".{each}") for n in found)]
    if not found or not np.isfinite([*found.values()]).all():
        raise InputError(
            "The published numbers are of no system, or not finite: they are of systems such as "
            f"'{next(iter(published), '')}', and the runs are of systems such as '{names[0]}'.",
            "published",
        )
    told = [f"Published numbers without a run: {', '.join(strange)}."] if strange else []
    return found, told


def _placed(
    names: Sequence[str], results: Sequence[Result], measure: str, published: Mapping[str, float], apart: BoolArray
) -> tuple[Place, ...]:
    """Return the systems by their places.

    names : the systems, sorted
    apart : (m, m) whether the choice of queries tells that the first system is above the second
    """
    scores = [result[measure] for result in results]
    deciding = [published[name] for name in names] if len(published) == len(names) else [s.expected for s in scores]
    both = apart | apart.T
    systems = [
        Place(
            place,
            names[at],
            scores[at],
            published.get(names[at]),
            Places(*by_ties),
            Places(1 + int(apart[:, at].sum()), len(names) - int(apart[at].sum())),
            tuple(name for other, name in enumerate(names) if other != at and not both[at, other]),
        )
        for at, (place, by_ties) in enumerate(zip(places_by(deciding), possible_places(scores), strict=True))
    ]
    systems.sort(key=lambda each: each.place)
    return tuple(_with_swaps(systems))


def _with_swaps(systems: Sequence[Place]) -> Iterator[Place]:
    """Yield the systems, each with whether ties can swap it with the next one."""
    for one, following in pairwise(systems):
        yield replace(one, swaps_with_next=neighbors_swap(one, following))
    yield systems[-1]
