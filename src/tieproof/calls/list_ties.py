"""Converts rankings given as numbers to ties, a block of lists at a time."""

from collections.abc import Iterator
from itertools import accumulate, groupby

import numpy as np

from tieproof.inputs.list_relevance import JudgedLists, LabelledRows, as_judged_type
from tieproof.inputs.list_rows import BLOCK_ENTRIES, in_float64
from tieproof.inputs.options import parse_threads
from tieproof.inputs.relevance import RelevantBlock
from tieproof.measures.list_ends import cut_off
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
