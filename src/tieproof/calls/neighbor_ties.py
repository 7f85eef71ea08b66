"""Converts lists of neighbours to the ties of the first items of rankings, a block of lists at a time."""

from dataclasses import replace

import numpy as np

from tieproof.calls.list_ties import as_counted_type
from tieproof.inputs.judged_neighbors import judged, spans_of_queries
from tieproof.inputs.list_relevance import JudgedLists
from tieproof.inputs.neighbor_lists import NeighborLists
from tieproof.inputs.options import parse_threads
from tieproof.inputs.relevance import Relevance, RelevantBlock
from tieproof.measures.completions import first_ties
from tieproof.problem import GivenLists
from tieproof.ties import FloatArray, IntArray, Parts


def neighbor_parts(found: NeighborLists, relevance: Relevance, search: str) -> Parts:
    """Yield the ties of all lists, block after block; `search` is one of `SEARCHES` in `calls/neighbors.py`."""
    from tieproof.engine import last_ties, ties_of

    for span in spans_of_queries(relevance, np.diff(found.start)):
        queries = np.arange(span.start, span.stop)
        entries = slice(found.start[span.start], found.start[span.stop])
        start = found.start[span.start : span.stop + 1] - entries.start
        position = np.repeat(np.arange(len(queries)), np.diff(start))
        items = judged(relevance, queries, position, found.item[entries])
        given = GivenLists(
            queries=queries,
            numbers=as_counted_type(np.arange(len(position)) if found.number is None else found.number[entries]),
            start=start,
            relevant=Listed(items.grade, start, relevance.graded),
            small_is_near=found.called != "scores",
            threads=parse_threads(None),
        )
        [(_, ties)] = ties_of(given).parts
        whole = replace(ties, n_relevant=items.n_relevant, missing_grades=items.missing_grades)
        n_items = relevance.n_items - items.n_excluded
        if search == "returned":
            yield queries, replace(whole, n_items=n_items - whole.missing)
        else:
            end = None if found.number is None else last_ties(given)
            yield queries, first_ties(whole, end, n_items, exact=search == "exact")


class Listed:
    """The relevant and the excluded items of lists, by their grades; the engine calls it block by block."""

    def __init__(self, grades: FloatArray, start: IntArray, graded: bool) -> None:
        self.grades, self.start, self.graded = grades, start, graded

    def __call__(self, some: slice) -> RelevantBlock:
        """Return the relevant and the excluded items of some of the lists."""
        block = JudgedLists.of(self.grades, self.start[some.start : some.stop + 1]).block
        return block if self.graded else block._replace(grades=None)
