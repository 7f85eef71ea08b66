"""The values and the counts of ties of every query of an evaluation, and their means and sums."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError, about
from tieproof.inputs.categories import Average, Categories
from tieproof.inputs.identities import Digests, Hashed, Words, keyed
from tieproof.inputs.labels import as_label_array, check_code_points
from tieproof.measures import Measure
from tieproof.ties import Bounds, Estimate, FloatArray, IntArray, NoisyEstimate, Number

if TYPE_CHECKING:
    from tieproof.measures.distribution.kept import KeptTies

# The reasons for which a query is left out of every mean.
NOTHING_RELEVANT = "no relevant item"
NOT_IN_RUN, NOT_JUDGED = "no document in the run", "no judgment in the qrels"
NOT_IN_ALL = "no document in the run of some system"

EMPTY: dict[str, float] = {"skip": np.nan, "zero": 0.0, "one": 1.0, "nan": np.nan, "error": np.nan}
"""The score of a query with nothing relevant, by the option `empty`; NaN is left out of the means."""


@dataclass(frozen=True)
class Setting:
    """What was evaluated: the same for any order, tile, budget or number of threads."""

    # The name of the distance in this library, or "function" and the name of the caller's function; "scores" or
    # "distances" if these were passed; "order" for lists of neighbors with neither.
    distance: str
    leave_one_out: bool
    queries: int
    gallery: int
    dimensions: int | None
    empty: str
    average: Average = "micro"
    precision: str | None = None


def function_of(call: str) -> Callable[..., Any]:
    """The function of `tieproof` that evaluates, by its name."""
    function: Callable[..., Any] = getattr(import_module("tieproof"), call)
    return function


class Origin(NamedTuple):
    """Where a result comes from: the call that evaluates it again, and digests by which its data is recognized."""

    call: str  # the name of the function in `tieproof`
    # The arguments besides the data that `Setting` does not have, such as missing="zero" of a run.
    options: Mapping[str, Any]
    # Digests of the data, the same in any order, or hashes of them; the fingerprint is "" for the queries of
    # one category.
    data: Digests | Hashed
    # (Q,) a hash for each query, which differs where something else is relevant to the query. It is made of the
    # query's label, its group and the number of its relevant items; of the pairs that triples or exclusions
    # name; in runs of the ids and grades of its relevant documents; in lists of the number and the grades of
    # its relevant items. In the result of a record it is a single hash of all these.
    relevant: Any
    # (Q, 2) the digest of each query's row of the data; in the result of a record `query_digests` (Q,); in the
    # result of one category None.
    queries: Any
    version: str | None = None  # the version of tieproof that evaluated the result; None for the running version

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the data, the same in any order (`evaluation/fingerprints.py`)."""
        return self.data.hashed().fingerprint


