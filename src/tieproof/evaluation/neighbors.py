"""`evaluate_neighbors`: the measures of lists that an index of nearest neighbors returned."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from tieproof.engine.problem import GivenLists
from tieproof.errors import InputError, about, warn
from tieproof.evaluation.evaluated import Setting
from tieproof.evaluation.fingerprints import RankingDigests
from tieproof.evaluation.given_lists import as_counted_type, judged_by_grades
from tieproof.evaluation.problems import relevance_among
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import Empty, as_evaluated, check_empty, parse_with_sets, score
from tieproof.inputs.categories import Average, as_categories
from tieproof.inputs.labels import as_label_array, as_labels
from tieproof.inputs.lists import DUPLICATES, Duplicates, left_out
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.mistakes import FEWEST_ALIKE, ITSELF, NEAR, some_of
from tieproof.inputs.neighbor_lists import NeighborLists, as_neighbor_lists, judged, spans_of_queries
from tieproof.inputs.options import check_choice, check_whole, parse_threads
from tieproof.inputs.relevance import Relevance
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.measures.unseen import first_items
from tieproof.ties import JudgedTies, Parts

Search = Literal["exact", "approximate", "returned"]
"""What is known about items that a search did not return. exact: none is nearer than those returned; approximate:
nothing; returned: they count as not retrieved."""

MOST_RANKS = 2**26  # the largest gallery for measures without a cutoff, whose table of weights takes a gigabyte
MOST_PAIRS = 2**63 - 1  # the largest number of pairs of a query and an item, which are numbered with 64 bits


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
    duplicates: Duplicates = "error",
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    categories: Any = None,
    average: Average = "micro",
    empty: Empty = "skip",
) -> Result:
    """Score the lists that an index of nearest neighbors returned, with the whole interval that they leave open.

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
        gallery, exclude it with `exclude`. Or a list with an array or a set of the relevant items of each query, such
        as those within 25 m; it may be empty.
    n_items : int
        The number of items in the gallery, found or not.
    groups, gallery_groups, exclude : as in `evaluate`
    search : "exact", "approximate" or "returned"
        What is known about the unseen items. After an exact search, by a flat index, no unseen item is nearer than
        the last one found, and some may be exactly as near. After any other search an unseen item may have any rank,
        even the first. "returned" scores what was returned, whatever the search: unseen items count as never
        retrieved, as documents outside the lists of a run do in `evaluate_run`, whose values are the same.
    duplicates : "error" or "first"
        An item that occurs twice in a list is refused, or counts once, at its first place in the ranking; after an
        exact search, which finds no item twice, it is always refused.
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
    wanted, optional = parse_with_sets(measures)
    check_empty(empty)
    check_choice("search", search, get_args(Search))
    check_choice("duplicates", duplicates, DUPLICATES)
    lists = as_neighbor_lists(ids, distances, scores, counts)
    count, gallery = lists.n_queries, _gallery_size(labels, gallery_labels, relevance, n_items)
    if gallery is None and gallery_groups is not None:
        raise InputError(
            "gallery_groups were passed without gallery_labels. Pass gallery_labels= too, or leave them out.",
            "gallery_groups",
        )
    if labels is not None:
        with about("labels", "ids"):
            labels = as_labels(labels, count, "labels", "queries")
    if gallery is not None and count * gallery > MOST_PAIRS:
        raise InputError(
            f"n_items is {gallery}, and the number of queries is {count}, but their product must be at most 2^63. "
            "Pass the number of items in the gallery.",
            "n_items",
        )
    of_all = relevance_among(count, gallery, labels, gallery_labels, relevance, (groups, gallery_groups), exclude)
    if gallery is None and n_items is not None and n_items != count:
        raise InputError(
            f"n_items is {n_items}, but there are lists of {count} queries and no gallery_labels: in leave-one-out "
            "the queries are the items. Pass gallery_labels=, or leave n_items out.",
            "n_items",
        )
    if search != "returned":
        _check_ranks(wanted, of_all.n_items)
    listed = len(lists.item)
    lists = lists.once(of_all.n_items, duplicates)
    copies = listed - len(lists.item)
    if copies and search == "exact":
        raise InputError(
            f"The lists contain {copies} copies of items, but an exact search finds no item twice. Pass "
            "search='approximate', or search='returned' to score only what was returned.",
            ("duplicates", "search"),
        )
    _check_own_items(lists, of_all)
    with about("categories", "ids"):
        groups_of_queries = as_categories(categories, count, average, labels)
    sizes = count, of_all.n_items
    setting = Setting(lists.called, of_all.leave_one_out, *sizes, dimensions=None, empty=empty, average=average)
    rankings = RankingDigests(count)
    scored = score(_neighbor_parts(lists, of_all, search, rankings), wanted, count, optional)
    options = {"search": search} | ({} if duplicates == "error" else {"duplicates": duplicates})
    origin = rankings.origin("evaluate_neighbors", options)
    with about(("relevance",) if labels is None else ("labels", "gallery_labels")):
        evaluated = as_evaluated(scored, setting, origin, categories=groups_of_queries)
        return Result(evaluated._replace(negative=of_all.negative(), said=left_out(copies)))


