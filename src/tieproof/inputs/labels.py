"""Reads and checks labels and groups, one for each item or as columns, and the strings of all inputs."""

import math
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tieproof.errors import InputError, about, warn
from tieproof.inputs.arrays import SCALARS, as_array, check_count, is_bfloat16, is_tensor, type_name
from tieproof.inputs.identities import exact_below, is_column_of_classes, not_whole, stored_type
from tieproof.ties import Array

Text = TypeVar("Text", str, bytes)

JOIN = "Join them into one dimension, for example with torch.cat or numpy.concatenate."  # for labels that are batches
MOST_BYTES = 2**30  # the bytes that any array of strings may take
MOST_WASTE = 16  # a larger array may take at most so many times the space of its letters

INTEGERS = (bool, int, np.bool_, np.integer)

LABEL_TYPES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((float, np.floating, *INTEGERS), "f"),
    ((str,), "U"),
    ((bytes,), "S"),
)
"""The types of objects other than integers that can be labels together, and the kind of a NumPy array of them."""


def checked_labels(
    labels: Any,
    gallery_labels: Any,
    n_queries: int,
    n_items: int | None,
    counted: tuple[str, str] = ("embeddings", "gallery"),
) -> tuple[Array, Array | None]:
    """Return the checked labels of queries and items; `counted` names the arguments that contain the items."""
    name = "labels" if n_items is None else "query labels"
    with about("labels", counted[0]):
        own = as_labels(labels, n_queries, name, "embeddings" if n_items is None else "queries")
    of_gallery = None
    if n_items is not None:
        if gallery_labels is None:
            raise InputError(
                "A gallery was passed without gallery_labels. Pass one label for each gallery item.", "gallery_labels"
            )
        with about("gallery_labels", counted[1]):
            of_gallery = as_labels(gallery_labels, n_items, "gallery labels", "gallery items")
        if own.ndim != of_gallery.ndim or own.shape[1:] != of_gallery.shape[1:]:
            raise InputError(
                f"The query labels have the shape {own.shape}, but the gallery labels have {of_gallery.shape}. Pass "
                "one label each, or the same number of columns (a single column of only 0 and 1 counts as columns).",
                ("labels", "gallery_labels"),
            )
    if own.shape[1:] == (1,):
        warn(
            f"The {name} are one column of 0/1, so that items with 0 belong to no class. If 0 and 1 are two classes, "
            "pass the labels in one dimension, for example with .ravel()."
        )
    if own.ndim == 1 and of_gallery is not None:
        with about(("labels", "gallery_labels")):
            check_types(own, of_gallery, "query labels", "gallery labels")
    return own, of_gallery


def checked_groups(of_queries: Any, of_items: Any, n_queries: int, n_items: int | None) -> tuple[Array, Array] | None:
    """Return the checked groups of the queries and of the items; without a gallery both are the same."""
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
        of_gallery = as_labels(of_items, n_items, "gallery_groups", "gallery items", columns=False)
    with about(("groups", "gallery_groups")):
        check_types(own, of_gallery, "groups", "gallery_groups")
    return own, of_gallery


def check_types(labels: Array, other: Array, name: str, other_name: str) -> None:
    """Refuse labels of different types, which are never equal."""
    if labels.dtype.kind != other.dtype.kind:
        raise InputError(
            f"The {name} are {type_name(labels.dtype)}, but the {other_name} are {type_name(other.dtype)}: labels of "
            "different types are never equal. Convert both to integers or both to strings."
        )


def as_labels(values: Any, count: int, name: str, items: str, columns: bool = True) -> Array:
    """Return `count` labels: integers or strings (count,) or, if `columns` may be, 0/1 of shape (count, classes)."""
    array = as_label_rows(values, count, name, items, columns)
    if array.shape[1:] == (1,) and not (columns and is_column_of_classes(array)):
        return array.ravel()
    if array.ndim == 2 and not (array.dtype.kind == "i" and np.isin(array, (0, 1)).all()):
        raise InputError(
            f"The {name} have the shape {array.shape}: two dimensions mean one 0/1 column per class, but they "
            "contain other values. Pass one label per item in one dimension."
        )
    return array


def as_label_rows(values: Any, count: int, name: str, items: str, columns: bool = True) -> Array:
    """Return labels of shape (count,) or (count, columns), without checking that columns contain only 0 and 1."""
    array = as_label_array(values, name)
    if array.ndim == 2 and array.shape[0] == 1 != count:
        array = array.ravel()
    if array.ndim == 2 and array.size == count != len(array):
        raise InputError(f"The {name} are {len(array)} rows of {array.shape[1]}, which are probably batches. {JOIN}")
    if array.ndim not in (1, 2) or (array.ndim == 2 and not columns and array.shape[1] != 1):
        shapes = "(items,) or (items, classes)" if columns else "(items,)"
        raise InputError(f"The {name} must have the shape {shapes}, not {array.shape}. Reshape them.")
    check_count(len(array), name, count, items)
    return array


