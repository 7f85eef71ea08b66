"""`Certificate`: what is certified of a folder of true neighbors, and whether its files are those that it names.

A certificate has no signature: whoever changes a truth can also write a certificate for it. It tells which data and
which files belong together, and `verify_truth` computes the neighbors of a sample of queries again.
"""

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.analyses.neighbors.result import NOBODY, Neighbors, about_duplicates, repeated_in_rows
from tieproof.errors import InputError, about
from tieproof.evaluation.evaluated import hash_of
from tieproof.inputs.identities import Digests, Words, add_digests
from tieproof.inputs.readers.location import reading
from tieproof.inputs.readers.npy import archive
from tieproof.inputs.schemas import fits
from tieproof.inputs.shards.source import RowSource
from tieproof.installed import __version__
from tieproof.show.parts import count, distance_meant
from tieproof.show.shown import Shown, Table
from tieproof.ties import Array, IntArray
from tieproof.whole_files import atomic_write

NAME, ARRAYS = "certificate.json", "truth.npz"  # the files that every folder of true neighbors has
WHAT, VERSION = "true neighbors", 1
SPARSE = "sparse "  # what the type of sparse rows begins with

# The arrays of truth.npz; `neighbors` and `distances` have the names that other readers expect.
FIELDS = ("neighbors", "distances", "nearer", "tie_starts", "tie_indptr", "tie_ids", "n_ties", "duplicates")
TIES = ("queries_with_ties", "queries_with_cut_ties", "ties", "largest_tie")
DIGESTED = 2**16  # about how many neighbors are digested at a time


@dataclass(frozen=True)
class RowsMeant:
    """The rows of one side of a search: their number, width and number type, and two digests."""

    rows: int
    dimensions: int
    type: str
    fingerprint: str  # the same for any order of the rows, and for any division into files
    in_order: str  # depends on the order, too, because the ids of a truth are positions

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of their dimensions."""
        return self.rows, self.dimensions

    @classmethod
    def of(cls, rows: RowSource, digests: Words) -> "RowsMeant":
        """Return the description of rows that have these digests."""
        count, width = rows.shape
        if rows.usual:
            fingerprint = Digests("sparse rows", (digests,)).hashed().fingerprint
            return cls(count, width, f"{SPARSE}{rows.dtype.name}", fingerprint, hash_of(digests))
        fingerprint = Digests("rows", (digests,), (width,)).hashed().fingerprint
        return cls(count, width, rows.dtype.name, fingerprint, hash_of(digests))


@dataclass(frozen=True, repr=False)
class Certificate(Shown):
    """What is certified of a folder of true neighbors.

    distance : the name of the distance
    bits : the number of bits of a packed code; None: they were not given
    k : how many neighbors were asked for
    listed : how many are listed: k, or all items of a smaller gallery
    queries, gallery : the rows of both sides
    ties : the numbers of queries with ties and with a tie that continues behind rank k, of ties, and of the items of
        the largest tie at rank k
    duplicates : how many items of the gallery are equal to an earlier one
    neighbors : a digest of all neighbors, their distances and ties, for any order of queries and items
    exclude : a digest of the pairs that were left out; None: none were
    files : the SHA-256 of each file of the folder, by its name
    version : the version of tieproof that wrote the truth
    """

    distance: str
    bits: int | None
    k: int
    listed: int
    queries: RowsMeant
    gallery: RowsMeant
    ties: dict[str, int]
    duplicates: int
    neighbors: str
    exclude: str | None
    files: dict[str, str]
    version: str

    def _table(self) -> Table:
        sides = [
            (name, f"{side.rows:,}", f"{side.dimensions:,}", side.type, side.fingerprint[:12])
            for name, side in (("gallery", self.gallery), ("queries", self.queries))
        ]
        return Table(("truth", "rows", "dimensions", "type", "fingerprint"), [sides], [*self._sentences()], ())

    def _sentences(self) -> Iterator[str]:
        if self.listed < self.k:
            yield f"{self.k:,} were asked for, but the gallery has only {count(self.listed, 'item')}: all are listed."
        cut = self.ties["queries_with_cut_ties"]
        yield (
            f"{count(self.ties['ties'], 'tie')}; for {count(cut, 'query')}, the tie at rank {self.listed:,} "
            f"continues behind it, and is listed whole ({count(self.ties['largest_tie'], 'item')} at most)."
        )
        if self.exclude is not None:
            yield "Pairs of a query and an item were left out; a query that has fewer items left has -1 behind them."
        yield about_duplicates(self.duplicates)
        yield f"The {self.listed:,} nearest items of each query, under {distance_meant(self.distance)}."
        yield f"Files: {', '.join(self.files)}."

    def __repr__(self) -> str:
        return (
            f"<Certificate of {count(self.queries.rows, 'query')}: {self.listed:,} nearest of "
            f"{count(self.gallery.rows, 'item')}, {count(self.ties['queries_with_cut_ties'], 'tie')} cut>"
        )


def fingerprint_of(found: Neighbors, queries: Words, gallery: Words) -> str:
    """Return the digest of all neighbors, given those of the rows of both sides."""
    sums, step, before = queries.copy(), max(1, DIGESTED // found.k), found.before_tie
    farthest = np.fmax.reduce(found.distances, axis=1)
    for start in range(0, found.n_queries, step):
        some = slice(start, start + step)
        ids, distances, nearer = found.ids[some], found.distances[some], found.nearer[some]
        query, rank = np.nonzero(before[some])
        _add(sums, gallery, start + query, ids[query, rank], distances[query, rank], nearer[query, rank])
    of_tie = np.repeat(np.arange(found.n_queries), found.tie_sizes)
    for start in range(0, len(of_tie), DIGESTED):
        query = of_tie[start : start + DIGESTED]
        first, items = found.tie_starts[query], found.tie_ids[start : start + DIGESTED]
        _add(sums, gallery, query, items, farthest[query], first)
    return Digests("neighbors", (sums,), (found.k, found.distance)).hashed().fingerprint


def _add(sums: Words, gallery: Words, query: IntArray, item: IntArray, distance: Array, nearer: IntArray) -> None:
    """Add the row of each item, its distance and its place to the sums of its query."""
    words = np.column_stack([gallery[item], (distance + 0.0).view(np.uint64), nearer.view(np.uint64)])
    add_digests(np.ascontiguousarray(query), words, sums)


def ties_of(found: Neighbors) -> dict[str, int]:
    """Return the numbers of ties that a certificate states."""
    counts = found.to_dict()
    return {name: counts[name] for name in TIES}


def stored_arrays(found: Neighbors) -> dict[str, Any]:
    """Return the arrays of a file .npz of neighbors."""
    return {name: getattr(found, "ids" if name == "neighbors" else name) for name in FIELDS}


def from_stored(arrays: Mapping[str, Any], certified: dict[str, Any]) -> Neighbors:
    """Return the neighbors whose arrays were stored; `certified` has k, n_items and distance."""
    named = {"ids" if name == "neighbors" else name: arrays[name] for name in FIELDS}
    return Neighbors(**named | {"duplicates": int(arrays["duplicates"])}, **certified)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file; InputError if it cannot be read."""
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "no regular file")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"{path}, which the certificate names, cannot be read ({error.strerror}). Copy the whole folder.", "truth"
        ) from None


