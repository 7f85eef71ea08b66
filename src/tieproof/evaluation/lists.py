"""`evaluate_scores` and `evaluate_distances`: rankings given as matrices or ragged lists, whole or cut off."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.evaluated import Setting
from tieproof.evaluation.fingerprints import RankingDigests
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import Empty, check_empty, make_result, parse_measures, score
from tieproof.inputs.categories import Average, as_categories
from tieproof.inputs.lists import (
    BLOCK_ENTRIES,
    JudgedLists,
    LabelledRows,
    as_judged_type,
    as_limits,
    as_rows,
    blocks,
    check_shapes,
    in_float64,
    relevance_by_labels,
)
from tieproof.inputs.lookalikes import check_direction, check_self_matches
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import parse_threads
from tieproof.inputs.relevance import RelevantBlock
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.measures.list_ends import cut_off, estimate
from tieproof.problem import GivenLists
from tieproof.ties import Array, IntArray, Parts

Rows = Array | list[Array]

COUNTED = frozenset(map(np.dtype, ("float64", "float32", "int64", "int32")))
"""The types of numbers that kernels count."""


def list_parts(
    rows: Rows,
    judged: Rows | LabelledRows,
    limits: tuple[IntArray, IntArray | None] | None,
    name: str,
    small_is_near: bool,
) -> Parts:
    """Yield the ties of all lists, block after block."""
    from tieproof.engine import last_ties, ties_of

    spans = list(spans_of(rows, judged))
    graded = len(spans) > 1 and any_grade(judged, spans)
    for span in spans:
        given = given_lists(rows, judged, span, graded, name, small_is_near)
        queries = given.queries
        [(_, ties)] = ties_of(given).parts
        if limits is not None:
            n_relevant, n_items = (None if limit is None else limit[queries] for limit in limits)
            assert n_relevant is not None
            k, n, l, m = last_ties(given)  # noqa: E741
            ties = cut_off(ties, (k, n, l, m), n_relevant, n_items, queries)
        yield queries, ties


def given_lists(
    rows: Rows, judged: Rows | LabelledRows, span: slice, graded: bool, name: str, small_is_near: bool
) -> GivenLists:
    """Return a block of lists in the form that the engine takes."""
    queries, start = np.arange(span.start, span.stop), starts_of(rows, span)
    grades = None if isinstance(judged, LabelledRows) else as_judged_type(joined(judged, span))

    def refuse() -> None:
        refuse_numbers(rows, judged, span, name)

    def relevant(some: slice) -> RelevantBlock:
        if isinstance(judged, LabelledRows):
            return judged.relevance.block(queries[some])
        assert grades is not None
        lists = JudgedLists.of(grades, start[some.start : some.stop + 1])
        if lists.wrong:
            refuse()
        return lists.block if graded or lists.graded else lists.block._replace(grades=None)

    numbers = as_counted_type(joined(rows, span))
    return GivenLists(queries, numbers, start, relevant, small_is_near, parse_threads(None), refuse)


def spans_of(rows: Rows, judged: Rows | LabelledRows) -> Iterator[slice]:
    """Yield blocks of lists whose numbers, and whose relevance, fit into one array without rounding."""
    if not isinstance(rows, list) and not isinstance(judged, list):
        size = max(1, BLOCK_ENTRIES // max(1, rows.shape[1]))
        yield from (slice(start, min(start + size, len(rows))) for start in range(0, len(rows), size))
        return
    start = entries = 0
    for query, row in enumerate(rows):
        if query > start and (entries >= BLOCK_ENTRIES or not alike(rows, judged, query)):
            yield slice(start, query)
            start, entries = query, 0
        entries += len(row)
    yield slice(start, len(rows))


def alike(rows: Rows, judged: Rows | LabelledRows, query: int) -> bool:
    """Whether a list has the same types as the list before it."""
    if isinstance(rows, list) and rows[query].dtype != rows[query - 1].dtype:
        return False
    if not isinstance(judged, list):
        return True
    types = judged[query].dtype, judged[query - 1].dtype
    return types[0] == types[1] or "f" not in {each.kind for each in types}


def any_grade(judged: Rows | LabelledRows, spans: list[slice]) -> bool:
    """Whether any list has a grade above 0 other than 1; then grades are kept for all lists."""
    if isinstance(judged, LabelledRows):
        return False
    return any(JudgedLists.of(as_judged_type(joined(judged, span)), starts_of(judged, span)).graded for span in spans)


def joined(rows: Rows, span: slice) -> Array:
    """Return the numbers of a block of lists, list after list."""
    if isinstance(rows, list):
        return np.concatenate(rows[span])
    return np.require(rows[span], requirements=["C", "A"]).reshape(-1)


def starts_of(rows: Rows, span: slice) -> IntArray:
    """Return where each list of a block begins in the joined numbers, and where the last one ends."""
    count = span.stop - span.start
    if isinstance(rows, list):
        return np.fromiter(accumulate(map(len, rows[span]), initial=0), np.int64, count + 1)
    return np.arange(count + 1) * int(rows.shape[1])


def as_counted_type(numbers: Array) -> Array:
    """Convert numbers to a type that kernels count, without changing their order."""
    if numbers.dtype in COUNTED:
        return numbers
    if numbers.dtype.name == "uint64":
        return (numbers ^ np.uint64(2**63)).view(np.int64)
    return numbers.astype(np.int64 if numbers.dtype.name == "uint32" else np.float32)


def refuse_numbers(rows: Rows, judged: Rows | LabelledRows, span: slice, name: str) -> None:
    """Refuse lists with a number or a grade that is not finite; lists of equal length are checked together."""
    for _, queries in groupby(range(span.start, span.stop), lambda query: len(rows[query])):
        together = list(queries)
        in_float64(np.asarray([rows[query] for query in together]), name, together[0])
        if not isinstance(judged, LabelledRows):
            in_float64(np.asarray([judged[query] for query in together]), "relevance", together[0])


@unchanged_files
def evaluate_scores(
    scores: Any,
    relevance: Any = None,
    *,
    labels: Any = None,
    gallery_labels: Any = None,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    n_relevant: Any = None,
    n_items: Any = None,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
) -> Result:
    """Score rankings given as scores; larger is nearer, and the scores are compared as the numbers given.

    Parameters
    ----------
    scores : (q, n) array, or a list of q arrays of any lengths
    relevance : the same shape
        0: not relevant; above 0: relevant with that grade; below 0: excluded from the ranking.
    labels : (q,) integers or strings, or (q, c) of 0/1, instead of relevance
        Items with the query's label are relevant; with columns, items that share at least one class. Without
        `gallery_labels` the matrix must be square, and its rows and columns are the same items: each item queries all
        the others, and the diagonal is excluded, whatever its values.
    gallery_labels : (n,), or (n, c)
        The labels of the columns.
    n_relevant : (q,) integers, or one for all queries
        For lists that were cut off: the number of relevant items of each query, in its list or not. The last tie of a
        list may continue beyond its end. `lower` and `upper` cover every continuation by items, excluded or not, that
        are as near as the last one; `expected` and `std` are those of the list as given.
        `ties.queries_with_open_last_tie` counts the queries whose last tie may continue. The grades of missing items
        are unknown: if any item is missing, graded nDCG needs `ideal=list`, which takes the ideal ranking from the
        list alone and treats missing items as any other item.
    n_items : (q,) integers, or one for all queries
        The number of items that each query ranks, in its list or not, without the excluded ones. It limits how far
        the last tie can continue; without it, the tie may continue without end.
    measures, categories, average, empty :
        As in `evaluate`; without labels, `average="macro"` needs categories.

    Raises
    ------
    InputError
        If the input contains NaN or infinity, has wrong shapes or types, or if n_relevant is less than the number of
        relevant items in a list; the message says what arrived, what was expected and what to do. One-dimensional
        scores are refused, too: they could be the scores of one query or of several queries, one after the other.

    Warns
    -----
    InputWarning
        If a square matrix is probably one of distances: its diagonal, excluded or relevant, is the smallest number of
        each row, and other relevant items have smaller scores than the rest. If queries probably find themselves: the
        scores of item i for query i and the reverse are equal, and the diagonal is relevant and nearest.

    Notes
    -----
    The closed forms under ties are in `tieproof.measures`, with their sources. A list that was cut off is evaluated
    for the extreme continuations of its last tie. McSherry and Najork 2008 (section 2) treat a tie that straddles a
    cutoff; here the half of the tie beyond the cutoff is unknown.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.evaluate_scores([[0.9, 0.5, 0.5, 0.1]], [[0, 1, 0, 0]], measures=["RR"])["RR"]
    Estimate(lower=0.3333333333333333, expected=0.4166666666666667, upper=0.5, std=0.08333333333333333)
    >>> top_2 = tp.evaluate_scores([[0.9, 0.5]], [[1, 0]], measures=["R@2"], n_relevant=[2])
    >>> top_2["R@2"]
    Estimate(lower=0.5, expected=0.5, upper=1.0, std=0.0)
    >>> top_2.ties.queries_with_open_last_tie
    1
    >>> similarities = [[1.0, 0.8, 0.1], [0.8, 1.0, 0.2], [0.1, 0.2, 1.0]]
    >>> tp.evaluate_scores(similarities, labels=["cat", "cat", "dog"], measures=["P@1"])["P@1"].lower
    1.0

    """
    given = Given(relevance, labels, gallery_labels, measures, n_relevant, n_items, categories, average, empty)
    return evaluate_lists(scores, given, name="scores", sign=1)


@unchanged_files
def evaluate_distances(
    distances: Any,
    relevance: Any = None,
    *,
    labels: Any = None,
    gallery_labels: Any = None,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    n_relevant: Any = None,
    n_items: Any = None,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
) -> Result:
    """Score rankings given as distances: the same as `evaluate_scores`, but smaller is nearer.

    An `InputWarning` is issued if a square matrix is probably one of similarities: its diagonal, excluded or
    relevant, is the largest number of each row, and other relevant items have larger distances than the rest. Another
    one is issued if queries probably find themselves, as for `evaluate_scores`.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.evaluate_distances([[0.0, 1.0, 1.0]], [[1, 1, 0]], measures=["P@1"])["P@1"].lower
    1.0

    """
    given = Given(relevance, labels, gallery_labels, measures, n_relevant, n_items, categories, average, empty)
    return evaluate_lists(distances, given, name="distances", sign=-1)


class Given(NamedTuple):
    """The arguments of `evaluate_scores` and `evaluate_distances` other than the numbers."""

    relevance: Any
    labels: Any
    gallery_labels: Any
    measures: Sequence[str | Measure]
    n_relevant: Any
    n_items: Any
    categories: Any
    average: Average
    empty: Empty


def evaluate_lists(values: Any, given: Given, name: str, sign: int) -> Result:
    """Evaluate lists of scores (sign 1) or distances (sign -1)."""
    wanted = parse_measures(given.measures)
    check_empty(given.empty)
    rows = as_rows(values, name)
    judged = as_judged(given, rows, name)
    check_direction(rows, blocks(rows, judged), name)
    check_self_matches(rows, judged, name)
    limits = as_limits(given.n_relevant, given.n_items, len(rows))
    categories = as_categories(given.categories, len(rows), given.average, given.labels)
    setting = Setting(
        distance=name,
        leave_one_out=False,
        queries=len(rows),
        gallery=rows.shape[1] if isinstance(rows, np.ndarray) else max(map(len, rows)),
        dimensions=None,
        empty=given.empty,
        average=given.average,
    )
    parts = list_parts(rows, judged, limits, name, sign < 0)
    rankings = RankingDigests(len(rows))
    scores = score(rankings.noted(parts), wanted, len(rows), estimate)
    return make_result(scores, setting, rankings.origin(f"evaluate_{name}"), categories=categories)


def as_judged(given: Given, rows: Array | list[Array], name: str) -> Array | list[Array] | LabelledRows:
    """Return the relevance of every item, as given or from labels."""
    if (given.relevance is None) == (given.labels is None):
        raise InputError("Pass either relevance or labels=, so that relevant items are known.")
    if given.labels is not None:
        limits = (given.n_relevant, given.n_items)
        return relevance_by_labels(given.labels, given.gallery_labels, rows, limits, name)
    if given.gallery_labels is not None:
        raise InputError("gallery_labels were passed without labels. Pass labels= too, or leave them out.")
    judged = as_rows(given.relevance, "relevance")
    check_shapes(rows, judged, name)
    return judged
