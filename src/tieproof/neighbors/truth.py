"""`truth`: the true neighbors of all queries, written to a folder with a certificate; a killed run is resumed."""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.distances import reported
from tieproof.errors import InputError, about
from tieproof.inputs.arrays import as_finite_embeddings, unchanged_files
from tieproof.inputs.options import check_choice, check_whole, one_or_several, parse_threads
from tieproof.installed import __version__
from tieproof.neighbors.certificate import (
    ARRAYS,
    NAME,
    Certificate,
    RowsMeant,
    digests_of,
    fingerprint_of,
    read_arrays,
    sha256_of,
    ties_of,
    write_arrays,
    write_certificate,
)
from tieproof.neighbors.formats import FORMATS, Search, Write
from tieproof.neighbors.nearest import nearest
from tieproof.neighbors.result import Neighbors
from tieproof.ties import Array
from tieproof.whole_files import UNFINISHED, atomic_write, naming

PARTS, TITLE = "parts", "search.json"
"""The folder of the parts of an unfinished truth, and the file in it that says which search they belong to."""

QUERIES = 1000
"""The number of queries in a part."""


@unchanged_files
def truth(
    gallery: Any,
    queries: Any,
    k: int = 100,
    *,
    out: str | os.PathLike[str],
    distance: str = "cosine",
    formats: str | Iterable[str] = ("bigann", "vecs"),
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> Certificate:
    """Write the k nearest items of each query to a folder, with all ties at rank k and a certificate.

    The folder contains `truth.npz`, with the arrays `neighbors` (q, k), `distances`, and the fields `nearer`,
    `tie_starts`, `tie_indptr`, `tie_ids` and `n_ties` of `Neighbors`; the files of `formats`; and
    `certificate.json`, which is written last. The neighbors of every 1,000 queries are stored as they are found: if
    the run is killed, the same call continues it.

    Parameters
    ----------
    gallery : (n, d) floats, integers or bools of at most 64 bits
        The items; the ids of the neighbors are their positions.
    queries : (q, d)
        The queries.
    k : whole number
        How many nearest items to list; all items if the gallery has fewer, which the certificate says.
    out : path of a folder
        A new or an empty folder, or one with an unfinished truth of the same data and options.
    distance, bits, memory, threads, progress :
        As in `evaluate`. The gallery must fit into memory in addition.
    formats : "bigann", "vecs", "hdf5", "parquet", or several
        `truth.ibin` of big-ann-benchmarks; `neighbors.ivecs` and `distances.fvecs`; `truth.hdf5` of ann-benchmarks,
        which contains the vectors, too (extra `h5`); `truth.parquet` with the columns of VectorDBBench (extra
        `parquet`). `.ibin` and `.fvecs` contain distances in float32, in which different distances may be equal.

    Returns
    -------
    Certificate
        What is certified: digests of the data and of the neighbors, the numbers of ties, the files.

    Raises
    ------
    InputError
        As `nearest` does; if the folder contains other files, a finished truth, or an unfinished one of other
        data; if a file can't be written. An error leaves no file half written.
    MissingExtraError
        If the library of a format is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import tieproof as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     certificate = tp.truth([[2.0], [1.0], [-1.0]], [[0.0]], k=1, out=f"{folder}/truth", distance="euclidean")
    ...     found = tp.neighbor_recall([[2]], f"{folder}/truth", k=1)
    >>> certificate
    <Certificate of 1 query: 1 nearest of 3 items, 1 tie cut>
    >>> found[1].upper
    1.0

    """
    check_whole("k", k)
    chosen, folder = _as_formats(formats), _as_folder(out)
    if not isinstance(distance, str):
        raise InputError(
            f"The distance of a truth must be a name, not {type(distance).__name__}: a certificate cannot contain a "
            "function. tp.nearest takes one.",
            "distance",
        )
    with about("distance"):
        called = reported(distance)
    items, rows = as_side(gallery, "gallery"), as_side(queries, "queries")
    digests = [digests_of(side, parse_threads(threads)) for side in (items, rows)]
    meant = [RowsMeant.of(side, own) for side, own in zip((items, rows), digests, strict=True)]
    title = {
        "gallery": meant[0].in_order,
        "queries": meant[1].in_order,
        "distance": called,
        "bits": str(bits),
        "k": str(k),
        "version of tieproof": __version__,
    }
    listed = min(int(k), len(items))
    parts = Parts(folder, title, {"k": listed, "n_items": len(items), "distance": called})
    options: dict[str, Any] = {"distance": distance, "memory": memory, "threads": threads, "bits": bits}
    for start in range(0, len(rows), QUERIES):
        if start not in parts:
            parts.keep(start, nearest(rows[start : start + QUERIES], items, listed, progress=progress, **options))
    found = _joined([parts.read(start) for start in range(0, len(rows), QUERIES)])
    write_arrays(folder / ARRAYS, found)
    for name, write in chosen.items():
        with atomic_write(folder / name) as unfinished:
            write(Search(items, rows, found), unfinished)
    certificate = Certificate(
        distance=called,
        bits=bits,
        k=int(k),
        listed=listed,
        queries=meant[1],
        gallery=meant[0],
        ties=ties_of(found),
        duplicates=found.duplicates,
        neighbors=fingerprint_of(found, digests[1], digests[0]),
        files={name: sha256_of(folder / name) for name in (ARRAYS, *chosen)},
        version=__version__,
    )
    write_certificate(folder, certificate)
    parts.remove()
    return certificate


def _as_formats(formats: Any) -> dict[str, Write]:
    """Return the writers of the files of some formats, by the names of the files."""
    names = one_or_several(formats)
    for name in names:
        check_choice("formats", name, FORMATS)
    return {file: writer() for name in names for file, writer in FORMATS[name].items()}


def _as_folder(out: Any) -> Path:
    if not isinstance(out, str | os.PathLike) or not os.fspath(out) or "\0" in os.fsdecode(out):
        raise InputError(f"out must be the path of a folder, not {out!r}.", "out")
    return Path(os.fsdecode(out))


def as_side(values: Any, name: str) -> Array:
    """Return the rows of the gallery or of the queries as an array of finite numbers, called so in errors."""
    try:
        return as_finite_embeddings(values, name)
    except InputError as error:
        error.argument = name
        raise


class Parts:
    """The neighbors of parts of the queries in a folder, each in a file that is written whole or not at all.

    The folder is created with the first part, so that input that is refused leaves nothing.

    title : what identifies the search; each property must be equal
    known : what `read_arrays` must know
    """

    def __init__(self, folder: Path, title: dict[str, str], known: dict[str, Any]) -> None:
        self.folder, self.parts, self.title, self.known = folder, folder / PARTS, title, known
        self._check()

    def __contains__(self, start: int) -> bool:
        """Whether the part that begins with this query is stored."""
        return (self.parts / f"{start}.npz").exists()

    def keep(self, start: int, found: Neighbors) -> None:
        """Store a part."""
        path = self.parts / TITLE
        if not path.exists():
            with naming(self.parts):
                self.parts.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as unfinished:
                unfinished.write_text(json.dumps(self.title, indent=2), "utf-8")
        write_arrays(self.parts / f"{start}.npz", found)

    def read(self, start: int) -> Neighbors:
        """Return a part."""
        return read_arrays(self.parts / f"{start}.npz", self.known)

    def remove(self) -> None:
        """Remove all parts; what cannot be removed does no harm."""
        with suppress(OSError):
            for path in self.parts.iterdir():
                path.unlink()
            self.parts.rmdir()

    def _check(self) -> None:
        """Refuse a folder with anything but an unfinished truth of the same search."""
        folder = self.folder
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file, but a truth is written to a folder. Name another one.", "out")
        names = {each.name for each in folder.iterdir()} if folder.exists() else set()
        if NAME in names:
            raise InputError(
                f"{folder} contains a finished truth already. Name another folder, or remove this one.", "out"
            )
        if PARTS not in names:
            strange = sorted(name for name in names if not name.startswith(UNFINISHED))
            if strange:
                raise InputError(
                    f"{folder} contains other files, such as {strange[0]}. Name a new folder, or an empty one.", "out"
                )
            return
        try:
            written = json.loads((self.parts / TITLE).read_text("utf-8"))
            differing = next((name for name, value in self.title.items() if written.get(name) != value), None)
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError, AttributeError):
            raise InputError(f"{self.parts / TITLE} cannot be read. Name a new folder.", "out") from None
        if differing:
            raise InputError(
                f"{folder} contains an unfinished truth of another search: it differs in the {differing}. Continue "
                "with the same data and options, or name a new folder.",
                "out",
            )


def _joined(parts: Sequence[Neighbors]) -> Neighbors:
    """Return the neighbors of all queries."""
    ends = np.cumsum([0, *(len(part.tie_ids) for part in parts)])
    pointers = [part.tie_indptr[:-1] + start for part, start in zip(parts, ends, strict=False)]
    several = ("ids", "distances", "nearer", "tie_starts", "n_ties", "tie_ids")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in several}
    return replace(parts[0], tie_indptr=np.concatenate([*pointers, ends[-1:]]), **arrays)
