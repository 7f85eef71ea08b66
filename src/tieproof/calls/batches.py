"""`Evaluator`: embeddings that come batch by batch, from one process or several."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.calls.embeddings import evaluate
from tieproof.calls.problems import as_budget
from tieproof.calls.scoring import Empty, check_empty, parse_measures
from tieproof.distances import DistanceFunction, our_name
from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_array, as_embeddings, type_name
from tieproof.inputs.categories import Average, as_categories, check_average
from tieproof.inputs.formats import find_format
from tieproof.inputs.identities import as_int64
from tieproof.inputs.labels import as_label_rows, as_labels
from tieproof.inputs.mapped import unchanged_files
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.results.results import Result
from tieproof.ties import Array, IntArray

SideName = Literal["queries", "gallery"]
SIDES = ("queries", "gallery")


class Batch(NamedTuple):
    """Some items: arrays of equal length."""

    indices: IntArray
    embeddings: Embeddings
    labels: Array
    categories: Array | None


class Evaluator:
    """Collects embeddings and labels, then evaluates them as `evaluate` does: leave-one-out, or queries in a gallery.

    Batches of any size in any order give the same bits. An index that is given twice counts once, as samplers
    that fill up the last batch of each process need it; given twice with different data, it is an error. Queries and
    gallery are numbered each by itself: index 3 of one is another item than index 3 of the other.

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

    With a gallery:

    >>> evaluator.reset()
    >>> evaluator.update([[0.0, 2.0], [3.0, 1.0]], ["dog", "cat"], side="gallery")
    >>> evaluator.update([[1.0, 0.0]], ["cat"], side="queries")
    >>> evaluator.compute()["AP"].lower
    1.0

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
        if isinstance(distance, str):
            our_name(distance)
        parse_measures(measures)
        check_average(average)
        check_empty(empty)
        as_budget(memory, threads)
        if precision is not None:
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
        self._batches: dict[SideName | None, list[Batch]] = {}

    def __len__(self) -> int:
        """The number of items given, repeated ones and both sides included."""
        return sum(map(self._count, self._batches))

    @unchanged_files
    def update(
        self,
        embeddings: Any,
        labels: Any,
        indices: Any = None,
        categories: Any = None,
        *,
        side: SideName | None = None,
    ) -> None:
        """Add a batch.

        Parameters
        ----------
        embeddings : (n, d)
        labels : (n,) or (n, c)
        indices : (n,) integers
            The place of each item in the whole data set, or in the side that it belongs to. Without them the items
            are numbered in the order of arrival, which only one process can do.
        categories : (n,)
            As in `evaluate`, those of queries: with every batch of them, or with none.
        side : "queries" or "gallery"
            Which of the two the items are; in leave-one-out they are both, and no batch has a side.

        Raises
        ------
        InputError
            Wrong shapes or types, or other ones than those of the batches before; batches with and without a side.

        """
        if side is not None and side not in SIDES:
            raise InputError(f"Unknown side={side!r}. Known: {', '.join(SIDES)}; leave it out for leave-one-out.")
        if side == "gallery" and categories is not None:
            raise InputError("Categories are those of queries. Leave them out where side='gallery'.")
        vectors = as_embeddings(embeddings).copy()
        own = self._as_labels(labels, len(vectors))
        kinds = as_categories(categories, len(vectors), "micro")
        numbers = self._as_indices(indices, len(vectors), side)
        self._add(Batch(numbers, vectors, own, None if kinds is None else kinds.copy()), side)

    def merge(self, other: "Evaluator") -> None:
        """Add all that `other` was given, for example in another process."""
        given = [(batch, side) for side, batches in other._batches.items() for batch in batches]
        for batch, side in given:
            self._add(batch, side)

    def reset(self) -> None:
        """Forget all items."""
        self._batches = {}

    def compute(self) -> Result:
        """Evaluate all items; `query_ids` are the indices of the queries."""
        if not self._batches:
            raise InputError("There is nothing to evaluate: call update(embeddings, labels) first.")
        with_gallery = None not in self._batches
        queries = self.items("queries" if with_gallery else None)
        options = dict(self._options)
        if with_gallery:
            gallery = self.items("gallery")
            options |= {"gallery": gallery.embeddings, "gallery_labels": gallery.labels}
        found = evaluate(queries.embeddings, queries.labels, categories=queries.categories, **options)
        return found.named(queries.indices)

    def items(self, side: SideName | None = None) -> Batch:
        """All items that were given, or those of a side, each once, in the order of their indices."""
        batches = self._batches.get(side)
        if not batches:
            wanted = "update(embeddings, labels" + (")" if side is None else f", side={side!r})")
            raise InputError(f"There is nothing to evaluate{f' as {side}' if side else ''}: call {wanted} first.")
        columns = {
            name: np.concatenate(parts)
            for name, parts in zip(Batch._fields, zip(*batches, strict=True), strict=True)
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
                    f"Index {index} was given twice{f' among the {side}' if side else ''}, with different {name}. "
                    "Pass as indices the positions of the items in the whole data set, and compute embeddings with "
                    "the model in evaluation mode."
                )
        chosen = {name: values[first] for name, values in columns.items()}
        return Batch(distinct, chosen["embeddings"], chosen["labels"], chosen.get("categories"))

    def _count(self, side: SideName | None) -> int:
        """The number of items given for a side."""
        return sum(len(batch.indices) for batch in self._batches.get(side, ()))

    def _add(self, batch: Batch, side: SideName | None) -> None:
        """Keep a batch if it is of the kind of those before."""
        if any((side is None) != (known is None) for known in self._batches):
            raise InputError(
                "Some batches came with a side and others without. Pass side='queries' or side='gallery' with each, "
                "or no side with any, for leave-one-out."
            )
        if self._batches.get(side):
            known = self._batches[side][0]
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
                        f"The {name} of this batch have the shape {mine.shape} and type {type_name(mine.dtype)}, and "
                        f"those before {theirs.shape} and {type_name(theirs.dtype)}. All batches "
                        "must agree but for their length."
                    )
        self._batches.setdefault(side, []).append(batch)

    def _as_labels(self, labels: Any, count: int) -> Array:
        """The labels of a batch; whether a single column holds classes is for all batches together to say."""
        own = as_label_rows(labels, count, "labels", "embeddings")
        return own.copy() if own.shape[1:] == (1,) else as_labels(own, count, "labels", "embeddings").copy()

    def _as_indices(self, indices: Any, count: int, side: SideName | None) -> IntArray:
        """The indices of a batch."""
        if indices is None:
            before = self._count(side)
            return np.arange(before, before + count)
        array = as_array(indices, "indices")
        if array.shape != (count,) or array.dtype.kind not in "iu":
            raise InputError(
                f"The indices must be {count} integers, one for each embedding, and arrived with the shape "
                f"{array.shape} and type {type_name(array.dtype)}."
            )
        return as_int64(array, "indices")