def _neighbor_parts(lists: NeighborLists, relevance: Relevance, search: Search, rankings: RankingDigests) -> Parts:
    """Yield the ties of all lists, block after block; warn if an exact search returned too few items."""
    from tieproof.engine import last_ties, ties_of_lists

    doubtful = 0
    for span in spans_of_queries(relevance, np.diff(lists.start)):
        queries = np.arange(span.start, span.stop)
        entries = slice(lists.start[span.start], lists.start[span.stop])
        start = lists.start[span.start : span.stop + 1] - entries.start
        position = np.repeat(np.arange(len(queries)), np.diff(start))
        items = judged(relevance, queries, position, lists.item[entries])
        given = GivenLists(
            queries=queries,
            numbers=as_counted_type(np.arange(len(position)) if lists.number is None else lists.number[entries]),
            start=start,
            relevant=judged_by_grades(items.grade, start, relevance.graded),
            small_is_near=lists.called != "scores",
            threads=parse_threads(None),
        )
        ties = ties_of_lists(given)
        ties = replace(ties, n_relevant=items.n_relevant, missing_grades=items.missing_grades)
        n_items = relevance.n_items - items.n_excluded
        if search == "returned":
            rankings.add(queries, replace(ties, n_items=n_items - ties.missing))
            yield queries, replace(ties, judged=JudgedTies(ties, n_items - ties.n_relevant), n_ranked=n_items)
            continue
        doubtful += int((lists.padded[queries] & (n_items > ties.n_items)).sum())
        end = None if lists.number is None else last_ties(given)
        cut = first_items(ties, end, n_items, "behind" if search == "exact" else "anywhere")
        rankings.add(queries, cut)  # which says how many items the gallery has
        yield queries, cut
    if doubtful and search == "exact":
        warn(
            f"{doubtful} of {lists.n_queries} lists end before they are full although the gallery has more items, "
            "which an exact search would have returned. Probably search='approximate' is meant, or items that are "
            "not in the index have to be excluded with exclude."
        )


def _gallery_size(labels: Any, gallery_labels: Any, relevance: Any, n_items: int | None) -> int | None:
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


def _check_ranks(wanted: Sequence[Measure], n_items: int) -> None:
    """Refuse measures without a cutoff if rankings are too long for a table of the weights of all ranks."""
    whole = [measure for measure in wanted if measure.cutoff is None and measure.name not in ("AUC", "Rprec")]
    if whole and n_items > MOST_RANKS:
        raise InputError(
            f"{whole[0]} depends on whole rankings, and {n_items:,} items are more than the limit of {MOST_RANKS:,}. "
            "Use measures with a cutoff, such as AP@100.",
            "measures",
        )


def _check_own_items(lists: NeighborLists, relevance: Relevance) -> None:
    """Warn if most queries i find item i first, which is relevant, beside other relevant items."""
    entry = np.flatnonzero(lists.query == lists.item)
    least = max(FEWEST_ALIKE, ITSELF * lists.n_queries)
    if relevance.leave_one_out or len(entry) < least:
        return
    start, number = lists.start[:-1], lists.number
    if number is None:
        entry = entry[np.isin(entry, start)]
    else:
        nearest = np.minimum if lists.called == "distances" else np.maximum
        filled = np.diff(lists.start) > 0
        first = np.zeros(lists.n_queries, dtype=number.dtype)
        first[filled] = nearest.reduceat(number, start[filled])
        entry = entry[number[entry] == first[lists.item[entry]]]
        if lists.called == "distances":  # must be about 0: pictures may find the texts of the same numbers first
            entry = entry[np.abs(number[entry].astype(np.float64)) <= NEAR * float(np.abs(number).max())]
    queries = lists.item[entry]
    queries = queries[relevance.at_most()[queries] > 1]
    if len(queries) < least:
        return
    if all(query in relevance.block(np.array([query])).items for query in queries[some_of(len(queries))]):
        warn(
            f"{len(queries)} of {lists.n_queries} queries probably find themselves: item i is the first one of query "
            "i and is relevant. If queries and items are the same, leave out gallery_labels, or pass the pairs "
            "(i, i) as exclude=."
        )