def write_certificate(folder: Path, certificate: Certificate) -> None:
    """Write the certificate of a folder."""
    content = {"what": WHAT, "format": VERSION, **certificate.to_dict()}
    with atomic_write(folder / NAME) as unfinished:
        unfinished.write_text(json.dumps({**content, "digest": _digest(content)}, indent=2) + "\n", "utf-8")


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_certificate(folder: str | os.PathLike[str]) -> Certificate:
    """Read the certificate of a folder; InputError if it is missing, damaged or was changed."""
    if not isinstance(folder, str | os.PathLike) or "\0" in os.fsdecode(folder):
        raise InputError(f"A truth must be the path of a folder, not {type(folder).__name__}.")
    path = Path(os.fsdecode(folder), NAME)
    if path.parent.is_file():
        beside = path.parent.with_name(NAME).is_file()
        meant = f"its folder, {os.fspath(path.parent.parent)!r}" if beside else "the folder that tieproof truth wrote"
        raise InputError(f"{os.fsdecode(folder)} is a file, but a truth is a folder with {NAME}. Pass {meant}.")
    try:
        if path.exists() and not path.is_file():
            raise ValueError("no regular file")
        content = json.loads(path.read_text("utf-8"))
        digest = content.pop("digest")
        format_version = content.pop("format")
    except FileNotFoundError:
        raise InputError(
            f"{os.fspath(folder)} has no {NAME}: it is not the folder of a truth, or its truth is not finished. "
            "Finish it by the command that began it, or name another folder."
        ) from None
    except (OSError, ValueError, RecursionError, KeyError, AttributeError, TypeError) as error:
        raise InputError(
            f"{path} is not a readable certificate ({type(error).__name__}: {error}). Write the truth again."
        ) from None
    if format_version != VERSION:
        raise InputError(
            f"{path} has the format {format_version!r}, but tieproof {__version__} reads {VERSION}. Install the "
            "version that wrote it."
        )
    if digest != _digest({**content, "format": format_version}):
        raise InputError(f"{path} was changed after it was written: its digest differs. Write the truth again.")
    content.setdefault("exclude", None)
    if content.pop("what", None) != WHAT or not fits(content, Certificate):
        raise InputError(f"{path} lacks fields of a certificate, or has other types. Write the truth again.")
    return Certificate(**content | {name: RowsMeant(**content[name]) for name in ("queries", "gallery")})


