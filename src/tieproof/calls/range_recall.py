"""`range_recall`: the share of the items within a radius that an index found."""

from typing import Any

import numpy as np

from tieproof.errors import CountError, InputError
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.range_lists import as_range_lists
from tieproof.results.range_recall import RangeRecall
from tieproof.ties import IntArray


@unchanged_files
def range_recall(found: Any, truth: Any) -> RangeRecall:
    """Compute the share of the items within a radius that an index found.

    Ties do not change which items are within the radius, so the recall is a single number and not an interval. An
    item that occurs twice in a list counts once.

    Parameters
    ----------
    found, truth : (lims, ids)
        The items of query q are ids[lims[q]], …, ids[lims[q + 1] - 1]. faiss returns (lims, distances, ids): pass
        the first and the last.

    Returns
    -------
    RangeRecall
        `recall` is over the items of all queries, `mean_recall` is the mean over queries. If no item occurs twice,
        these are the overall and the average recall of big-ann-benchmarks.

    Raises
    ------
    InputError
        If the lists have different numbers of queries, if lims do not fit the ids, or if a true list contains an
        item twice.

    Examples
    --------
    >>> import tieproof as tp
    >>> tp.range_recall(([0, 1, 3], [4, 2, 9]), ([0, 2, 3], [4, 7, 2]))
    <RangeRecall of 2 queries: 0.6667 overall, 0.7500 on average>

    """
    answers, wanted = as_range_lists(found, "found"), as_range_lists(truth, "truth")
    n_queries = len(wanted.lims) - 1
    if len(answers.lims) - 1 != n_queries:
        raise CountError(
            f"The number of found lists is {len(answers.lims) - 1}, but the number of true lists is {n_queries}. "
            "Pass exactly one for each, in the same order.",
            ("found", "truth"),
        )
    (query, item), (of_query, true) = answers.pairs(), wanted.pairs()
    names, numbers = np.unique(np.concatenate([item, true]), return_inverse=True)
    size = max(1, len(names))
    places, right = query * size + numbers[: len(item)], of_query * size + numbers[len(item) :]
    check_different(right, size)
    different = np.unique(places)

    def counts(pairs: IntArray) -> IntArray:
        return np.bincount(pairs // size, minlength=n_queries)

    found_once, hits = counts(different), counts(different[np.isin(different, right)])
    return RangeRecall(
        true=counts(right),
        found=found_once,
        hits=hits,
        repeated=counts(places) - found_once,
        repeated_hits=counts(places[np.isin(places, right)]) - hits,
    )


def check_different(right: IntArray, size: int) -> None:
    """Refuse a truth that lists an item twice."""
    ranked = np.sort(right)
    twice = ranked[1:][ranked[1:] == ranked[:-1]]
    if len(twice):
        raise InputError(
            f"The true list of query {twice[0] // size} contains an item twice. Compute the truth again, with each "
            "item once.",
            "truth",
        )
