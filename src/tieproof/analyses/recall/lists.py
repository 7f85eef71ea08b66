"""What `neighbor_recall` is given, checked: the lists that an index found, the true neighbors as lists, and k."""

from typing import Any

import numpy as np

from tieproof.analyses.neighbors.result import check_id_lists, repeated_in_rows
from tieproof.analyses.recall.truths import FoundLists, ListedTruth
from tieproof.errors import InputError, about, calling
from tieproof.inputs.arrays import as_array, as_numbers, check_finite
from tieproof.inputs.identities import as_item_numbers
from tieproof.inputs.lists import as_rows
from tieproof.inputs.neighbor_lists import NOTHING, as_ids, as_list_lengths, as_returned
from tieproof.inputs.options import check_whole, one_or_several
from tieproof.ties import Array, BoolArray, IntArray


def as_found(ids: Any, distances: Any, n_items: int | None) -> FoundLists:
    """Return the lists that an index found, checked, with the id -1 where it found nothing or the distance is NaN."""
    ids, distances = _as_matrices(ids, distances)
    with about("found"):
        items = _as_found_ids(ids, "found ids")
    numbers = None
    if distances is not None:
        with about("distances"):
            numbers = as_numbers(_even(distances, "found distances", np.float32, np.nan), "found distances")
            _check_beside(numbers, items, "found")
        items = np.where(np.isnan(numbers), NOTHING, items)
    with about("found"):
        advice = ". Pass ids of at least 0, and -1 where nothing was found."
        _refuse_first(items < NOTHING, items, "found ids", advice)
        _check_within(items, n_items, "found ids")
    return FoundLists(items, numbers)


def _as_matrices(found: Any, distances: Any) -> tuple[Any, Any]:
    """Return ids and distances of all queries; anything but answers of these libraries is returned as it is."""
    with about("found"), calling(dict.fromkeys(("ids", "distances", "scores", "counts"), "found")):
        returned = as_returned(found, distances, None, None)
        if returned.ids is found:
            return found, distances
        ids = [as_ids(row) for row in as_rows(returned.ids, "found ids")]
        numbers = list(as_rows(returned.numbers, "found distances"))
        lengths = as_list_lengths(returned.counts, np.array([len(row) for row in ids]))
    return _filled(ids, lengths, np.int64, NOTHING), _filled(numbers, lengths, np.float32, np.nan)


def _filled(rows: list[Array], lengths: IntArray, least: Any, nothing: float) -> Array:
    """Return the first entries of each list as a matrix filled up with `nothing`, in a type that holds all values."""
    some = [row[:length] for row, length in zip(rows, lengths, strict=True) if length]
    kind = np.result_type(least, *some) if some else least
    matrix = np.full((len(rows), max(1, *map(len, rows))), nothing, dtype=kind)
    for row, entries, length in zip(matrix, rows, lengths, strict=True):
        row[:length] = entries[:length]
    return matrix


def _even(rows: Any, name: str, least: Any, nothing: float) -> Any:
    """Return lists of different lengths as a matrix filled up with `nothing`; anything else unchanged."""
    rowwise = isinstance(rows, list | tuple) and all(
        hasattr(row, "__len__") and getattr(row, "ndim", 1) for row in rows
    )
    if not rowwise or len(set(map(len, rows))) < 2:
        return rows
    arrays = [as_array(row, name) for row in rows]
    return _filled(arrays, np.array([*map(len, rows)]), least, nothing) if all(a.ndim == 1 for a in arrays) else rows


