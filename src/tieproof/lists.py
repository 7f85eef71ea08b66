"""Rankings given as scores or distances: matrices and ragged lists, whole or cut off.

list_ends.py says what the end of a list that was cut off leaves open.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.arrays import as_numbers
from tieproof.categories import Average, as_categories
from tieproof.errors import InputError
from tieproof.list_ends import cut_off, estimate
from tieproof.mapped import unchanged_files
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.result import Result, Setting
from tieproof.scoring import Empty, Parts, check_empty, parse_measures, score

BLOCK_ENTRIES = 2**22
"""Entries of a matrix that are ranked together."""

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Row = npt.NDArray[Any]


@unchanged_files
def evaluate_scores(
    scores: Any,
    relevance: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    n_relevant: Any = None,
    n_items: Any = None,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
) -> Result:
    """Score rankings given as scores; larger is nearer, and the given floats are the numbers.

    Parameters
    ----------
    scores : (q, n) array, or a list of q arrays of any lengths
    relevance : the same shape
        0 not relevant, above 0 relevant with that grade, below 0 excluded from the ranking.
    n_relevant : (q,) integers, or one for all queries
        For lists that were cut off: the relevant items of each query, in its list or not. The last tie of a list
        may go on beyond its end: `lower` and `upper` cover every way of going on, by items as near as the last one
        (excluded or not), `expected` and `std` are those of the list as given, and
        `ties.queries_with_open_last_tie` counts the queries that this concerns. The missing items have no grades:
        where there are any, graded nDCG needs `ideal=list`, which judges the list by itself.
    n_items : (q,) integers, or one for all queries
        The items that each query ranks, in its list or not, without the excluded ones: where the last tie ends at
        the latest. Without it, the tie may go on forever.
    measures, categories, average, empty :
        As in `evaluate`; without labels, `average="macro"` needs categories.

    Raises
    ------
    InputError
        NaN, infinity, wrong shapes or types, fewer relevant items than a list holds: what arrived, what was
        expected, what to do.

    Notes
    -----
    The closed forms under ties are in `tieproof.measures`, with their sources. A list that was cut off is evaluated
    for the extreme continuations of its last tie (McSherry and Najork 2008, section 2, have a tie that straddles a
    cutoff; here its other half is unknown).

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

    """
    options = Options(measures, n_relevant, n_items, categories, average, empty)
    return evaluate_lists(scores, relevance, options, name="scores", sign=1)


@unchanged_files
def evaluate_distances(
    distances: Any,
    relevance: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    n_relevant: Any = None,
    n_items: Any = None,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
) -> Result:
    """Score rankings given as distances: as `evaluate_scores`, and smaller is nearer.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.evaluate_distances([[0.0, 1.0, 1.0]], [[1, 1, 0]], measures=["P@1"])["P@1"].lower
    1.0

    """
    options = Options(measures, n_relevant, n_items, categories, average, empty)
    return evaluate_lists(distances, relevance, options, name="distances", sign=-1)


class Options(NamedTuple):
    """What scores and distances are evaluated with, as in `evaluate_scores`."""

    measures: Sequence[str | Measure]
    n_relevant: Any
    n_items: Any
    categories: Any
    average: Average
    empty: Empty


def evaluate_lists(values: Any, relevance: Any, options: Options, name: str, sign: int) -> Result:
    """What scores and distances share."""
    wanted = parse_measures(options.measures)
    check_empty(options.empty)
    rows, judged = as_rows(values, name), as_rows(relevance, "relevance")
    check_shapes(rows, judged, name)
    limits = as_limits(options.n_relevant, options.n_items, len(rows))
    categories = as_categories(options.categories, len(rows), options.average)
    setting = Setting(
        distance=name,
        leave_one_out=False,
        queries=len(rows),
        gallery=max(len(row) for row in rows),
        dimensions=None,
        empty=options.empty,
        average=options.average,
    )
    parts = list_parts(rows, judged, limits, name, sign)
    return score(parts, wanted, setting, zero_vectors=0, estimate=estimate, categories=categories)


def as_rows(values: Any, name: str) -> Row | list[Row]:
    """A matrix as it is, anything else as a list of one-dimensional arrays."""
    if isinstance(values, list | tuple):
        rows = [as_numbers(row, name) for row in values]
        wrong = [row.shape for row in rows if row.ndim != 1]
        shape: tuple[int, ...] | None = wrong[0] if wrong else None
    else:
        matrix = as_numbers(values, name)
        shape = None if matrix.ndim == 2 else matrix.shape
        if shape is None and len(matrix):
            return matrix
        rows = []
    if shape is not None:
        raise InputError(
            f"The {name} must be a matrix (queries, items) or a list of one-dimensional arrays, one for each "
            f"query, and arrived with the shape {shape}."
        )
    if not rows:
        raise InputError(f"The {name} are empty. At least one query is needed.")
    return rows


def check_shapes(rows: Row | list[Row], judged: Row | list[Row], name: str) -> None:
    """Every item needs its relevance."""
    if len(rows) != len(judged):
        raise InputError(f"There are {name} for {len(rows)} queries and relevance for {len(judged)}.")
    for query, (row, relevant) in enumerate(zip(rows, judged, strict=True)):
        if len(row) != len(relevant):
            raise InputError(
                f"Query {query} has {len(row)} {name} and {len(relevant)} relevance values. Pass one for each item."
            )


def as_limits(n_relevant: Any, n_items: Any, n_queries: int) -> tuple[IntArray, IntArray | None] | None:
    """All relevant items and all items of each query, (q,) each, for lists that were cut off."""
    if n_relevant is None:
        if n_items is not None:
            raise InputError("n_items says where the last tie of a list that was cut off ends. Pass n_relevant, too.")
        return None
    relevant = as_counts(n_relevant, "n_relevant", "relevant items", n_queries)
    return relevant, None if n_items is None else as_counts(n_items, "n_items", "items", n_queries)


def as_counts(values: Any, name: str, what: str, n_queries: int) -> IntArray:
    """A whole number for each query."""
    counts = as_numbers(values, name)
    if counts.shape not in ((), (n_queries,)):
        raise InputError(
            f"{name} has the shape {counts.shape}, and there are {n_queries} queries. Pass one number for each, or "
            "one for all."
        )
    counts = np.broadcast_to(counts, (n_queries,))
    wrong = ~((counts >= 0) & (counts == np.rint(counts)) & (counts <= 2**53))
    if wrong.any():
        query = int(np.argmax(wrong))
        raise InputError(
            f"{name} is {counts[query]} for query {query}. It must be a whole number of at least 0: count all {what} "
            "of the query, in its list or not."
        )
    return counts.astype(np.int64)


def list_parts(
    rows: Row | list[Row],
    judged: Row | list[Row],
    limits: tuple[IntArray, IntArray | None] | None,
    name: str,
    sign: int,
) -> Parts:
    """The ties of all lists, a block of equally long ones at a time."""
    from tieproof.engine.dense import block_of_matrix, ties_of_scores

    graded = any(((row > 0) & (row != 1)).any() for row in judged)
    start = 0
    for block, relevant in blocks(rows, judged):
        nearness = sign * as_floats(block, name, start)
        relevance = as_floats(relevant, "relevance", start)
        found = block_of_matrix(relevance)
        if graded and found.grades is None:
            found = found._replace(grades=np.ones(len(found.items)))
        ties = ties_of_scores(nearness, found)
        queries = np.arange(start, start + len(block))
        if limits is not None:
            n_relevant, n_items = (None if limit is None else limit[queries] for limit in limits)
            assert n_relevant is not None
            ties = cut_off(ties, end_of_matrix(nearness, relevance), n_relevant, n_items, queries)
        yield queries, ties
        start += len(block)


def end_of_matrix(nearness: FloatArray, relevance: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """(k, n, l, m) of what is listed at the last nearness of each list, which an excluded item may have."""
    counted, relevant = relevance >= 0, relevance > 0
    last = counted & (nearness == nearness.min(axis=1, initial=np.inf)[:, None])
    (k, n), (l, m) = (  # noqa: E741
        ((counted & where).sum(axis=1), (relevant & where).sum(axis=1)) for where in (~last, last)
    )
    return k, n, l, m


def blocks(rows: Row | list[Row], judged: Row | list[Row]) -> Iterator[tuple[Row, Row]]:
    """Matrices of scores and relevance."""
    start = 0
    while start < len(rows):
        width = len(rows[start])
        stop = start + 1
        while (
            stop < len(rows)
            and len(rows[stop]) == width
            and rows[stop].dtype == rows[start].dtype
            and (stop - start) * width < BLOCK_ENTRIES
        ):
            stop += 1
        yield np.asarray(rows[start:stop]), np.asarray([np.asarray(row) for row in judged[start:stop]])
        start = stop


def as_floats(block: Row, name: str, first_query: int) -> FloatArray:
    """The numbers in float64, their order unchanged; refused where not finite."""
    if block.dtype.kind in "iu" and block.size and max(abs(int(block.min())), int(block.max())) > 2**53:
        if name == "relevance":
            raise InputError("The relevance holds a grade beyond 2^53, which float64 does not hold exactly.")
        # Float64 would merge neighbours: their ranks say the same.
        return np.unique(block, return_inverse=True)[1].reshape(block.shape).astype(np.float64)
    finite = np.isfinite(block)
    if not finite.all():
        query, item = np.argwhere(~finite)[0]
        raise InputError(
            f"The {name} must be finite numbers, and query {first_query + query} holds {block[query, item]} at "
            f"item {item}. Leave the item out, or mark it with a negative relevance and a finite number."
        )
    return block.astype(np.float64)
