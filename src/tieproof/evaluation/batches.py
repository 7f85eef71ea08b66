"""`Evaluator`: evaluation of embeddings that arrive batch by batch, from one process or several."""

import sys
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.distances import DistanceFunction, DistanceName, our_name
from tieproof.errors import InputError, warn
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.problems import as_budget
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import Empty, check_empty, parse_measures
from tieproof.inputs import arrays
from tieproof.inputs.arrays import Embeddings, type_name
from tieproof.inputs.categories import AVERAGES, Average, as_categories
from tieproof.inputs.identities import as_int64
from tieproof.inputs.labels import as_label_rows, as_labels
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.multi_vectors import as_multi_vectors, different, is_multi_vectors, joined
from tieproof.inputs.options import Precision, check_choice, find_format
from tieproof.inputs.sparse_forms import as_sparse, is_sparse
from tieproof.measures import DEFAULT_MEASURES, Measure
from tieproof.show.parts import count
from tieproof.ties import Array, IntArray

SideName = Literal["queries", "gallery"]
SIDES = ("queries", "gallery")


class CollectedBatch(NamedTuple):
    """A batch of items; all arrays have the same length."""

    indices: IntArray
    embeddings: Embeddings
    labels: Array
    categories: Array | None


class Evaluator:
    """Collect embeddings and labels batch by batch, then evaluate them as `evaluate` does, with or without a gallery.

    Batches of any size in any order give the same bits. An item whose index is given twice counts once, because
    samplers repeat items to fill up the last batch of each process; the same index with different data is an error.
    Queries and gallery are numbered separately: index 3 of the queries is not index 3 of the gallery.

    Parameters
    ----------
    distance, measures, average, empty, memory, threads, bits, precision :
        As in `evaluate`.
    noise : number or str
        As in `evaluate`, which also takes embeddings computed again.

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
        distance: DistanceName | str | DistanceFunction = "cosine",
        measures: Sequence[str | Measure] = DEFAULT_MEASURES,
        average: Average = "micro",
        empty: Empty = "skip",
        memory: str | int = "1GiB",
        threads: int | None = None,
        bits: int | None = None,
        precision: Precision | str | None = None,
        noise: float | str | None = None,
    ) -> None:
        options = {**locals()}  # all that `evaluate` is given
        del options["self"]
        if isinstance(distance, str):
            our_name(distance)
        parse_measures(measures)
        check_choice("average", average, AVERAGES)
        check_empty(empty)
        as_budget(memory, threads)
        if precision is not None:
            find_format(precision)
        if noise is not None and not isinstance(noise, Real | str):
            raise InputError(
                f"noise must be a number or a name for an Evaluator, not {type(noise).__name__}: items computed "
                "again do not come batch by batch. Pass both arrays to evaluate.",
                "noise",
            )
        self._options: dict[str, Any] = options
        self.reset()

    def __len__(self) -> int:
        """Return the number of items given on both sides, counting repeated ones each time."""
        return sum(map(self._count, self._batches))

    def __repr__(self) -> str:
        """Return a short text: how many items were given, and in how many batches."""
        items, batches = count(len(self), "item"), sum(map(len, self._batches.values()))
        return f"<Evaluator: {items} in {batches:,} {'batch' if batches == 1 else 'batches'}>"

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
        embeddings : (n, d), sparse rows, or items of several vectors, as in `evaluate`
        labels : (n,) or (n, c)
        indices : (n,) integers
            The position of each item in the whole data set, or among the items of its side. Without indices the
            items are numbered in the order of arrival, which works only in a single process.
        categories : (n,)
            The categories of queries, as in `evaluate`; pass them with every batch of queries, or with none.
        side : "queries" or "gallery"
            The side of the items. Leave it out for leave-one-out, where every item is on both sides.

        Raises
        ------
        InputError
            If shapes or types are wrong, or differ from those of earlier batches, if only some batches have a side,
            or if an embedding contains NaN or infinity; the message says which batch, counted from 0.

        """
        if side is not None and (not isinstance(side, str) or side not in SIDES):
            raise InputError(f"Unknown side={side!r}. Known: {', '.join(SIDES)}; leave it out for leave-one-out.")
        if side == "gallery" and categories is not None:
            raise InputError("Only queries have categories. Leave them out where side='gallery'.")
        name = f"embeddings of batch {sum(map(len, self._batches.values()))}"
        if is_multi_vectors(embeddings):
            vectors = joined([as_multi_vectors(embeddings, name)])
        elif is_sparse(embeddings):
            vectors = _kept(embeddings, name)
        else:
            vectors = arrays.as_finite_embeddings(embeddings, name).copy()
        own = as_label_rows(labels, len(vectors), "labels", "embeddings")
        if own.shape[1:] != (1,):  # a single column is kept as it is until all batches are known
            own = as_labels(own, len(vectors), "labels", "embeddings")
        kinds = as_categories(categories, len(vectors), "micro")
        numbers = self._as_indices(indices, len(vectors), side)
        self._add(CollectedBatch(numbers, vectors, own.copy(), None if kinds is None else kinds.copy()), side)

    def merge(self, other: "Evaluator") -> None:
        """Add all batches of another evaluator, for example of another process."""
        given = [(batch, side) for side, batches in other._batches.items() for batch in batches]
        for batch, side in given:
            self._add(batch, side)
        self._merged = True

    def reset(self) -> None:
        """Forget all items."""
        self._batches: dict[SideName | None, list[CollectedBatch]] = {}
        self._merged = False  # whether items of other evaluators were added

    def __call__(self, embeddings: Any, labels: Any, indices: Any = None, categories: Any = None) -> Result:
        """Add a batch without a gallery, and return the result of this batch alone, as a metric of torchmetrics does.

        >>> Evaluator(measures=["AP"])([[1.0, 0.0], [0.0, 1.0]], ["cat", "cat"])["AP"].lower
        1.0
        """
        alone = Evaluator(**self._options)
        alone.update(embeddings, labels, indices, categories)
        self.update(embeddings, labels, indices, categories)
        return alone._evaluated()

    def compute(self) -> Result:
        """Evaluate all items; `query_ids` are the indices of the queries.

        Warns
        -----
        InputWarning
            If torch.distributed has several processes, and no evaluator was merged into this one: each process then
            has a result of its own items.

        """
        if not self._merged and (processes := _processes()) > 1:
            warn(
                f"This result is that of the {count(len(self), 'item')} of this process alone, but torch.distributed "
                f"has {processes} processes. Join the evaluators of all processes by merge() before compute(), "
                "unless this process was given all items."
            )
        return self._evaluated()

    def _evaluated(self) -> Result:
        if not self._batches:
            raise InputError("There is nothing to evaluate: call update(embeddings, labels) first.")
        with_gallery = None not in self._batches
        queries = self.items("queries" if with_gallery else None)
        options = dict(self._options)
        if with_gallery:
            gallery = self.items("gallery")
            options |= {"gallery": gallery.embeddings, "gallery_labels": gallery.labels}
        result = evaluate(queries.embeddings, queries.labels, categories=queries.categories, **options)
        return result.named(queries.indices)

    def items(self, side: SideName | None = None) -> CollectedBatch:
        """Return each item of a side once, in the order of the indices; None is the side of leave-one-out."""
        batches = self._batches.get(side)
        if not batches:
            wanted = "update(embeddings, labels" + (")" if side is None else f", side={side!r})")
            raise InputError(f"There is nothing to evaluate{f' as {side}' if side else ''}: call {wanted} first.")
        columns = {
            name: joined(parts)
            for name, parts in zip(CollectedBatch._fields, zip(*batches, strict=True), strict=True)
            if parts[0] is not None
        }
        indices = columns.pop("indices")
        order = np.argsort(indices, kind="stable")
        distinct, first, place = np.unique(indices[order], return_index=True, return_inverse=True)
        first = order[first]
        repeated = np.flatnonzero(first[place] != order)
        for name, values in columns.items():
            again, before = values[order[repeated]], values[first[place[repeated]]]
            if (at := arrays.first_true(different(again, before))) is not None:
                index = indices[order[repeated[at]]]
                raise InputError(
                    f"Index {index} was given twice{f' among the {side}' if side else ''}, with different {name}. "
                    "Pass the positions of the items in the whole data set as indices, and compute the embeddings "
                    "with the model in evaluation mode."
                )
        chosen = {name: values[first] for name, values in columns.items()}
        return CollectedBatch(distinct, chosen["embeddings"], chosen["labels"], chosen.get("categories"))

    def _count(self, side: SideName | None) -> int:
        return sum(len(batch.indices) for batch in self._batches.get(side, ()))

    def _add(self, batch: CollectedBatch, side: SideName | None) -> None:
        """Keep a batch if its side, shapes and types agree with those of earlier batches."""
        if any((side is None) != (known is None) for known in self._batches):
            raise InputError(
                "Some batches have a side and others have none. Pass side='queries' or side='gallery' with every "
                "batch, or leave side out of all batches for leave-one-out."
            )
        if self._batches.get(side):
            known = self._batches[side][0]
            if (batch.categories is None) != (known.categories is None):
                raise InputError(
                    "Some batches have categories and others have none. Pass categories with all batches, or with "
                    "none."
                )
            for name in ("embeddings", "labels", "categories"):
                mine, theirs = getattr(batch, name), getattr(known, name)
                if mine is None:
                    continue
                same_kind = mine.dtype == theirs.dtype or (
                    name != "embeddings" and mine.dtype.kind == theirs.dtype.kind
                )
                if not same_kind or type(mine) is not type(theirs) or mine.shape[1:] != theirs.shape[1:]:
                    raise InputError(
                        f"The {name} of this batch have the shape {mine.shape} and type {type_name(mine.dtype)} "
                        f"({type(mine).__name__}), but earlier ones {theirs.shape} and {type_name(theirs.dtype)} "
                        f"({type(theirs).__name__}). Pass batches that differ only in their length."
                    )
        self._batches.setdefault(side, []).append(batch)

    def _as_indices(self, indices: Any, count: int, side: SideName | None) -> IntArray:
        """Return the indices of a batch, checked or counted on from the items before."""
        if indices is None:
            before = self._count(side)
            return np.arange(before, before + count)
        array = arrays.as_array(indices, "indices")
        if array.shape != (count,) or array.dtype.kind not in "iu":
            raise InputError(
                f"The indices must be {count} integers, one for each embedding, but have the shape "
                f"{array.shape} and type {type_name(array.dtype)}."
            )
        return as_int64(array, "indices")


def _kept(rows: Any, name: str) -> Any:
    """A copy of sparse rows, checked; dictionaries remain, because terms have numbers only among all batches."""
    checked = as_sparse(rows, name)
    if arrays.sparse_form(rows) != arrays.DICTIONARIES:
        return joined([checked])
    copies = np.empty(len(rows), dtype=object)
    copies[:] = [{**row} for row in rows]
    return copies


def _processes() -> int:
    """The number of processes of torch.distributed; it is 1 unless this program has opened a process group."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 1
    return int(distributed.get_world_size())
