"""`verify_truth`: the neighbors in a certified folder are computed again, all or those of a random sample."""

import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.analyses.neighbors.certificate import ARRAYS, SPARSE, Certificate, RowsMeant, fingerprint_of, read_truth
from tieproof.analyses.neighbors.formats import FORMATS
from tieproof.analyses.neighbors.result import Neighbors
from tieproof.analyses.neighbors.search import SearchInParts, budget_of, find
from tieproof.analyses.neighbors.sides import ORDER, Sides, digest_of_pairs, duplicates_of
from tieproof.errors import InputError
from tieproof.evaluation.cluster.tasks import Local
from tieproof.evaluation.problems import watched
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import as_shares, check_whole
from tieproof.inputs.relevance import Unjudged
from tieproof.inputs.shards.source import ArraySource
from tieproof.installed import __version__
from tieproof.show.parts import count
from tieproof.show.shown import Verified
from tieproof.ties import IntArray

SHARES = (0.01, 0.001)  # shares of wrong queries for which the probability to escape a sample is told
LONGEST = 10  # more digits than a part of a version has


@dataclass(frozen=True)
class TruthVerification(Verified):
    """The findings of `tp.verify_truth`.

    agrees : the data is that of the certificate, every bit of the checked neighbors was found again, and every file
        is the one that the neighbors and the data give
    queries, checked : the number of queries, and of those that were computed again
    differences : what differs, in whole sentences; empty if everything agrees

    >>> round(TruthVerification(True, 10_000, 300, ()).escapes(0.01), 4)
    0.0468
    """

    agrees: bool
    queries: int
    checked: int
    differences: tuple[str, ...]

    def escapes(self, share: float) -> float:
        """The probability that no wrong query is among the checked ones if this share of all queries is wrong."""
        (chosen,) = as_shares(share, "A share", "0.01")
        wrong = math.ceil(Fraction(str(chosen)) * self.queries)
        return math.comb(self.queries - wrong, self.checked) / math.comb(self.queries, self.checked)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        return {**super().to_dict(), "escapes": {str(share): self.escapes(share) for share in SHARES}}

    def _sentences(self) -> Iterator[str]:
        yield "Every bit agrees." if self.agrees else "The truth does not agree with what was computed again."
        yield from self.differences
        if self.checked == self.queries:
            yield f"All {count(self.queries, 'query')} were computed again."
        elif self.checked:
            chances = (f"{self.escapes(share):.2g} if {share:.1%} of all queries are wrong" for share in SHARES)
            yield (
                f"{self.checked:,} of {count(self.queries, 'query')}, chosen at random, were computed again. The "
                f"probability that no wrong query is among them is {', and '.join(chances)}."
            )


@unchanged_files
def verify_truth(
    truth: str | os.PathLike[str],
    queries: Any,
    gallery: Any,
    *,
    exclude: Any = None,
    sample: int | None = 300,
    seed: int | None = None,
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
) -> TruthVerification:
    """Check a folder that `truth` wrote: its files, its data, and the neighbors of some queries, computed again.

    Parameters
    ----------
    truth : path of the folder
    queries, gallery : (q, d) and (n, d), arrays, sparse rows or shards
        The data, in the order in which the truth was computed. Shards are read piece by piece, as in `truth`. Sparse
        rows may have another form: dictionaries are those of a matrix whose columns are their integers, or all
        strings of both sides in alphabetical order (also those of weight 0).
    exclude : rows (query, item), or (q, n) bools
        The pairs that the truth leaves out, if there are any.
    sample : whole number, or None
        How many queries, chosen at random, are computed again; None: all.
    seed : whole number
        The seed of the choice. Default: a new choice each time, which whoever wrote the truth cannot know.
    memory, threads, progress :
        As in `evaluate`.

    Returns
    -------
    TruthVerification
        `agrees` is True if every bit agrees; `differences` describes all differences in sentences.

    Raises
    ------
    InputError
        If the folder is not that of a finished truth, if its files are not those that its certificate names, if a
        newer version wrote it, or if queries and gallery are swapped.
    MissingExtraError
        If the library of one of its formats is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import tieproof as tp
    >>> gallery, queries = [[2.0], [1.0], [-1.0]], [[0.0], [3.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     certificate = tp.truth(queries, gallery, k=1, out=f"{folder}/truth", distance="euclidean")
    ...     print(tp.verify_truth(f"{folder}/truth", queries, gallery))
    ...     print(tp.verify_truth(f"{folder}/truth", queries, gallery[::-1]).differences[0])
    Every bit agrees.
    All 2 queries were computed again.
    The gallery has the rows of the truth in another order, so that its ids are those of other items.

    """
    if sample is not None:
        check_whole("sample", sample, beside=", or None")
    if seed is not None:
        check_whole("seed", seed, 0, beside=", or None")
    certificate, stored = read_truth(truth)
    if _parts_of(certificate.version) > _parts_of(__version__):
        raise InputError(
            f"{os.fspath(truth)} was written by tieproof {certificate.version}, but this is {__version__}. Verify it "
            "by that version, or a newer one.",
            "truth",
        )
    budget, sides = budget_of(memory, threads), Sides.of(queries, gallery)
    given, certified = [side.shape for side in sides], [certificate.queries.shape, certificate.gallery.shape]
    if given == certified[::-1] != certified:
        raise InputError(
            f"The truth is of {count(certified[0][0], 'query')} and {count(certified[1][0], 'item')}, but "
            f"{count(given[0][0], 'query')} and {count(given[1][0], 'item')} were passed. {ORDER}",
            ("queries", "gallery"),
        )
    excluded = sides.excluded(exclude)
    digests = sides.digests(Local(), budget.threads)
    differences: list[str] = []
    for name, side, own in zip(sides._fields, sides, digests, strict=True):
        differences += _about_rows(name, getattr(certificate, name), RowsMeant.of(side, own))
    if digest_of_pairs(excluded) != certificate.exclude:
        differences.append("The pairs that are left out are not those of the truth. Pass the same as exclude=.")
    chosen = np.arange(0)
    if not differences:
        if fingerprint_of(stored, *digests) != certificate.neighbors:
            differences.append("The digest of the neighbors is not that of the certificate.")
        n_queries = len(stored.ids)
        chosen, some = np.arange(n_queries), sides
        if sample is not None and sample < n_queries:
            chosen = np.sort(np.random.default_rng(seed).choice(n_queries, sample, replace=False))
            some = sides._replace(queries=ArraySource.of(sides.queries.take(chosen)))
        among = Unjudged.of(n_queries, stored.n_items, excluded).excluded_among(chosen, np.arange(stored.n_items))
        problem = some.search(certificate.distance, certificate.bits, budget, among)
        duplicates = duplicates_of(sides.gallery, digests[1])
        found = find(SearchInParts.of(problem, certificate.listed), Local(), {}, watched(progress), duplicates)
        differences += _about_neighbors(stored, found, chosen)
        differences += _about_files(Path(truth), certificate, sides, stored)
    return TruthVerification(not differences, len(stored.ids), len(chosen), tuple(differences))


