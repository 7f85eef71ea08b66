"""`evaluate_neighbors`: the measures of lists that an index of nearest neighbors returned."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from tieproof.errors import InputError, about, warn
from tieproof.evaluation.evaluated import Setting
from tieproof.evaluation.fingerprints import RankingDigests
from tieproof.evaluation.lists import as_counted_type
from tieproof.evaluation.problems import relevance_among
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import Empty, as_given, check_empty, make_result, parse_measures, score
from tieproof.inputs.categories import Average, as_categories
from tieproof.inputs.labels import as_label_array, as_labels
from tieproof.inputs.lists import JudgedLists
from tieproof.inputs.lookalikes import FEWEST, ITSELF, NEAR, some_of
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.neighbor_lists import NeighborLists, as_neighbor_lists, judged, spans_of_queries
from tieproof.inputs.options import check_choice, check_whole, parse_threads
from tieproof.inputs.relevance import Relevance, RelevantBlock
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.measures.completions import FirstTies, complete, first_ties
from tieproof.problem import GivenLists
from tieproof.ties import FloatArray, IntArray, Parts


def neighbor_parts(found: NeighborLists, relevance: Relevance, search: str) -> Parts:
    """Yield the ties of all lists, block after block; `search` is one of `SEARCHES` in `evaluation/neighbors.py`."""
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


Search = Literal["exact", "approximate", "returned"]
SEARCHES = ("exact", "approximate", "returned")
"""What is known about items that a search did not return. exact: none is nearer than those returned; approximate:
nothing; returned: they count as not retrieved."""

MOST_RANKS = 2**26
"""The largest gallery for measures without a cutoff, whose table of the weights of all ranks takes a gigabyte."""

MOST_PAIRS = 2**63 - 1
"""The largest number of pairs of a query and an item, which are numbered with 64 bits."""


@unchanged_files
def evaluate_neighbors(
    ids: Any,
    distances: Any = None,
    *,
    scores: Any = None,
    counts: Any = None,
    labels: Any = None,
    gallery_labels: Any = None,
    relevance: Any = None,
    n_items: int | None = None,
    groups: Any = None,
    gallery_groups: Any = None,
    exclude: Any = None,
    search: Search = "exact",
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
) -> Result:
    """Score the lists that an index of nearest neighbours returned, with the whole interval that they leave open.

    Each list is the beginning of a ranking of the whole gallery. `lower` and `upper` cover every complete ranking
    that begins with the list, and every order of its ties. `expected` and `std` assume that all unseen items follow
    the list in an order of which all are equally likely. So the interval contains that of the complete rankings, and
    equals it if the lists contain the whole gallery. With search="returned", only what was returned is scored, and
    the interval covers only the ties of the lists.

    Parameters
    ----------
    ids : (q, k) integers, or a list of q arrays of any lengths
        The items found for each query, nearest first, as positions in the gallery. -1, or the largest number of
        uint32 or uint64, means that nothing was found; its distance is ignored. The answer of an index may be passed
        alone: `BatchMatches` of usearch, or a list of its `Matches`; a list with the `QueryResponse`, or the
        `ScoredPoint`s, of each query by qdrant, if the ids of its points are positions.
    distances : the same shape; smaller is nearer
        They define the order, and equal distances are ties. Without distances and scores the lists are rankings in
        the order given: without ties, and with the last item found nearer than all unseen items.
    scores : the same shape, instead of distances; larger is nearer
        Inner products or cosine similarities.
    counts : (q,) integers
        The number of entries of each row that count, from the first on, if the index fills up the rest, as usearch
        does with key 0.
    labels, gallery_labels : (q,) and (n,) integers or strings, or columns of 0/1, as in `evaluate`
        Items with the query's label are relevant. Without gallery_labels the evaluation is leave-one-out: query i is
        item i, and is left out of its own list.
    relevance : rows (query, item) or (query, item, grade), instead of labels, with `n_items`
        A grade of 0 means not relevant; a negative grade excludes the item. If query i is also an item of the
        gallery, exclude it with `exclude`.
    n_items : int
        The number of items in the gallery, found or not.
    groups, gallery_groups, exclude : as in `evaluate`
    search : "exact", "approximate" or "returned"
        What is known about the unseen items. After an exact search, by a flat index, no unseen item is nearer than
        the last one found, and some may be exactly as near. After any other search an unseen item may have any rank,
        even the first. "returned" scores what was returned, whatever the search: unseen items come last, and those
        that are relevant count as never retrieved, as documents outside the lists of a run do in `evaluate_run`.
    measures, categories, average, empty : as in `evaluate`

    Raises
    ------
    InputError
        If an id is not in the gallery or occurs twice in a list, if a number is not finite, or if a shape or a type
        is wrong; the message says what arrived, what was expected and what to do.

    Warns
    -----
    InputWarning
        If lists are not in the order of their distances or scores, which define the ranking; if distances decrease
        along every list, and so are probably scores; if lists of an exact search were filled up with -1 although the
        gallery has more items; if nearly every query i finds item i first, which is relevant.

    Notes
    -----
    Distances and scores are compared as the numbers given: a float32 that an index rounded is used as it is. Measures
    without a cutoff depend on whole rankings: they take time and memory for each rank, and are refused above
    67,108,864 items. With search="returned" they are not.

    Examples
    --------
    >>> import tieproof as tp
    >>> ids, distances = [[2, 0], [1, 3]], [[0.1, 0.5], [0.2, 0.2]]
    >>> labels = ["cat", "dog", "cat", "cat"]
    >>> found = tp.evaluate_neighbors(ids, distances, labels=["cat", "cat"], gallery_labels=labels, measures=["P@2"])
    >>> found["P@2"]
    Estimate(lower=0.5, expected=0.75, upper=1.0, std=0.0)
    >>> found.ties.queries_with_open_last_tie
    2
    >>> evaluate_neighbors(
    ...     ids, distances, labels=["cat", "cat"], gallery_labels=labels, measures=["P@2"], search="returned"
    ... )["P@2"]
    Estimate(lower=0.75, expected=0.75, upper=0.75, std=0.0)

    """
    wanted = parse_measures(measures)
    check_empty(empty)
    check_choice("search", search, SEARCHES)
    found = as_neighbor_lists(ids, distances, scores, counts)
    count, gallery = found.n_queries, gallery_size(labels, gallery_labels, relevance, n_items)
    if gallery is None and gallery_groups is not None:
        raise InputError(
            "gallery_groups were passed without gallery_labels. Pass gallery_labels= too, or leave them out.",
            "gallery_groups",
        )
    if labels is not None:
        with about("labels", "ids"):
            labels = as_labels(labels, count, "labels", "queries")
    check_pairs(count, gallery)
    judged = relevance_among(count, gallery, labels, gallery_labels, relevance, (groups, gallery_groups), exclude)
    if gallery is None and n_items is not None and n_items != count:
        raise InputError(
            f"n_items is {n_items}, but there are lists of {count} queries and no gallery_labels: in leave-one-out "
            "the queries are the items. Pass gallery_labels=, or leave n_items out.",
            "n_items",
        )
    if search != "returned":
        check_ranks(wanted, judged.n_items)
    found.check_items(judged.n_items)
    check_own_items(found, judged)
    with about("categories", "ids"):
        groups_of_queries = as_categories(categories, count, average, labels)
    setting = Setting(
        distance=found.called,
        leave_one_out=judged.leave_one_out,
        queries=count,
        gallery=judged.n_items,
        dimensions=None,
        empty=empty,
        average=average,
    )
    rankings = RankingDigests(count)
    parts = neighbor_parts(found, judged, search)
    if search == "exact":
        parts = watched_ends(parts, found)
    scored = score(rankings.noted(parts), wanted, count, as_given if search == "returned" else complete)
    origin = rankings.origin("evaluate_neighbors")._replace(options={"search": search})
    with about(("relevance",) if labels is None else ("labels", "gallery_labels")):
        return make_result(scored, setting, origin, categories=groups_of_queries)


def gallery_size(labels: Any, gallery_labels: Any, relevance: Any, n_items: int | None) -> int | None:
    """Return the number of items in the gallery; None: the queries are the items."""
    if n_items is not None:
        check_whole("n_items", n_items)
    if labels is None and relevance is not None:
        if gallery_labels is not None:
            raise InputError(
                "gallery_labels were passed without labels. Pass labels= too, or leave them out.", "gallery_labels"
            )
        if n_items is None:
            raise InputError("relevance does not tell how many items the gallery has. Pass n_items, too.", "n_items")
        return int(n_items)
    if gallery_labels is None:
        return None
    with about("gallery_labels"):
        items = as_label_array(gallery_labels, "gallery labels")
    size = len(items) if items.ndim else 0
    if not size:
        raise InputError("The gallery labels are empty. Pass one label for each item.", "gallery_labels")
    if n_items is not None and n_items != size:
        raise InputError(
            f"n_items is {n_items}, but there are {size} gallery labels. Pass one label for each item.",
            ("n_items", "gallery_labels"),
        )
    return size


def check_pairs(n_queries: int, n_items: int | None) -> None:
    """Refuse more pairs of a query and an item than can be numbered with 64 bits."""
    if n_items is not None and n_queries * n_items > MOST_PAIRS:
        raise InputError(
            f"n_items is {n_items}, and the number of queries is {n_queries}, but their product must be at most "
            "2^63. Pass the number of items in the gallery.",
            "n_items",
        )


def check_ranks(wanted: Sequence[Measure], n_items: int) -> None:
    """Refuse measures without a cutoff if rankings are too long for a table of the weights of all ranks."""
    whole = [measure for measure in wanted if measure.cutoff is None and measure.name not in ("AUC", "Rprec")]
    if whole and n_items > MOST_RANKS:
        raise InputError(
            f"{whole[0]} depends on whole rankings, and {n_items:,} items are more than the limit of {MOST_RANKS:,}. "
            "Use measures with a cutoff, such as AP@100.",
            "measures",
        )


def check_own_items(found: NeighborLists, judged: Relevance) -> None:
    """Warn if most queries i find item i first, which is relevant, beside other relevant items.

    Distances must be about 0, because pictures may find the texts of the same numbers first.
    """
    entry = np.flatnonzero(found.query == found.item)
    least = max(FEWEST, ITSELF * found.n_queries)
    if judged.leave_one_out or len(entry) < least:
        return
    start, number = found.start[:-1], found.number
    if number is None:
        entry = entry[np.isin(entry, start)]
    else:
        best = np.minimum if found.called == "distances" else np.maximum
        filled = np.diff(found.start) > 0
        first = np.zeros(found.n_queries, dtype=number.dtype)
        first[filled] = best.reduceat(number, start[filled])
        entry = entry[number[entry] == first[found.item[entry]]]
        if found.called == "distances":
            entry = entry[np.abs(number[entry].astype(np.float64)) <= NEAR * float(np.abs(number).max())]
    queries = found.item[entry]
    queries = queries[judged.at_most()[queries] > 1]
    if len(queries) < least:
        return
    if all(query in judged.block(np.array([query])).items for query in queries[some_of(len(queries))]):
        warn(
            f"{len(queries)} of {found.n_queries} queries probably find themselves: item i is the first one of query "
            "i and is relevant. If queries and items are the same, leave out gallery_labels, or pass the pairs "
            "(i, i) as exclude=."
        )


def watched_ends(parts: Parts, found: NeighborLists) -> Parts:
    """Yield the parts, and warn if an exact search returned fewer items than the gallery has."""
    doubtful = 0
    for queries, ties in parts:
        assert isinstance(ties, FirstTies)
        unseen = ties.missing + ties.end.others > 0
        doubtful += int((found.padded[queries] & unseen).sum())
        yield queries, ties
    if doubtful:
        warn(
            f"{doubtful} of {found.n_queries} lists end before they are full although the gallery has more items, "
            "which an exact search would have returned. Probably search='approximate' is meant, or items that are "
            "not in the index have to be excluded with exclude."
        )
