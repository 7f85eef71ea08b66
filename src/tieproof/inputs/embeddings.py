"""Labels, groups and relevance as people pass them, checked against the embeddings and each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError, about, warn
from tieproof.inputs.arrays import Embeddings, as_array, as_labels, type_name
from tieproof.inputs.identities import exact_below, not_whole, stored_type
from tieproof.inputs.lookalikes import warn_of_queries_in_gallery
from tieproof.inputs.relevance import NOTHING, Excluded, Judgments, Labels, MultiLabels, Relevance, Triples
from tieproof.inputs.rounded_integers import is_rounded
from tieproof.ties import FloatArray, IntArray


def make_relevance(
    queries: Embeddings,
    gallery: Embeddings | None,
    labels: Any,
    gallery_labels: Any,
    triples: Any,
    groups: tuple[Any, Any],
    exclude: Any,
) -> Relevance:
    """Who is relevant to whom, from labels or triples, and who is excluded."""
    items = queries if gallery is None else gallery
    if (labels is None) == (triples is None):
        raise InputError("Pass either labels or relevance=, so that relevant items are known.")
    for name, values in (("gallery_labels", gallery_labels), ("gallery_groups", groups[1])):
        if gallery is None and values is not None:
            raise InputError(f"{name} were passed without a gallery. Pass gallery= too, or leave them out.", name)
    if triples is not None:
        with about("relevance"):
            named = checked_triples(triples, len(queries), len(items), gallery is None)
    else:
        own, others = checked_labels(labels, gallery_labels, len(queries), None if gallery is None else len(gallery))
    excluded = Excluded(
        checked_groups(*groups, len(queries), None if gallery is None else len(gallery)),
        checked_exclusions(exclude, len(queries), len(items)),
    )
    relevance = (
        by_labels(own, others, excluded)
        if triples is None
        else Judgments.of(named, len(queries), len(items), gallery is None, excluded)
    )
    warn_of_queries_in_gallery(queries, gallery, relevance)
    return relevance


def checked_groups(
    of_queries: Any, of_items: Any, n_queries: int, n_items: int | None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """The groups of the queries and of the items; those of both at once where there is no gallery."""
    if of_queries is None:
        if of_items is not None:
            raise InputError("gallery_groups were passed without groups. Pass both, or neither.", "groups")
        return None
    with about("groups", "embeddings"):
        own = as_labels(of_queries, n_queries, "groups", "queries", columns=False)
    if n_items is None:
        return own, own
    if of_items is None:
        raise InputError("groups were passed without gallery_groups. Pass both, or neither.", "gallery_groups")
    with about("gallery_groups", "gallery"):
        others = as_labels(of_items, n_items, "gallery_groups", "gallery items", columns=False)
    with about(("groups", "gallery_groups")):
        check_types(own, others, "groups", "gallery_groups")
    return own, others


def checked_exclusions(exclude: Any, n_queries: int, n_items: int) -> IntArray | None:
    """The pairs of `Excluded`."""
    if exclude is None:
        return None
    with about("exclude"):
        query, item = checked_pairs(exclude, n_queries, n_items, "exclude pairs")
    return np.unique(query * n_items + item)


def by_labels(own: npt.NDArray[Any], others: npt.NDArray[Any] | None, excluded: Excluded = NOTHING) -> Relevance:
    """Relevance by checked labels: one each, or columns."""
    return MultiLabels.of(own, others, excluded) if own.ndim == 2 else Labels.of(own, others, excluded)


def checked_labels(
    labels: Any,
    gallery_labels: Any,
    n_queries: int,
    n_items: int | None,
    counted: tuple[str, str] = ("embeddings", "gallery"),
) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """The labels of queries and of items: one each, or columns; `counted` are the arguments that have the items."""
    name = "labels" if n_items is None else "query labels"
    with about("labels", counted[0]):
        own = as_labels(labels, n_queries, name, "embeddings" if n_items is None else "queries")
    if n_items is None:
        others = None
    elif gallery_labels is None:
        raise InputError(
            "A gallery was passed without gallery_labels. Pass one label for each gallery item.", "gallery_labels"
        )
    else:
        with about("gallery_labels", counted[1]):
            others = as_labels(gallery_labels, n_items, "gallery labels", "gallery items")
        if own.ndim != others.ndim or own.shape[1:] != others.shape[1:]:
            raise InputError(
                f"The query labels have the shape {own.shape} and the gallery labels {others.shape}. Both must be "
                "one label each, or the same number of columns; one column that holds only 0 and 1 is a column.",
                ("labels", "gallery_labels"),
            )
    if own.ndim == 2:
        if own.shape[1] == 1:
            warn(
                f"The {name} are one column of 0/1: items with 0 belong to no class. If 0 and 1 are two classes, "
                "give them in one dimension, for example with .ravel()."
            )
    elif others is not None:
        with about(("labels", "gallery_labels")):
            check_types(own, others, "query labels", "gallery labels")
    return own, others


def check_types(own: npt.NDArray[Any], others: npt.NDArray[Any], name: str, other_name: str) -> None:
    """Refuse labels that are never equal since their types differ."""
    if own.dtype.kind != others.dtype.kind:
        raise InputError(
            f"The {name} are {type_name(own.dtype)} and the {other_name} {type_name(others.dtype)}: labels of "
            "different types are never equal. Convert both to integers or both to strings."
        )


def checked_triples(triples: Any, n_queries: int, n_items: int, leave_one_out: bool) -> Triples:
    """Query, item and grade of each triple; refused by the first that is wrong."""
    array = as_array(triples, "relevance")
    if array.ndim != 2 or array.shape[1] not in (2, 3) or array.dtype.kind not in "iuf":
        raise InputError(
            f"The relevance must be rows (query, item) or (query, item, grade) of numbers, and arrived with the "
            f"shape {array.shape} and type {type_name(array.dtype)}."
        )
    grade = as_grades(array[:, 2]) if array.shape[1] == 3 else np.ones(len(array))
    if not np.isfinite(grade).all():
        row = int(np.argmin(np.isfinite(grade)))
        raise InputError(f"The relevance must have finite grades, and row {row} holds {grade[row]}.")
    query, item = checked_pairs(array[:, :2], n_queries, n_items, "relevance", stored_type(triples, array))
    if leave_one_out and (query == item).any():
        row = int(np.argmax(query == item))
        raise InputError(
            f"The relevance row {row} names item {item[row]} for itself. In leave-one-out the query itself is "
            "never ranked; leave such rows out."
        )
    code = query * n_items + item
    if len(np.unique(code)) < len(code):
        _, index, counts = np.unique(code, return_index=True, return_counts=True)
        row = int(index[np.argmax(counts > 1)])
        raise InputError(
            f"The relevance names item {item[row]} twice for query {query[row]}. Keep one row for each pair."
        )
    return Triples(query, item, grade)


def as_grades(grades: npt.NDArray[Any]) -> FloatArray:
    """Grades in float64, which must hold them."""
    if is_rounded(grades):
        raise InputError("The relevance holds a grade beyond 2^53, which float64 does not hold exactly.")
    return grades.astype(np.float64)


def checked_pairs(pairs: Any, n_queries: int, n_items: int, name: str, stored: str = "") -> tuple[IntArray, IntArray]:
    """(query, item) indices within range.

    stored : the type in which they arrived, if it is not that of `pairs`
    """
    array = as_array(pairs, name)
    if array.size == 0:
        array = np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        raise InputError(
            f"The {name} must be rows (query, item) of whole numbers, and they arrived with the shape {array.shape} "
            f"and type {type_name(array.dtype)}."
        )
    if array.dtype.kind == "f":
        check_whole(array, stored or stored_type(pairs, array), name)
    for column, limit, what in ((0, n_queries, "query"), (1, n_items, "item")):
        wrong = (array[:, column] < 0) | (array[:, column] >= limit)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"The {name} row {row} names {what} {array[row, column]:.0f}, and there are {limit}: "
                f"indices go from 0 to {limit - 1}."
            )
    return array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)


def check_whole(array: npt.NDArray[Any], stored: str, name: str) -> None:
    """Refuse floats as indices that are no whole numbers, or may have been rounded to one."""
    limit = exact_below(stored)
    wrong = not_whole(array, limit)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise InputError(
            f"The {name} must be rows (query, item) of whole numbers, in {stored} below {limit} since larger ones "
            f"may have been rounded, and row {row} holds {array[row, column]}. Pass integers."
        )
