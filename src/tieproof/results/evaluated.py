"""What an evaluation found of every query, before any mean, and of the queries of one category."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError
from tieproof.inputs.categories import Average, Categories
from tieproof.inputs.digests import Digests
from tieproof.measures import Measure
from tieproof.ties import FloatArray, IntArray

NOTHING_RELEVANT = "no relevant item"
NOT_IN_RUN, NOT_JUDGED = "no document in the run", "no judgment in the qrels"
"""Why no mean includes a query."""


@dataclass(frozen=True)
class Setting:
    """What was evaluated: the same for any order, tile, budget or number of threads.

    distance : our name of it, or "function" and the name of a function; "scores" or "distances" if given
    """

    distance: str
    leave_one_out: bool
    queries: int
    gallery: int
    dimensions: int | None
    empty: str
    average: Average = "micro"
    precision: str | None = None


class Origin(NamedTuple):
    """Where a result comes from: what evaluates it again, and what says whether that is the same data.

    call : the name of the function in `tieproof`
    options : what it was told beside the data that `Setting` does not have, such as missing="zero" of a run
    data : digests of it, in any order, or the fingerprint that they make; "" for the queries of one category
    relevant : (Q,) a word for each query, which differs where something else is relevant to it: its label, group, and
        the number of its relevant items; the pairs that triples or exclusions name; in runs the ids of its relevant
        documents and their grades; in lists the number and the grades of the relevant items
    version : of the tieproof that evaluated it; None: of this one
    """

    call: str
    options: Mapping[str, Any]
    data: Digests | str
    relevant: npt.NDArray[np.uint64]
    version: str | None = None

    @property
    def fingerprint(self) -> str:
        """What the data is known by, the same for any order (`calls/fingerprints.py`)."""
        return self.data if isinstance(self.data, str) else self.data.fingerprint()


class Evaluated(NamedTuple):
    """What is known of every query.

    query_ids : (Q,) the evaluated queries
    per_query : lower, expected, upper value and variance of each measure, (4, Q) each
    origin : the call and the data
    tie_counts : (4, Q), see `tie_summary.count_by_query`
    zero_vectors : rows that are all zero, in queries and gallery together
    empty_ids : the queries with nothing relevant, which may be evaluated or not
    left_out : the ids of further queries that are not evaluated, by the reason
    categories : those of the queries, if they were given
    confidence : (Q,) that of each query, if it was given
    not_in_run : the ids of the judged queries that have no document in the run, evaluated or not; None without a run
    """

    setting: Setting
    origin: Origin
    query_ids: npt.NDArray[Any]
    per_query: Mapping[Measure, FloatArray]
    tie_counts: IntArray
    zero_vectors: int
    empty_ids: npt.NDArray[Any]
    left_out: Mapping[str, npt.NDArray[Any]]
    categories: Categories | None
    confidence: npt.NDArray[Any] | None = None
    not_in_run: npt.NDArray[Any] | None = None

    def named(self, names: npt.NDArray[Any]) -> "Evaluated":
        """The same, with queries that are called names[0], names[1], … instead of 0, 1, …."""
        left_out = {reason: names[ids] for reason, ids in self.left_out.items()}
        return self._replace(query_ids=names[self.query_ids], empty_ids=names[self.empty_ids], left_out=left_out)

    def of_category(self, name: Any) -> "Evaluated":
        """What was found of the queries of one category; raises InputError with the categories there are."""
        if self.categories is None:
            raise InputError("This result has no categories. Pass categories= to the evaluation, one for each query.")
        chosen, empty = self.categories.find(name)
        query_ids, empty_ids = self.query_ids[chosen], self.empty_ids[empty]
        skipped = len(empty) if self.setting.empty == "skip" else 0
        absent = self.not_in_run
        if absent is not None:
            absent = absent[np.isin(absent, np.concatenate([query_ids, empty_ids]))]
        return Evaluated(
            setting=replace(self.setting, queries=len(chosen) + skipped, average="micro"),
            origin=self.origin._replace(data="", relevant=self.origin.relevant[chosen]),
            query_ids=query_ids,
            per_query={measure: values[:, chosen] for measure, values in self.per_query.items()},
            tie_counts=self.tie_counts[:, chosen],
            zero_vectors=self.zero_vectors,
            empty_ids=empty_ids,
            left_out={},
            categories=None,
            confidence=None if self.confidence is None else self.confidence[chosen],
            not_in_run=absent,
        )