def as_truth(truth: Any, n_items: int | None) -> ListedTruth:
    """Return the true nearest items and their distances, checked."""
    with about("truth"):
        if not isinstance(truth, tuple | list) or len(truth) != 2:
            advice = (
                "Ids alone do not show which items are tied; pass their distances, too, or queries= and gallery= "
            )
            if hasattr(truth, "ids") and hasattr(truth, "distances"):
                advice = "Pass (truth.ids, truth.distances), or queries= and gallery= "
            raise InputError(
                f"The truth must be a pair (ids, distances), not {type(truth).__name__}. {advice}to compute both."
            )
        ids = _as_found_ids(truth[0], "true ids")
        distances = as_numbers(_even(truth[1], "true distances", np.float32, np.nan), "true distances")
        if distances.dtype.kind == "b":
            distances = distances.astype(np.int8)
        _check_beside(distances, ids, "true")
        matches = (ids != NOTHING).sum(axis=1)
        last = np.where(matches, distances[np.arange(len(ids)), matches - 1], 0)
        # Behind the last item of a list its distance stands, so that all are finite, and the list stays sorted.
        distances = np.where(np.arange(ids.shape[1]) < matches[:, None], distances, last[:, None])
        check_finite(distances, "true distances")
        _check_true_ids(ids)
        _check_within(ids, n_items, "true ids")
        return ListedTruth(ids, distances, _is_rising(distances), n_items, matches)


def _as_found_ids(values: Any, name: str) -> IntArray:
    """Convert integers (q, n) to int64, with -1 where nothing was found."""
    array = as_array(_even(values, name, np.int64, NOTHING), name)
    check_id_lists(array, name, "Pass lists of equal length, filled up with -1.")
    return as_item_numbers(array, name)


def _refuse_first(wrong: BoolArray, ids: IntArray, name: str, advice: str) -> None:
    if wrong.any():
        query, place = np.argwhere(wrong)[0].tolist()
        raise InputError(f"The {name} of query {query} contain {ids[query, place]} at index {place}{advice}")


def _check_within(ids: IntArray, n_items: int | None, name: str) -> None:
    if n_items is not None:
        positions = f"Pass the positions of the items in the gallery, from 0 to {n_items - 1}."
        _refuse_first(ids >= n_items, ids, name, f", but there are {n_items} items. {positions}")


def _check_beside(distances: Array, ids: IntArray, which: str) -> None:
    if distances.shape != ids.shape:
        raise InputError(
            f"The {which} distances have the shape {distances.shape}, but the {which} ids have {ids.shape}. Pass one "
            "distance for each id."
        )


def _check_true_ids(ids: IntArray) -> None:
    """Refuse a truth with an item twice in a list, or with -1 before an item."""
    strange = ids < NOTHING
    strange[:, :-1] |= (ids[:, :-1] == NOTHING) & (ids[:, 1:] != NOTHING)
    advice = ". Pass ids of at least 0, and -1 only behind the last item of a list that has fewer."
    _refuse_first(strange, ids, "true ids", advice)
    twice = np.argwhere(repeated_in_rows(ids) & (ids != NOTHING))
    for query, place in twice[:1].tolist():
        raise InputError(
            f"The true ids of query {query} contain {ids[query, place]} twice. Compute the truth again, with each "
            "item once in a list."
        )


def _is_rising(distances: Array) -> bool:
    """Whether distances increase along every list; if they decrease, they are similarities."""
    rises, falls = (distances[:, 1:] > distances[:, :-1]), (distances[:, 1:] < distances[:, :-1])
    if rises.any() and falls.any():
        up, down = int(np.argmax(rises.any(axis=1))), int(np.argmax(falls.any(axis=1)))
        raise InputError(
            f"The true distances increase at some places (query {up}) and decrease at others (query {down}). Pass "
            "lists from the nearest to the farthest item: increasing distances, or decreasing similarities."
        )
    return not falls.any()


def as_cutoffs(k: Any) -> tuple[int, ...]:
    """Numbers of neighbors, one or several, each once."""
    several = one_or_several(k)
    if not several:
        raise InputError("k is missing. Pass the number of nearest neighbors, such as k=10 or k=(1, 10, 100).", "k")
    for one in several:
        check_whole("k", one)
    return tuple(dict.fromkeys(map(int, several)))
