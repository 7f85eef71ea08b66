"""`Evaluator`: embeddings that come batch by batch, from one process or several."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.arrays import Embeddings, as_array, as_embeddings, as_labels
from tieproof.categories import Average, as_categories, check_average
from tieproof.distances import DistanceFunction
from tieproof.errors import InputError
from tieproof.evaluate import evaluate
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.precision.formats import find_format
from tieproof.result import Result
from tieproof.scoring import Empty, check_empty, parse_measures
from tieproof.settings import parse_memory, parse_threads

IntArray = npt.NDArray[np.int64]


class Batch(NamedTuple):
    """Some items: arrays of equal length."""

    indices: IntArray
    embeddings: Embeddings
    labels: npt.NDArray[Any]
    categories: npt.NDArray[Any] | None


class Evaluator:
    """Collects embeddings and labels, then evaluates them leave-one-out, as `evaluate` does.

    Batches of any size in any order give the same bits. An index that is given twice counts once, as samplers
    that fill up the last batch of each process need it; given twice with different data, it is an error.

    Parameters
    ----------
    distance, measures, average, empty, memory, threads, bits, precision :
        As in `evaluate`.

    Examples
    --------
    >>> from tieproof import Evaluator
    >>> evaluator = Evaluator(measures=["AP"])
    >>> evaluator.update([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"], indices=[7, 3])
    >>> evaluator.update([[0.0, 1.0], [1.0, 0.1]], ["dog", "cat"], indices=[3, 9])
    >>> result = evaluator.compute()
    >>> result["AP"].lower, result.query_ids.tolist()
    (1.0, [7, 9])

    """

    def __init__(
        self,
        *,
        distance: str | DistanceFunction = "cosine",
        measures: Sequence[str | Measure] = DEFAULT_MEASURES,
        average: Average = "micro",
        empty: Empty = "skip",
        memory: str | int = "1GiB",
        threads: int | None = None,
        bits: int | None = None,
        precision: str | None = None,
    ) -> None:
        parse_measures(measures)
        check_average(average)
        check_empty(empty)
        parse_memory(memory)
        parse_threads(threads)
        find_format(precision)
        self._options: dict[str, Any] = {
            "distance": distance,
            "measures": measures,
            "average": average,
            "empty": empty,
            "memory": memory,
            "threads": threads,
            "bits": bits,
            "precision": precision,
        }
        self._batches: list[Batch] = []

    def __len__(self) -> int:
        """The number of items given, repeated ones included."""
        return sum(len(batch.indices) for batch in self._batches)

    def update(self, embeddings: Any, labels: Any, indices: Any = None, categories: Any = None) -> None:
        """Add a batch: embeddings (n, d), labels (n,) or (n, c), indices (n,) of the items in the whole data set.

        Without indices the items are numbered in the order of arrival, which only one process can do. Categories
        (n,), as in `evaluate`, come with every batch or with none.
        """
        vectors = as_embeddings(embeddings).copy()
        own = as_labels(labels, len(vectors), "labels", "embeddings").copy()
        kinds = as_categories(categories, len(vectors), "micro")
        numbers = self._as_indices(indices, len(vectors))
        self._add(Batch(numbers, vectors, own, None if kinds is None else kinds.copy()))

    def merge(self, other: "Evaluator") -> None:
        """Add all that `other` was given, for example in another process."""
        for batch in other._batches:
            self._add(batch)

    def reset(self) -> None:
        """Forget all items."""
        self._batches = []

    def compute(self) -> Result:
        """Evaluate all items; `query_ids` are their indices."""
        if not self._batches:
            raise InputError("There is nothing to evaluate: call update(embeddings, labels) first.")
        columns = {
            name: np.concatenate(parts)
            for name, parts in zip(Batch._fields, zip(*self._batches, strict=True), strict=True)
            if parts[0] is not None
        }
        indices = columns.pop("indices")
        order = np.argsort(indices, kind="stable")
        distinct, first, place = np.unique(indices[order], return_index=True, return_inverse=True)
        first = order[first]
        repeated = np.flatnonzero(first[place] != order)
        for name, values in columns.items():
            again, before = values[order[repeated]], values[first[place[repeated]]]
            differs = (again != before).any(axis=tuple(range(1, again.ndim)))
            if differs.any():
                index = indices[order[repeated[np.argmax(differs)]]]
                raise InputError(
                    f"Index {index} was given twice, with different {name}. Pass as indices the positions of the "
                    "items in the whole data set, and compute embeddings with the model in evaluation mode."
                )
        chosen: dict[str, Any] = {name: values[first] for name, values in columns.items()}
        return evaluate(**chosen, **self._options).named(distinct)

    def _add(self, batch: Batch) -> None:
        """Keep a batch if it is of the kind of those before."""
        if self._batches:
            known = self._batches[0]
            if (batch.categories is None) != (known.categories is None):
                raise InputError("Some batches came with categories and others without. Pass them with all or none.")
            for name in ("embeddings", "labels", "categories"):
                mine, theirs = getattr(batch, name), getattr(known, name)
                if mine is None:
                    continue
                same_kind = mine.dtype == theirs.dtype or (
                    name != "embeddings" and mine.dtype.kind == theirs.dtype.kind
                )
                if not same_kind or mine.shape[1:] != theirs.shape[1:]:
                    raise InputError(
                        f"The {name} of this batch have the shape {mine.shape} and type {mine.dtype.name}, and those "
                        f"before {theirs.shape} and {theirs.dtype.name}. All batches must agree but for their length."
                    )
        self._batches.append(batch)

    def _as_indices(self, indices: Any, count: int) -> IntArray:
        """The indices of a batch."""
        if indices is None:
            return np.arange(len(self), len(self) + count)
        array = as_array(indices, "indices")
        if array.shape != (count,) or array.dtype.kind not in "iu":
            raise InputError(
                f"The indices must be {count} integers, one for each embedding, and arrived with the shape "
                f"{array.shape} and type {array.dtype.name}."
            )
        return array.astype(np.int64)