def as_label_array(values: Any, name: str) -> Array:
    """Return labels of any shape as int64 (uint64 if necessary), str or bytes."""
    if isinstance(values, list | tuple | range):
        # As objects, because NumPy would turn integers among strings into strings, and large integers into floats.
        array = as_array(np.array(with_labels(values, name), dtype=object), name)
    else:
        array = as_array(values, name)
        if array.dtype.kind == "T":  # strings of any length, numpy.dtypes.StringDType
            array = array.astype(object)
    limit: Any = None
    if array.dtype.kind == "O":
        # Floats of different types have different sizes from which they may have been rounded.
        kinds = {type(each) for each in array.flat}
        stored_as = {kind: np.dtype(kind).name if issubclass(kind, np.floating) else "float64" for kind in kinds}
        limits = {kind: exact_below(name) for kind, name in stored_as.items()}
        limit = np.array([limits[type(each)] for each in array.flat], np.int64).reshape(array.shape)
        array = from_objects(array, name)
    if array.dtype.kind == "f" or is_bfloat16(array):
        stored = stored_type(values, array)
        if is_bfloat16(array):
            array = array.astype(np.float32)
        check_unrounded(array, exact_below(stored) if limit is None else limit, name)
        return array.astype(np.int64)
    if array.dtype.kind not in "iubUS":
        raise InputError(f"The {name} must be integers or strings, not {type_name(array.dtype)}.")
    if array.dtype.kind in "iub":
        return array.astype(np.uint64 if array.dtype.kind == "u" and array.max(initial=0) >= 2**63 else np.int64)
    return array


def with_labels(values: Any, name: str) -> list[Any]:
    """Return labels as a list; arrays and tensors in it become lists, and are checked in their own type."""
    if all(issubclass(kind, SCALARS) for kind in set(map(type, values))):
        return list(values)

    def labels_of(each: Any, place: int) -> Any:
        if isinstance(each, list | tuple):
            return with_labels(each, name)
        is_array = isinstance(each, np.ndarray) or is_tensor(each)
        return as_label_array(each, f"{name} at [{place}]").tolist() if is_array else each

    return [labels_of(each, place) for place, each in enumerate(values)]


def check_unrounded(array: Array, limit: Any, name: str) -> None:
    """Refuse floats as labels if they are not whole numbers, or so large that they may have been rounded."""
    wrong = not_whole(array, limit)
    if not wrong.any():
        return
    place = tuple(np.argwhere(wrong)[0].tolist())
    value, row = array[place], f"row {place[0]}" if place else "the array"
    if np.isfinite(value) and value == np.trunc(value):
        below = np.broadcast_to(limit, array.shape)[place]
        raise InputError(
            f"The {name} are floats that represent every integer only below {below}, but {row} contains {value}, "
            "which may have been rounded. Pass the original integers, or strings."
        )
    raise InputError(
        f"The {name} must be integers or strings, but {row} contains {value}. Give every item a whole number or a "
        "string; give an item without a class a label of its own."
    )


def from_objects(objects: Any, name: str) -> Array:
    """Convert objects that are all numbers, all strings or all bytes to an array of that type."""
    array = np.asarray(objects, dtype=object)
    values = array.ravel().tolist()
    if not values:
        return np.empty(array.shape, np.int64)
    if all(isinstance(value, INTEGERS) for value in values):
        kind = integer_type(min(values), max(values), name)
        return np.array(values, kind).reshape(array.shape)
    for types, letter in LABEL_TYPES:
        if all(isinstance(value, types) for value in values):
            if letter in "US":
                check_widths(values, f"The {name}")
                if any(value[-1:] in ("\0", b"\0") for value in values):
                    raise InputError(
                        f"The {name} contain a string that ends in a NUL character, which NumPy drops. Rename it."
                    )
            labels = np.array(values).reshape(array.shape)
            if labels.dtype.kind == letter:
                return labels
    if all(isinstance(value, list) for value in values):
        raise InputError(f"The {name} are lists of different lengths, which are probably batches. {JOIN}")
    for at, value in enumerate(values if array.ndim else ()):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            row = at // (len(values) // len(array))
            raise InputError(
                f"The {name} must be all integers or all strings, but row {row} is {value}. Leave out rows without "
                "one."
            )
    kinds = sorted({type(value).__name__ for value in values})
    raise InputError(
        f"The {name} must be all integers or all strings, but contain {', '.join(kinds)}. Convert them first."
    )


def integer_type(least: int, most: int, name: str) -> type[np.int64 | np.uint64]:
    """Return the type of labels that are integers from the least to the most; 64 bits must be enough."""
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return kind
    raise InputError(
        f"The {name} contain integers from {least} to {most}, which do not fit into one type of at most 64 bits. "
        "Number the labels from 0, or pass strings."
    )


def check_widths(strings: Sequence[Text], owner: str) -> None:
    """Refuse strings whose array would be far larger than the strings because one of them is very long."""
    if not strings:
        return
    lengths = [len(string) for string in strings]
    longest, width = max(lengths), 1 if isinstance(strings[0], bytes) else 4
    needed = len(lengths) * longest * width
    if needed > MOST_BYTES and needed > MOST_WASTE * sum(lengths) * width:
        raise InputError(
            f"{owner} contain a string of {longest:,} characters at [{lengths.index(longest)}] among "
            f"{len(lengths):,} strings, and would take {needed / 2**30:.1f} GiB, because every string takes the "
            "space of the longest; shorten it."
        )


def check_code_points(array: Array, owner: str) -> None:
    """Refuse an array of strings that contains invalid code points, which Python cannot print."""
    letters = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).view(np.uint32)
    wrong = np.flatnonzero(letters > sys.maxunicode)
    if wrong.size:
        at = int(wrong[0]) * 4 // array.dtype.itemsize
        raise InputError(
            f"{owner} contain bytes at [{at}] that are not Unicode characters; the strings are damaged: write them "
            "again."
        )
