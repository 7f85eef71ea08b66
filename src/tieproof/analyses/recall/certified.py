"""Certified true neighbors, whose ties are all known, as a truth of `neighbor_recall` and of `range_recall`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tieproof.analyses.neighbors.certificate import read_truth
from tieproof.analyses.neighbors.result import Neighbors
from tieproof.analyses.recall.truths import FoundItems, FoundLists
from tieproof.errors import InputError
from tieproof.evaluation.scoring import score
from tieproof.measures import parse
from tieproof.show.parts import count
from tieproof.ties import BoolArray, FloatArray, IntArray, Ties


@dataclass(frozen=True)
class CertifiedTruth:
    """The neighbors in a folder that `truth` wrote."""

    neighbors: Neighbors

    @classmethod
    def read(cls, folder: str | os.PathLike[str], n_items: int | None) -> "CertifiedTruth":
        """Read a folder; InputError if it is not what its certificate says, or of another number of items."""
        _, neighbors = read_truth(folder)
        if n_items not in (None, neighbors.n_items):
            raise InputError(
                f"n_items is {n_items}, but the truth in {os.fspath(folder)} has {neighbors.n_items} items. Leave "
                "n_items out.",
                "n_items",
            )
        return cls(neighbors)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.neighbors.n_queries

    @property
    def n_items(self) -> int:
        """The number of items in the gallery."""
        return self.neighbors.n_items

    @property
    def listed(self) -> int:
        """The number of neighbors of each query; the last tie is known beyond it."""
        return self.neighbors.k

    @property
    def called(self) -> str:
        """The name of the distance by which the neighbors were found."""
        return self.neighbors.distance

    def recalls(self, found: FoundItems, cutoffs: Sequence[int]) -> FloatArray:
        """Return lower, expected, upper recall and variance of each query at each k, (k, 4, q)."""
        parts = [(np.arange(self.n_queries), self._ties(found))]
        return score(parts, [parse(f"P@{k}") for k in cutoffs], self.n_queries).values

    def others(self, found: FoundLists, k: int, among: int) -> dict[str, FloatArray]:
        """Return nothing: the recalls of other benchmarks are defined by lists of distances."""
        return {}

    def cut_off(self, k: int) -> BoolArray:
        """Whether the tie at the k-th distance may lack items: never, because all of them are known."""
        return np.zeros(self.n_queries, dtype=np.bool_)

    def within(self, radius: float) -> tuple[IntArray, IntArray]:
        """Return the items whose rounded distance is at most a radius, as (lims, ids).

        InputError if they are not certified: if the radius is not below the distance at the last rank of each query,
        so that unlisted items may be within it, unless all items are listed.
        """
        near = self.neighbors
        last = near.distances[:, -1]
        open_ = np.flatnonzero((last <= radius) & (near.k < near.n_items))
        if len(open_):
            raise InputError(
                f"The radius is {radius!r}, but the truth lists the {near.k:,} nearest items, which certifies a "
                f"query only if the radius is below its distance at rank {near.k:,}. It is not for "
                f"{count(len(open_), 'query')}, first query {open_[0]} with {float(last[open_[0]])!r}. Pass a radius "
                f"below {float(last.min())!r}, leave these queries out, or write a truth with a larger k.",
                "radius",
            )
        inside = near.distances <= radius
        return np.concatenate([[0], np.cumsum(inside.sum(axis=1))]), near.ids[inside]

    def _ties(self, found: FoundItems) -> Ties:
        """Return the ties that contain found items, up to the last one; found items behind it count as missing."""
        near, wide = self.neighbors, self.n_items + 1
        query, item = found.pairs()
        levels = query * wide + near.level(query, item)
        tie, hits = np.unique(levels[levels % wide < self.n_items], return_counts=True)
        query, level = np.divmod(tie, wide)
        before = np.cumsum(hits) - hits
        places, sizes = np.unique(np.arange(self.n_queries)[:, None] * wide + near.nearer, return_counts=True)
        size = sizes[np.searchsorted(places, tie)]
        return Ties(
            query=query,
            k=level,
            n=before - before[np.searchsorted(query, query)],
            l=np.where(level == near.tie_starts[query], near.tie_sizes[query], size),
            m=hits,
            n_relevant=found.counted.sum(axis=1),
            n_items=np.full(self.n_queries, self.n_items),
        )
