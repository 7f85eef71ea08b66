"""Labels, groups and relevance as people pass them, checked against the embeddings and each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError, about, warn
from tieproof.inputs.arrays import (
    Embeddings,
    as_labels,
    type_name,
)
from tieproof.inputs.lookalikes import warn_of_queries_in_gallery
from tieproof.inputs.relevance import (
    Judgments,
    Labels,
    MultiLabels,
    Relevance,
    checked_pairs,
)


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
    relevance: Relevance
    if triples is not None:
        with about("relevance"):
            relevance = Judgments(triples, len(queries), len(items), gallery is None)
    else:
        relevance = from_labels(labels, gallery_labels, len(queries), None if gallery is None else len(gallery))
    of_queries, of_items = groups
    if of_queries is not None:
        with about("groups", "embeddings"):
            own = as_labels(of_queries, len(queries), "groups", "queries", columns=False)
        if gallery is None:
            relevance.groups = (own, own)
        elif of_items is None:
            raise InputError("groups were passed without gallery_groups. Pass both, or neither.", "gallery_groups")
        else:
            with about("gallery_groups", "gallery"):
                others = as_labels(of_items, len(items), "gallery_groups", "gallery items", columns=False)
            with about(("groups", "gallery_groups")):
                check_types(own, others, "groups", "gallery_groups")
            relevance.groups = (own, others)
    elif of_items is not None:
        raise InputError("gallery_groups were passed without groups. Pass both, or neither.", "groups")
    if exclude is not None:
        with about("exclude"):
            query, item = checked_pairs(exclude, len(queries), len(items), "exclude pairs")
        relevance.excluded_pairs = np.unique(query * len(items) + item)
    warn_of_queries_in_gallery(queries, gallery, relevance)
    return relevance


def from_labels(
    labels: Any,
    gallery_labels: Any,
    n_queries: int,
    n_items: int | None,
    counted: tuple[str, str] = ("embeddings", "gallery"),
) -> Relevance:
    """Relevance by one label each, or by columns of labels; `counted` are the arguments that have the items."""
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
        return MultiLabels(own, others)
    if others is not None:
        with about(("labels", "gallery_labels")):
            check_types(own, others, "query labels", "gallery labels")
    return Labels(own, others)


def check_types(own: npt.NDArray[Any], others: npt.NDArray[Any], name: str, other_name: str) -> None:
    """Refuse labels that are never equal since their types differ."""
    if own.dtype.kind != others.dtype.kind:
        raise InputError(
            f"The {name} are {type_name(own.dtype)} and the {other_name} {type_name(others.dtype)}: labels of "
            "different types are never equal. Convert both to integers or both to strings."
        )