class Evaluated(NamedTuple):
    """Everything that an evaluation found out about every query."""

    setting: Setting
    origin: Origin  # the call and the data
    query_ids: npt.NDArray[Any]  # (Q,) the evaluated queries
    # For each measure, an array (4, Q) of the lower, expected and upper values and the variance, or under noise
    # (6, Q), with the smallest and the largest values.
    per_query: Mapping[Measure, FloatArray]
    tie_counts: IntArray  # (4, Q), see `evaluation/scoring.py`
    zero_vectors: int  # the number of rows that are all zero, in queries and gallery together
    empty_ids: npt.NDArray[Any]  # the queries with nothing relevant, whether they are evaluated or not
    left_out: Mapping[str, npt.NDArray[Any]]  # the ids of further queries that are not evaluated, by the reason
    categories: Categories | None  # the queries' categories, if they were passed
    confidence: npt.NDArray[Any] | None = None  # (Q,) the confidence of each query, if it was passed
    # The ids of the judged queries that have no document in the run, evaluated or not; None without a run.
    not_in_run: npt.NDArray[Any] | None = None
    # The ambiguous ties, for `distribution`; empty if there is none, and None in the result of a record, or if
    # they would take too much memory.
    kept: "tuple[KeptTies, ...] | None" = None
    # The number of pairs of a query and an item that a negative relevance leaves out; 0 in the result of a
    # record, or of a category.
    negative: int = 0
    # Sentences on how the lists were read; none in the result of a record, or of a category.
    said: tuple[str, ...] = ()

    def named(self, names: Any) -> "Evaluated":
        """A copy whose queries are called names[0], names[1], … instead of 0, 1, …."""
        names = _as_names(names, [self.query_ids, self.empty_ids, *self.left_out.values()])
        left_out = {reason: names[ids] for reason, ids in self.left_out.items()}
        return self._replace(query_ids=names[self.query_ids], empty_ids=names[self.empty_ids], left_out=left_out)

    @property
    def noisy(self) -> bool:
        """Whether there are bounds under noise."""
        return any(len(values) > 4 for values in self.per_query.values())

    def open_under_noise(self) -> npt.NDArray[np.bool_]:
        """(Q,) of which queries any measure may have another value under noise than in an order of tied items."""
        values = np.stack([*self.per_query.values()])
        return np.asarray(((values[:, 4] < values[:, 0]) | (values[:, 5] > values[:, 2])).any(axis=0))

    def query_digests(self) -> Words:
        """(Q,) a different word for each query, made from its row by a key that is made from all the data."""
        # With the same data, the word tells which row a query is. Without all of it, the words say nothing: nobody
        # can test a guess of one label.
        rows: Words = self.origin.queries
        if rows.ndim == 1:
            return rows
        groups = [] if self.categories is None else [self.categories.of_query]
        labels = [*groups, *([] if self.confidence is None else [self.confidence])]
        return keyed(rows, self.origin.data.hashed().key, *labels)

    def relevance_hash(self) -> str:
        """One hash of what is relevant to all queries, in the order of their ids."""
        relevant = self.origin.relevant
        return relevant if isinstance(relevant, str) else hash_of(relevant[np.argsort(self.query_ids, kind="stable")])

    def of_category(self, name: Any) -> "Evaluated":
        """The part of the queries of one category; raises InputError that lists the categories."""
        if self.categories is None:
            raise InputError("This result has no categories. Pass categories= to the evaluation, one for each query.")
        return self.among(*self.categories.find(name))

    def among(self, chosen: IntArray, empty: IntArray) -> "Evaluated":
        """The queries at these indices of `query_ids` and `empty_ids` as a category, without the data as origin."""
        relevant = self.origin.relevant
        query_ids, empty_ids = self.query_ids[chosen], self.empty_ids[empty]
        skipped = len(empty) if self.setting.empty == "skip" else 0
        absent = self.not_in_run
        if absent is not None:
            absent = absent[np.isin(absent, np.concatenate([query_ids, empty_ids]))]
        return Evaluated(
            setting=replace(self.setting, queries=len(chosen) + skipped, average="micro"),
            origin=self.origin._replace(
                data=Hashed(""), relevant=relevant if isinstance(relevant, str) else relevant[chosen], queries=None
            ),
            query_ids=query_ids,
            per_query={measure: values[:, chosen] for measure, values in self.per_query.items()},
            tie_counts=self.tie_counts[:, chosen],
            zero_vectors=self.zero_vectors,
            empty_ids=empty_ids,
            left_out={},
            categories=None,
            confidence=None if self.confidence is None else self.confidence[chosen],
            not_in_run=absent,
            kept=self.kept and tuple(part.among(chosen, len(self.query_ids)) for part in self.kept),
        )


def hash_of(words: Words) -> str:
    """The SHA-256 of words in their order, in 64 digits."""
    import hashlib

    return hashlib.sha256(words.astype("<u8", copy=False).tobytes()).hexdigest()