def read_truth(folder: str | os.PathLike[str]) -> tuple[Certificate, Neighbors]:
    """Read a folder of true neighbors; InputError if it does not contain what its certificate says."""
    with about("truth"):
        certificate = read_certificate(folder)
        if ARRAYS not in certificate.files or any(Path(name).name != name for name in certificate.files):
            raise InputError(f"The certificate in {os.fspath(folder)} does not name {ARRAYS}. Write it again.")
        for name, digest in certificate.files.items():
            if sha256_of(Path(folder, name)) != digest:
                raise InputError(
                    f"{Path(folder, name)} was changed after it was certified: its SHA-256 differs. Write it again."
                )
        known = {"k": certificate.listed, "n_items": certificate.gallery.rows, "distance": certificate.distance}
        with reading(Path(folder, ARRAYS), "the arrays of a truth (.npz)"):
            found = from_stored({entry.name: entry.load() for entry in archive(Path(folder, ARRAYS))}, known)
        wrong = _contradiction(certificate, found)
        if wrong:
            raise InputError(
                f"{Path(folder, ARRAYS)} contradicts its certificate or itself: {wrong}. Write the truth again."
            )
        return certificate, found


def _contradiction(certificate: Certificate, found: Neighbors) -> str:
    """Return what in the arrays contradicts the certificate or other arrays, or an empty text."""
    n_queries, width, n_items = certificate.queries.rows, certificate.listed, certificate.gallery.rows
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("ids", "distances", "nearer"), (n_queries, width))
    shapes |= {"tie_starts": (n_queries,), "n_ties": (n_queries,), "tie_indptr": (n_queries + 1,)}
    for name, shape in shapes.items():
        array = getattr(found, name)
        if array.shape != shape or array.dtype != (np.float64 if name == "distances" else np.int64):
            return f"{name} has the shape {array.shape} and the type {array.dtype}"
    pointer, tie_ids = found.tie_indptr, found.tie_ids
    if tie_ids.ndim != 1 or tie_ids.dtype != np.int64 or pointer[0] != 0 or pointer[-1] != len(tie_ids):
        return "the ties at the last rank do not fit their pointers"
    ranks, ranked = np.arange(width), found.ranked
    there = ranks < ranked[:, None]
    if (ranked < width).any() and certificate.exclude is None:
        return "ids are not positions in the gallery"
    if (found.tie_sizes < ranked - found.tie_starts).any() or (found.tie_sizes < (ranked > 0)).any():
        return "a tie at the last rank has fewer items than ranks"
    for name, ids in (("ids", found.ids[there]), ("tie_ids", tie_ids)):
        if ids.size and not 0 <= ids.min() <= ids.max() < n_items:
            return f"{name} are not positions in the gallery"
    if (found.distances[:, 1:] < found.distances[:, :-1]).any() or (np.isnan(found.distances) == there).any():
        return "distances decrease"
    new = np.concatenate([np.ones((n_queries, 1), bool), np.diff(found.nearer, axis=1) != 0], axis=1)
    starts = np.where(there, np.maximum.accumulate(np.where(new, ranks, 0), axis=1), NOBODY)
    if (found.nearer != starts).any() or (found.nearer.max(axis=1) != np.where(ranked, found.tie_starts, -1)).any():
        return "the starts of ties are not ranks"
    if (repeated_in_rows(found.ids) & there).any():
        return "an item is listed twice"
    if width != min(certificate.k, n_items):
        return f"it has {width} neighbors of each query, though {certificate.k} of {n_items} items were asked for"
    counts = ties_of(found)
    if counts != certificate.ties or found.duplicates != certificate.duplicates:
        return f"it has {counts} and {found.duplicates} duplicates"
    return ""
