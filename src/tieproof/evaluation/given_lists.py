"""Evaluates rankings that are given as numbers, as matrices or ragged lists: checks them and yields their ties."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from tieproof.engine.problem import GivenLists, accept
from tieproof.errors import InputError, warn
from tieproof.evaluation.evaluated import Evaluated, Setting
from tieproof.evaluation.fingerprints import RankingDigests
from tieproof.evaluation.noise import GradeLevels, check_noisy, parse_radius
from tieproof.evaluation.scoring import Scores, as_evaluated, check_empty, check_whole_numbers, parse_with_sets, score
from tieproof.inputs import lists
from tieproof.inputs.categories import Average, as_categories
from tieproof.inputs.lists import JudgedLists, LabeledRows, Limits, Rows
from tieproof.inputs.mistakes import check_direction, check_grades, check_self_matches
from tieproof.inputs.options import check_rounded, parse_threads
from tieproof.inputs.relevance import RelevantBlock
from tieproof.inputs.scored_tables import lists_in
from tieproof.measures import Measure
from tieproof.measures.unseen import cut_off
from tieproof.ties import Array, IntArray, Parts

COUNTED = frozenset(map(np.dtype, ("float64", "float32", "int64", "int32")))  # the types that kernels count


def evaluate_lists(
    values: Any,
    name: str,
    judged_by: Sequence[Any],  # the arguments of `as_judged`
    measures: Sequence[str | Measure],
    grouped_by: tuple[Any, Average],  # the categories and the average
    empty: str,
    noise: Any = None,
    precision: str | None = None,
) -> Evaluated:
    """Evaluate lists of "scores" or "distances", or a table of them, rounded to a precision if there is one."""
    check_rounded(precision, noise)
    wanted, optional = parse_with_sets(measures)
    check_empty(empty)
    radius = None if noise is None else parse_radius(noise, f"the {name}")
    values, judged_by, (categories, average), queries = lists_in(name, values, judged_by, grouped_by)
    rows = lists.rounded_rows(values, name, precision)
    judged = as_judged(rows, name, *judged_by[:-1])
    negative = 0 if isinstance(judged, LabeledRows) else check_grades(judged, judged_by[3] is not None)
    check_direction(rows, lists.blocks(rows, judged), name)
    check_self_matches(rows, judged, name)
    _, labels, _, n_relevant, n_items, complete = judged_by
    limits = lists.as_limits(n_relevant, n_items, complete, len(rows))
    if limits is not None:
        check_whole_numbers(wanted, "lists with n_relevant")
    if radius is not None:
        check_noisy(wanted, limits is not None)
    groups = as_categories(categories, len(rows), average, labels)
    longest = rows.shape[1] if isinstance(rows, np.ndarray) else max(map(len, rows))
    setting = Setting(
        name, False, len(rows), longest, dimensions=None, empty=empty, average=average, precision=precision
    )
    rankings = RankingDigests(len(rows))

    def parts_of(judged: Rows | LabeledRows) -> Parts:
        return list_parts(rows, judged, limits, name, name == "distances", radius)

    levels = None
    if radius is not None:
        grades = np.zeros(0) if isinstance(judged, LabeledRows) else lists.joined(judged)[0]
        levels = GradeLevels(grades, lambda level: parts_of(_at_least(judged, level)))
    scores = score(rankings.noted(parts_of(judged)), wanted, len(rows), optional, levels)
    if limits is None and labels is None and empty == "skip":
        _warn_of_nothing_found(scores, longest)
    origin = rankings.origin(f"evaluate_{name}")
    found = as_evaluated(scores, setting, origin, categories=groups)._replace(negative=negative)
    return found if queries is None else found.named(queries)


def _warn_of_nothing_found(scores: Scores, longest: int) -> None:
    empty = np.count_nonzero(scores.n_relevant == 0)
    if empty and longest in (measure.cutoff for measure in scores.measures):
        warn(
            f"The lists of {empty:,} of {len(scores.n_relevant):,} queries have nothing relevant, and are left out "
            f"of all means. If they are the first {longest:,} items of longer rankings, nothing was found: set "
            "empty to zero, or pass n_relevant=, the number of relevant items of each query."
        )


def _at_least(judged: Rows | LabeledRows, level: float) -> Rows | LabeledRows:
    if isinstance(judged, LabeledRows):
        return judged

    def cut(grades: Array) -> Array:
        return np.where(grades < 0, -1, grades >= level).astype(np.int8)

    return cut(judged) if isinstance(judged, np.ndarray) else [cut(row) for row in judged]


def as_judged(
    rows: Rows, name: str, relevance: Any, labels: Any, gallery_labels: Any, n_relevant: Any, n_items: Any
) -> Rows | LabeledRows:
    """Return the relevance of every item, as given or from labels."""
    if (relevance is None) == (labels is None):
        raise InputError("Pass either relevance or labels=, so that relevant items are known.")
    if labels is not None:
        return lists.relevance_by_labels(labels, gallery_labels, rows, (n_relevant, n_items), name)
    if gallery_labels is not None:
        raise InputError("gallery_labels were passed without labels. Pass labels= too, or leave them out.")
    judged = lists.as_rows(relevance, "relevance")
    names = name, "relevance"
    lists.check_shapes(rows, judged, names, "relevance values", "Pass one of each for every item.")
    return judged


def list_parts(
    rows: Rows,
    judged: Rows | LabeledRows,
    limits: Limits | None,
    name: str,
    small_is_near: bool,
    radius: float | None = None,
) -> Parts:
    """Yield the ties of all lists, block after block; `radius` is the largest error of a number, if there is any."""
    from tieproof.engine import last_ties, ties_of_lists

    spans = list(_spans_of(rows, judged))
    graded = False  # whether any list has a grade above 0 other than 1, and then all lists keep their grades
    if len(spans) > 1 and not isinstance(judged, LabeledRows):
        together = (lists.joined(judged[span]) for span in spans)
        graded = any(JudgedLists.of(lists.as_judged_type(grades), start).graded for grades, start in together)
    for span in spans:
        given = _given_lists(rows, judged, span, graded, name, small_is_near)
        queries = given.queries
        ties = ties_of_lists(given)
        if limits is not None:
            sizes = None if limits.n_items is None else limits.n_items[queries]
            cut = cut_off(ties, last_ties(given), limits.n_relevant[queries], sizes, queries)
            ties = replace(ties, n_relevant=cut.n_relevant) if limits.complete else cut
        if radius is not None:
            from tieproof.engine import extremes_of_lists

            ties = replace(ties, noise=extremes_of_lists(given, np.full(len(queries), radius)))
        yield queries, ties


def _spans_of(rows: Rows, judged: Rows | LabeledRows) -> Iterator[slice]:
    """Yield blocks of lists whose numbers, and whose relevance, fit into one array without rounding."""

    def alike(query: int) -> bool:
        """Whether a list has the same types as the list before it; grades may also be integers of any type."""
        if isinstance(rows, list) and rows[query].dtype != rows[query - 1].dtype:
            return False
        if not isinstance(judged, list):
            return True
        one, other = judged[query].dtype, judged[query - 1].dtype
        return one == other or "f" not in (one.kind, other.kind)

    ends = [0, len(rows)]
    if isinstance(rows, list) or isinstance(judged, list):
        ends[1:1] = [query for query in range(1, len(rows)) if not alike(query)]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    else:
        lengths = np.full(len(rows), rows.shape[1])
    for first, last in pairwise(ends):
        for span in lists.spans_of(lengths[first:last]):
            yield slice(first + span.start, first + span.stop)


def _given_lists(
    rows: Rows, judged: Rows | LabeledRows, span: slice, graded: bool, name: str, small_is_near: bool
) -> GivenLists:
    queries = np.arange(span.start, span.stop)
    numbers, start = lists.joined(rows[span])

    def refuse() -> None:
        """Refuse a number or a grade that is not finite; lists of equal length are checked together."""
        for _, several in groupby(range(span.start, span.stop), lambda query: len(rows[query])):
            together = list(several)
            lists.in_float64(np.asarray([rows[query] for query in together]), name, together[0])
            if not isinstance(judged, LabeledRows):
                lists.in_float64(np.asarray([judged[query] for query in together]), "relevance", together[0])

    if isinstance(judged, LabeledRows):
        relevant = judged.relevant_to(queries)
    else:
        relevant = judged_by_grades(lists.as_judged_type(lists.joined(judged[span])[0]), start, graded, refuse)
    threads = parse_threads(None)
    return GivenLists(queries, as_counted_type(numbers), start, relevant, small_is_near, threads, refuse)


def judged_by_grades(
    grades: Array, start: IntArray, graded: bool, refuse: Callable[[], None] = accept
) -> Callable[[slice], RelevantBlock]:
    """A function that lists relevant and excluded items of some lists; `graded`: all keep their grades, even of 1."""

    def relevant(some: slice) -> RelevantBlock:
        found = JudgedLists.of(grades, start[some.start : some.stop + 1])
        if found.wrong:
            refuse()
        return found.block if graded or found.graded else found.block._replace(grades=None)

    return relevant


def as_counted_type(numbers: Array) -> Array:
    """Convert numbers to a type that kernels count, without changing their order."""
    if numbers.dtype in COUNTED:
        return numbers
    if numbers.dtype.name == "uint64":
        return (numbers ^ np.uint64(2**63)).view(np.int64)
    return numbers.astype(np.int64 if numbers.dtype.name == "uint32" else np.float32)
