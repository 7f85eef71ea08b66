"""`MultiVectors`: items of several vectors each, as models of late interaction return them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_finite_embeddings, as_numbers
from tieproof.inputs.relevance import ranges
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.ties import Array, BoolArray, IntArray


class MultiVectors:
    """Items of several vectors each, as models of late interaction (ColBERT, MultiVectorEncoder) return them.

    `tieproof.evaluate`, `tieproof.nearest` and `Evaluator` take them with distance="maxsim" or "meanmaxsim".

    Parameters
    ----------
    vectors : (total, d) floats, integers or bools of at most 64 bits
        The vectors of all items, item after item.
    offsets : (n + 1,) integers
        The vectors of item i are vectors[offsets[i]:offsets[i + 1]]. Every item has at least one.

    Raises
    ------
    InputError
        If an item has no vectors, if a vector contains NaN or infinity, or if shapes or types are wrong.

    Examples
    --------
    >>> import numpy as np
    >>> import tieproof as tp
    >>> items = tp.MultiVectors([[1, 0], [0, 1], [2, 2]], [0, 2, 3])
    >>> items
    MultiVectors(2 items, 3 vectors of 2 dimensions)
    >>> items[1:].vectors.tolist()
    [[2, 2]]

    """

    def __init__(self, vectors: Any, offsets: Any) -> None:
        self.vectors = as_finite_embeddings(vectors, "vectors")
        self.offsets = _checked_offsets(offsets, len(self.vectors))

    @classmethod
    def padded(cls, x: Any, mask: Any) -> "MultiVectors":
        """Return the items of a padded array, without the vectors that the mask leaves out.

        Parameters
        ----------
        x : (n, t, d)
            The vectors of n items, filled up to t vectors each.
        mask : (n, t) of 0/1 or bools
            Which of them are vectors of the item.

        Examples
        --------
        >>> import tieproof as tp
        >>> tp.MultiVectors.padded([[[1.0], [0.0]], [[2.0], [3.0]]], [[1, 0], [1, 1]]).offsets.tolist()
        [0, 1, 3]

        """
        array, kept = as_numbers(x, "padded vectors"), as_numbers(mask, "mask")
        if array.ndim != 3 or kept.shape != array.shape[:2] or not np.isin(kept, (0, 1)).all():
            raise InputError(
                "The padded vectors must have the shape (items, vectors, dimensions), and the mask the shape (items, "
                f"vectors) with only 0 and 1. The shapes are {array.shape} and {kept.shape}. Pass the attention mask "
                "of the model, or numpy.ones for items without padding."
            )
        kept = kept.astype(np.bool_)
        return cls(array[kept], np.append(0, np.cumsum(kept.sum(axis=1))))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of items, and the dimensions of their vectors."""
        return len(self), int(self.vectors.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.vectors.dtype

    @property
    def size(self) -> int:
        """The number of numbers."""
        return self.vectors.size

    @property
    def lengths(self) -> IntArray:
        """The number of vectors of each item, (n,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, items: "int | slice | IntArray") -> "MultiVectors":
        chosen = np.atleast_1d(np.arange(len(self))[items])
        length = self.lengths[chosen]
        vectors = self.vectors[ranges(self.offsets[chosen], length)[1]]
        return self.checked(vectors, np.append(0, np.cumsum(length)))

    @classmethod
    def checked(cls, vectors: Array, offsets: IntArray) -> "MultiVectors":
        """Return items that were checked before."""
        items = object.__new__(cls)
        items.vectors, items.offsets = vectors, offsets
        return items

    def astype(self, dtype: Any) -> "MultiVectors":
        """Convert the numbers to another type."""
        return self.checked(self.vectors.astype(dtype), self.offsets)

    def same_as(self, other: "MultiVectors") -> bool:
        """Whether both have the same vectors in the same order."""
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.vectors, other.vectors)

    def __repr__(self) -> str:
        return f"MultiVectors({len(self)} items, {len(self.vectors)} vectors of {self.shape[1]} dimensions)"


def _checked_offsets(values: Any, total: int) -> IntArray:
    """Return offsets as integers that rise from 0 to the number of vectors."""
    offsets = as_numbers(values, "offsets")
    if offsets.ndim != 1 or len(offsets) < 2 or offsets.dtype.kind not in "iu":
        raise InputError(
            "The offsets must be integers of the shape (items + 1,), for at least one item, not "
            f"{offsets.dtype.name} of the shape {offsets.shape}. Pass where the vectors of each item start, and "
            "their number."
        )
    offsets = offsets.astype(np.int64)
    if offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
        raise InputError(
            f"The offsets must go up from 0 to the number of vectors, {total}, and never down; they go from "
            f"{offsets[0]} to {offsets[-1]}. Pass where each item starts, and the number of all vectors last."
        )
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if len(empty):
        raise InputError(
            f"Item {empty[0]} has no vectors, so that no score is defined for it ({len(empty)} of "
            f"{len(offsets) - 1} items have none). Leave such items out, or pass a vector of zeros for each."
        )
    return offsets


def is_multi_vectors(values: Any) -> bool:
    """Whether these are items of several vectors: `MultiVectors`, or a list of arrays (t, d)."""
    if isinstance(values, MultiVectors):
        return True
    of_objects = isinstance(values, np.ndarray) and values.dtype == object and values.ndim > 0
    return (isinstance(values, list | tuple) or of_objects) and {getattr(each, "ndim", 0) for each in values} == {2}


def as_multi_vectors(values: Any, name: str) -> MultiVectors:
    """Return `MultiVectors`, or a list of arrays (t, d) as such; anything else is refused."""
    if isinstance(values, MultiVectors):
        return values
    if not is_multi_vectors(values):
        what = f"an array of the shape {tuple(values.shape)}" if hasattr(values, "shape") else type(values).__name__
        raise InputError(
            f"The {name} must be items of several vectors for distance='maxsim' and 'meanmaxsim', not {what}. Pass "
            "tp.MultiVectors(vectors, offsets), tp.MultiVectors.padded(x, mask), or a list with an array (vectors, "
            "dimensions) of each item; a file has them as `vectors` and `offsets` (.npz)."
        )
    arrays = [as_numbers(each, name) for each in values]
    kinds = sorted({(array.dtype.name, array.shape[1]) for array in arrays})
    if len(kinds) > 1:
        raise InputError(
            f"The {name} must have vectors of one type and one number of dimensions, but the items have "
            f"{' and '.join(f'{kind} of {width} dimensions' for kind, width in kinds)}. Convert them to one type; "
            "all vectors must come from the same model."
        )
    return MultiVectors(np.concatenate(arrays), np.cumsum([0, *map(len, arrays)]))


def joined(parts: Sequence[Any]) -> Any:
    """Return a copy of arrays, of sparse rows, or of items of several vectors, one after the other."""
    if isinstance(parts[0], SparseRows):
        return parts[0].followed_by(parts[1:])
    if not isinstance(parts[0], MultiVectors):
        return np.concatenate(parts)
    lengths = np.concatenate([part.lengths for part in parts])
    return MultiVectors.checked(np.concatenate([part.vectors for part in parts]), np.append(0, np.cumsum(lengths)))


def different(some: Any, others: Any) -> BoolArray:
    """Whether each row, sparse or dense, or item of several vectors, differs from the other one in its place."""
    if isinstance(some, SparseRows):
        return some.differ(others)
    if isinstance(some, MultiVectors):
        pairs = ((some[place : place + 1], others[place : place + 1]) for place in range(len(some)))
        return np.array([not one.same_as(other) for one, other in pairs], dtype=np.bool_)
    return np.asarray((some != others).any(axis=tuple(range(1, some.ndim))))