def _parts_of(version: str) -> list[int]:
    """The numbers of a version, of a candidate those of its release; one that no tieproof has is newer than all."""
    parts = version.partition("rc")[0].split(".")
    return [*map(int, parts)] if all(part.isdecimal() and len(part) < LONGEST for part in parts) else [sys.maxsize]


def _about_rows(name: str, certified: RowsMeant, given: RowsMeant) -> Iterator[str]:
    likely = replace(certified, in_order=given.in_order)
    if certified.type.startswith(SPARSE) and given.type.startswith(SPARSE):  # whose digests depend on neither
        likely = replace(likely, dimensions=given.dimensions, type=given.type)
    if likely == given:
        if certified.in_order != given.in_order:
            yield (
                f"The {name} {'has' if name == 'gallery' else 'have'} the rows of the truth in another order, so "
                f"that its ids are those of other {'items' if name == 'gallery' else 'queries'}."
            )
        return
    yield (
        f"The {name} {'is' if name == 'gallery' else 'are'} not the data of the truth: {given.rows:,} rows of "
        f"{given.dimensions:,} {given.type} with the fingerprint {given.fingerprint[:12]}, but the certificate has "
        f"{certified.rows:,} rows of {certified.dimensions:,} {certified.type} with {certified.fingerprint[:12]}."
    )


def _about_files(folder: Path, certificate: Certificate, sides: Sides, stored: Neighbors) -> Iterator[str]:
    known = {name: make for files in FORMATS.values() for name, make in files.items()}
    for name in certificate.files:
        if name != ARRAYS and name not in known:
            yield f"The certificate names {name}, which is no file of a truth."
    for name, make in known.items():
        if name in certificate.files:
            try:
                agrees = make().agrees(sides, stored, folder / name)
            except InputError:
                agrees = False
            if not agrees:
                yield f"{name} is not what the neighbors and the data give."
        elif os.path.lexists(folder / name):
            yield f"The folder has {name}, which the certificate does not name."


def _about_neighbors(stored: Neighbors, found: Neighbors, chosen: IntArray) -> Iterator[str]:
    if stored.duplicates != found.duplicates:
        yield f"The gallery has {count(found.duplicates, 'duplicate')}, but the truth says {stored.duplicates:,}."
    for name, what in (("ids", "ids"), ("distances", "distances"), ("nearer", "ties"), ("n_ties", "numbers of ties")):
        one, other = getattr(stored, name)[chosen], getattr(found, name)
        differs = (one != other) & ((one == one) | (other == other))  # NaN is equal to NaN
        wrong = chosen[differs.reshape(len(chosen), -1).any(axis=1)]
        if len(wrong):
            yield f"The {what} of {count(len(wrong), 'query')} differ, first of query {wrong[0]}."
    ties = [query for at, query in enumerate(chosen.tolist()) if not np.array_equal(stored.tie(query), found.tie(at))]
    if ties:
        yield f"The tie at the last rank of {count(len(ties), 'query')} differs, first of query {ties[0]}."
