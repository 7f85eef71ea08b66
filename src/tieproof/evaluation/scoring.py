"""Scores ties: every measure of every query, and the policy for queries with nothing relevant."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.evaluation.evaluated import EMPTY, Evaluated, Origin, Setting
from tieproof.evaluation.fingerprints import with_counts
from tieproof.evaluation.noise import GradeLevels, bounds_under_noise, bracket
from tieproof.inputs.categories import Categories
from tieproof.inputs.options import check_choice
from tieproof.measures import DEFAULT_MEASURES, Measure, parse, parse_list
from tieproof.measures.cut_off import CutOffTies
from tieproof.measures.rank_weights import growing_tables
from tieproof.measures.trec_eval import SETS, parts_of, sets_in, warn_of_others
from tieproof.measures.unseen import estimate
from tieproof.native.threads import for_each
from tieproof.ties import Array, FloatArray, IntArray, Parts, Ties

if TYPE_CHECKING:
    from tieproof.engine.problem import Budget
    from tieproof.measures.distribution.kept import KeptTies

Empty = Literal["skip", "zero", "one", "nan", "error"]

KEPT = 16  # ties are kept for distributions if they take at most this part of the memory: 1/16


class Names(NamedTuple):
    """The names of the queries of a run."""

    ids: Array  # the evaluated queries, in their order
    left_out: Mapping[str, Array]  # the queries of the qrels or the run that are not evaluated, by the reason
    not_in_run: Array  # the queries of the qrels that have no document in the run, evaluated or not


def parse_measures(measures: Sequence[str | Measure]) -> list[Measure]:
    """Parse measures, keeping each once; a string may contain several names, as "nDCG@10, AP" or "P.5,10"."""
    return parse_with_sets(measures)[0]


def check_score(measure: Measure) -> None:
    """Refuse a measure that is no score."""
    if measure.definition.total:
        raise InputError(f"'{measure}' is a count, which is no score. Pass a measure that is a mean over queries.")
    if measure.definition.smaller_is_better:
        raise InputError(f"'{measure}' is a rank, which is no score: the smaller, the better. Pass RR, for example.")


def check_whole_numbers(measures: Iterable[Measure], what: str) -> None:
    """Refuse a cutoff that is a share of all items, of which `what` need not have all."""
    for measure in measures:
        if str(measure.cutoff).endswith("%"):
            raise InputError(
                f"The cutoff of '{measure}' is a share of all items, but {what} need not have all. Write the number "
                "of items, or evaluate whole rankings.",
                "measures",
            )


def parse_scores(measures: Sequence[str | Measure]) -> list[Measure]:
    """Parse measures as `parse_measures` does; refuse those that do not say which of two systems is better."""
    parsed = parse_measures(measures)
    for measure in parsed:
        check_score(measure)
    return parsed


def parse_with_sets(measures: Sequence[str | Measure]) -> tuple[list[Measure], frozenset[Measure]]:
    """Parse measures as `parse_measures` does; also return those that only a set of trec_eval names."""
    if isinstance(measures, str | Measure):
        measures = [measures]
    if not isinstance(measures, Iterable) or getattr(measures, "ndim", 1) == 0:
        raise InputError(f"The measures must be a list of names such as 'AP', not {type(measures).__name__}.")
    given = [*measures]
    wanted = _parse_each(given)
    warn_of_others(given)
    if not wanted:
        raise InputError(f"No measure was given. Pass at least one; the default is {', '.join(DEFAULT_MEASURES)}.")
    if not sets_in(given):
        return wanted, frozenset()
    rest = [each for one in given for each in (parts_of(one) if isinstance(one, str) else [one]) if each not in SETS]
    return wanted, frozenset(wanted) - frozenset(_parse_each(rest))


def _parse_each(given: Iterable[str | Measure]) -> list[Measure]:
    named = (parse_list(one) if isinstance(one, str) else [parse(one)] for one in given)
    return list(dict.fromkeys(measure for several in named for measure in several))


def reads_judged(measures: Iterable[Measure]) -> bool:
    """Return whether documents that were judged not relevant matter, and have to be looked up in a run, too."""
    return any(measure.definition.judged_only or measure.definition.unjudged for measure in measures)


def by_policy(measures: Iterable[Measure], empty: str) -> list[int]:
    """Return the places of the measures to which `empty` gives the value of a query with nothing relevant."""
    # Counts, and measures of judgments, have a value of their own, which is that of trec_eval.
    return [at for at, each in enumerate(measures) if empty == "nan" or each.definition.needs_relevant]


def check_empty(empty: str) -> None:
    """Refuse an unknown policy."""
    check_choice("empty", empty, EMPTY)


class Scores(NamedTuple):
    """The values of every query, and counts of its ranking."""

    measures: list[Measure]  # the M measures
    # (M, 4, Q) lower, expected, upper and variance; under noise (M, 6, Q), with the smallest and largest value.
    values: FloatArray
    n_relevant: IntArray  # (Q,)
    tie_counts: IntArray  # (4, Q), as `count_by_query` counts them
    # Of each part of the queries that has any, the ambiguous ties; None: they take too much memory.
    kept: "tuple[KeptTies, ...] | None"


def score(
    parts: Parts,
    measures: list[Measure],
    count: int,
    optional: frozenset[Measure] = frozenset(),  # are left out with a warning if they cannot be computed
    levels: GradeLevels | None = None,  # of relevance; None: the ties have no extreme rankings under noise
    budget: "Budget | None" = None,  # for parts at a time and kept ties; None: one part, and all ties are kept
) -> Scores:
    """Evaluate every measure on the ties of `count` queries."""
    threads, most_kept = (1, np.inf) if budget is None else (budget.threads, budget.memory / KEPT)
    values = np.zeros((len(measures), 6 if levels else 4, count))
    n_relevant = np.zeros(count, dtype=np.int64)
    tie_counts = np.zeros((4, count), dtype=np.int64)
    kept: list[KeptTies] = []
    sizes: list[int] = []
    uncomputable: dict[str, str] = {}

    def evaluate(part: tuple[IntArray, Ties]) -> None:
        queries, ties = _as_places(part[0]), part[1]
        n_relevant[queries] = ties.n_relevant
        for at, measure in enumerate(measures):
            if measure in optional and measure.name in uncomputable:
                continue
            try:
                computed = estimate(measure, ties) if isinstance(ties, CutOffTies) else measure(ties)
                bounds = bounds_under_noise(measure, ties, computed) if levels else ()
            except InputError as error:
                if measure not in optional:
                    raise
                uncomputable.setdefault(measure.name, str(error))
                continue
            for row, estimates in zip(values[at], (*computed, *bounds), strict=True):
                row[queries] = estimates
        counts = tie_counts[:, queries] = count_by_query(ties)
        if counts[1].any() or ties.grades is not None or ties.judged is not None:
            from tieproof.measures.distribution.kept import keep  # most evaluations have nothing to keep

            of_part = keep(part[0], ties)
            if of_part is not None:
                kept.append(of_part)
                sizes.append(of_part.bytes)
            if sum(sizes) > most_kept:
                kept.clear()

    with growing_tables():
        for_each(evaluate, parts, threads)
    parts_kept = tuple(kept) if sum(sizes) <= most_kept else None
    scores = Scores(measures, values, n_relevant, tie_counts, parts_kept)
    if uncomputable:
        scores = _without(scores, optional, uncomputable)
    if levels:
        bracket(scores.measures, scores.values, levels)
    return scores


def _without(scores: Scores, optional: frozenset[Measure], uncomputable: Mapping[str, str]) -> Scores:
    for name, why in uncomputable.items():
        warn(f"{name} is left out of the set. {why}")
    left = [
        at
        for at, measure in enumerate(scores.measures)
        if measure not in optional or measure.name not in uncomputable
    ]
    return scores._replace(measures=[scores.measures[at] for at in left], values=scores.values[left])


def count_by_query(ties: Ties) -> IntArray:
    """Count by query, as an array (4, Q): ties, ambiguous ties, items in the largest tie, and open last ties."""
    counts = np.zeros((4, ties.n_queries), dtype=np.int64)
    several = ties.several
    if several.size:
        query, items = ties.query[several], ties.l[several]
        counts[0] = np.bincount(query, minlength=ties.n_queries)
        counts[1] = np.bincount(query[ties.m[several] < items], minlength=ties.n_queries)
        first = np.flatnonzero(np.diff(query, prepend=-1))
        counts[2, query[first]] = np.maximum.reduceat(items, first)
    counts[3] = ties.open_ends
    return counts


def as_evaluated(
    scores: Scores,
    setting: Setting,
    origin: Origin,  # the origin of the queries, without the numbers of their relevant items, which are added here
    names: Names | None = None,  # the names of the queries; None: they are numbered
    categories: Array | None = None,
    confidence: Array | None = None,
) -> Evaluated:
    """Everything that the scores tell about the queries, with what the policy says of those with nothing relevant."""
    left_out = names.left_out if names else {}
    has_relevant = scores.n_relevant > 0
    ids = names.ids if names else np.arange(len(has_relevant))
    empty_ids = np.flatnonzero(~has_relevant)
    _check_evaluated(empty_ids, setting)
    everyone = np.ones(len(has_relevant), dtype=np.bool_)
    kept = has_relevant if setting.empty == "skip" else everyone
    values, tie_counts, kept_ties = scores.values, scores.tie_counts, scores.kept
    if len(empty_ids) and setting.empty == "skip":
        places = np.flatnonzero(kept)
        values, tie_counts = values.take(places, axis=-1), tie_counts.take(places, axis=-1)
        kept_ties = kept_ties and tuple(part.among(places, len(kept)) for part in kept_ties)
    elif len(empty_ids):
        values = values.copy()
        for at in by_policy(scores.measures, setting.empty):
            if scores.measures[at].definition.smaller_is_better and setting.empty != "nan":
                raise InputError(
                    f"A query with nothing relevant has no {scores.measures[at]}, and empty={setting.empty} would "
                    "make it the best of all. Pass empty=skip, or leave the measure out.",
                    "empty",
                )
            values[at][:, empty_ids] = EMPTY[setting.empty]
            values[at][3, empty_ids] = np.nan if setting.empty == "nan" else 0.0
    included = everyone if setting.empty in ("zero", "one") else has_relevant
    groups = None if categories is None else Categories.of(categories[kept], categories[empty_ids], included[kept])
    return Evaluated(
        setting=setting,
        origin=origin._replace(
            relevant=with_counts(origin.relevant, scores.n_relevant)[kept], queries=origin.queries[kept]
        ),
        query_ids=ids[kept],
        per_query=dict(zip(scores.measures, values, strict=True)),
        tie_counts=tie_counts,
        zero_vectors=0,
        empty_ids=ids[empty_ids],
        left_out=left_out,
        categories=groups,
        confidence=None if confidence is None else confidence[kept],
        not_in_run=names.not_in_run if names else None,
        kept=kept_ties,
    )


def _as_places(queries: IntArray) -> slice | IntArray:
    """Return consecutive queries as a slice, which can be written to in a sixth of the time."""
    if len(queries) and (queries[1:] - queries[:-1] == 1).all():
        return slice(int(queries[0]), int(queries[-1]) + 1)
    return queries


def _check_evaluated(empty_ids: IntArray, setting: Setting) -> None:
    if len(empty_ids) and setting.empty == "error":
        raise InputError(
            f"No item is relevant to {len(empty_ids)} of {setting.queries} queries; the first is query "
            f"{empty_ids[0]}. Leave them out, or set empty to skip, zero, one or nan."
        )
    if len(empty_ids) == setting.queries and setting.empty in ("skip", "nan"):
        raise InputError(
            f"No query has a relevant item that is not excluded ({setting.queries:,} queries were checked). Check "
            "that labels and embeddings belong together, and that the labels are classes, not names of single items."
        )


def warn_of_recall(scores: Scores) -> None:
    """Warn if R@k cannot reach 1 and Success@k, which metric learning calls R@k, was not asked for."""
    named = [measure for measure in scores.measures if measure.name == "R"]
    if not named:
        return
    counted = scores.n_relevant[scores.n_relevant > 0]
    wanted = {str(measure) for measure in scores.measures}
    cut = [
        measure
        for measure in named
        if isinstance(measure.cutoff, int) and f"Success@{measure.cutoff}" not in wanted
        if 2 * np.count_nonzero(counted > measure.cutoff) > len(counted)
    ]
    if cut:
        names, success = (", ".join(f"{name}@{measure.cutoff}" for measure in cut) for name in ("R", "Success"))
        divide = "divides" if len(cut) == 1 else "divide"
        warn(
            f"{names} {divide} by the number of relevant items, which is larger than the cutoff for most queries. "
            f"Papers on metric learning use this name for whether any of the first items is relevant: {success}."
        )