def _as_names(values: Any, numbers: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    with about("names"):
        names = as_label_array(values, "names")
    if names.ndim != 1:
        raise InputError(f"names must have shape (queries,), not {names.shape}.", "names")
    if names.dtype.kind == "U":
        check_code_points(names, "The names")
    if any(ids.dtype.kind != "i" for ids in numbers):
        first = numbers[0].tolist()[0]
        raise InputError(
            f"The queries already have names, such as {first!r}; only numbered queries can be named.", "names"
        )
    ids = np.concatenate(numbers)
    if ids.min() < 0 or ids.max() >= len(names):
        raise InputError(
            f"names has {len(names):,} entries, but the queries are numbered from {ids.min()} to {ids.max()}. Pass "
            "one name for each query that was passed to the evaluation.",
            "names",
        )
    return names


def estimate_of(lower: Number, expected: Number, upper: Number, std: Number, *noise: Number) -> Estimate[Number]:
    """The estimate of these values; with two more, the smallest and the largest value under noise."""
    values = lower, expected, upper, std
    return NoisyEstimate(*values, Bounds(*noise)) if noise else Estimate(*values)


def mean(values: FloatArray, total: bool = False) -> Estimate[float]:
    """The mean, or the `total`, of the values of queries, as `Evaluated` has them for a measure; NaN is left out."""
    # Sums are exact and rounded once, so that the order of the queries cannot matter. Ties of different queries are
    # broken independently, so that variances add up.
    counted = values[:, ~np.isnan(values[0])]
    count = 1 if total else counted.shape[1]
    lower, expected, upper, variance, *noise = (math.fsum(row.tolist()) for row in counted)
    means = (number / count for number in (lower, expected, upper, math.sqrt(variance), *noise))
    return estimate_of(*means)


def over_queries(estimate: Estimate[FloatArray]) -> Estimate[float]:
    """The mean of a measure over at least one query.

    >>> over_queries(Estimate(np.array([0.0, 1.0]), np.array([0.5, 1.0]), np.ones(2), np.array([0.5, 0.0])))
    Estimate(lower=0.5, expected=0.75, upper=1.0, std=0.25)
    """
    return mean(np.array([estimate.lower, estimate.expected, estimate.upper, estimate.std * estimate.std]))


def mean_of_means(means: Sequence[Estimate[float]]) -> Estimate[float]:
    """The unweighted mean of the categories' means; no query is in two categories, so variances add up."""
    rows = [(each.lower, each.expected, each.upper, each.std * each.std) for each in means]
    noise = [(each.noise.lower, each.noise.upper) for each in means if each.noise is not None]
    return mean(np.array([*zip(*rows, strict=True), *zip(*noise, strict=True)]))


@dataclass(frozen=True)
class TieSummary:
    """The ties among the evaluated queries' rankings that hold a relevant item.

    queries : evaluated queries
    ties : ties of at least two items, one of them relevant
    ambiguous_ties : ties that hold both relevant and other items, the only kind that changes a score, except for
        measures that read grades (nDCG, or any measure with `rel`) or judgments (Judged)
    queries_with_ambiguous_ties : queries with at least one ambiguous tie
    largest_tie : items in the largest of all these ties; 0 if there is none
    zero_vectors : rows that are all zero, in queries and gallery together
    queries_with_open_last_tie : queries with a truncated list whose last tie may continue past the end, and with a
        relevant item that is in this tie or missing from the list; their bounds cover every continuation. For lists
        of neighbors: queries whose score may change through an item that is not in their list
    """

    queries: int
    ties: int
    ambiguous_ties: int
    queries_with_ambiguous_ties: int
    largest_tie: int
    zero_vectors: int
    queries_with_open_last_tie: int = 0


def summarize(counts: IntArray, zero_vectors: int) -> TieSummary:
    """The summary over all queries of the counts (4, Q) of ties, ambiguous ties, the largest tie and open ends."""
    ties, ambiguous, largest, open_ends = counts
    return TieSummary(
        queries=counts.shape[1],
        ties=int(ties.sum()),
        ambiguous_ties=int(ambiguous.sum()),
        queries_with_ambiguous_ties=int((ambiguous > 0).sum()),
        largest_tie=int(largest.max(initial=0)),
        zero_vectors=zero_vectors,
        queries_with_open_last_tie=int(open_ends.sum()),
    )
