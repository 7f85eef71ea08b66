"""Reads and checks lists of the items within a radius, which may have any lengths."""

from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.arrays import as_array, type_name
from tieproof.inputs.identities import as_int64
from tieproof.ties import Array, IntArray


class RangeLists(NamedTuple):
    """Lists of items; the items of query q are ids[lims[q]:lims[q + 1]].

    lims : (q + 1,) from 0 to the number of all ids
    ids : the items of all queries, query after query
    """

    lims: Array
    ids: Array

    def pairs(self) -> tuple[IntArray, IntArray]:
        """The query of each item, and the item."""
        lengths = np.diff(self.lims)
        return np.repeat(np.arange(len(lengths)), lengths), self.ids


def as_range_lists(values: Any, name: str) -> RangeLists:
    """The items of each query, (lims, ids).

    >>> as_range_lists(([0, 2, 2], [4, 7]), "found").pairs()[0].tolist()
    [0, 0]
    """
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InputError(
            f"The {name} lists must be a pair (lims, ids), not {type(values).__name__}. faiss returns (lims, "
            "distances, ids): pass the first and the last.",
            name,
        )
    with about(name):
        lims, ids = as_positions(values[0], name, "lims"), as_positions(values[1], name, "ids")
    if len(lims) < 2 or lims[0] != 0 or (np.diff(lims) < 0).any() or lims[-1] != len(ids):
        ends = f" from {lims[0]} to {lims[-1]}" if len(lims) else ""
        raise InputError(
            f"The {name} lims must increase from 0 to the number of ids, which is {len(ids)}, but are {len(lims)} "
            f"numbers{ends}. Pass one more number than there are queries.",
            name,
        )
    if (ids < 0).any():
        raise InputError(
            f"The {name} ids contain {ids.min()}, but must be at least 0. Leave out padding: a list contains only "
            "the items within the radius.",
            name,
        )
    return RangeLists(lims, ids)


def as_positions(values: Any, name: str, what: str) -> IntArray:
    """Integers of one dimension; an empty list has any type."""
    array = as_array(values, f"{name} {what}")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputError(
            f"The {name} {what} must be integers in one dimension, but are {type_name(array.dtype)} of the shape "
            f"{array.shape}.",
            name,
        )
    return as_int64(array if array.size else array.astype(np.int64), f"{name} {what}")
