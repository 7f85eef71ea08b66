"""`truth`: the true neighbors of all queries, written to a folder with a certificate; a killed run is resumed."""

import hashlib
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from tieproof.analyses.neighbors.certificate import (
    ARRAYS,
    NAME,
    Certificate,
    RowsMeant,
    fingerprint_of,
    sha256_of,
    stored_arrays,
    ties_of,
    write_certificate,
)
from tieproof.analyses.neighbors.formats import FORMATS
from tieproof.analyses.neighbors.search import Parts, SearchInParts, budget_of, find
from tieproof.analyses.neighbors.sides import ORDER, Sides, digest_of_pairs, duplicates_of
from tieproof.distances import DistanceName, reported
from tieproof.errors import InputError, about, warn
from tieproof.evaluation.cluster.on_ray import connected
from tieproof.evaluation.problems import watched
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import as_folder, check_choice, check_whole, one_or_several
from tieproof.installed import __version__
from tieproof.show.parts import count
from tieproof.whole_files import PartsFolder, atomic_write, check_is_empty, continued

PARTS, TITLE = "parts", "search.json"  # the folder of an unfinished truth, and the file that says of which search
MANY_TIMES = 10  # if there are so many times as many queries as items, they are probably swapped


@unchanged_files
def truth(
    queries: Any,
    gallery: Any,
    k: int = 100,
    *,
    out: str | os.PathLike[str],
    distance: DistanceName | str = "cosine",
    formats: str | Iterable[str] = ("bigann", "vecs"),
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
    cluster: str | None = None,
    exclude: Any = None,
) -> Certificate:
    """Write the k nearest items of each query to a folder, with all ties at rank k and a certificate.

    The folder contains `truth.npz`, with the arrays `neighbors` (q, k), `distances`, and the fields `nearer`,
    `tie_starts`, `tie_indptr`, `tie_ids` and `n_ties` of `Neighbors`; the files of `formats`; and
    `certificate.json`, which is written last. The search is divided into parts of about a minute (of 1,000 queries at
    least; longer for distances that are no matrix products), whose neighbors are stored as they are found: if the run
    is killed, the same call continues it. The parts do not change a bit of the result.

    Parameters
    ----------
    queries : (q, d) floats, integers or bools of at most 64 bits, sparse rows as in `evaluate`, or shards
        The queries.
    gallery : (n, d), sparse rows, or shards
        The items; the ids of the neighbors are their positions. Shards (`tieproof.open`) are read piece by piece, as
        many rows at a time as half of the memory holds.
    k : whole number
        How many nearest items to list; all items if the gallery has fewer, which the certificate says.
    out : path of a folder
        A new or an empty folder, or one with an unfinished truth of the same data and options.
    distance, bits, memory, threads, progress :
        As in `evaluate`. Arrays, the neighbors of all queries, and 16 bytes for each row are in memory in addition.
    cluster : "auto", "local" or the address host:port of a Ray cluster
        Search on the workers of a cluster, each with `threads` (default: 1) and `memory`, as in `evaluate`. Workers
        read shards themselves; the files of parts are written by this process.
    exclude : rows (query, item), or (q, n) bools
        Pairs that are left out: in a filtered search, the items that do not pass the filter of a query (`~allowed`).
        A query that has fewer than k items left has -1 behind them, with the distance NaN; in `truth.parquet` its
        lists are shorter.
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
        data, or of the same in other pieces, as another memory or number of workers makes them; if a shard
        changed; if a file can't be written. An error leaves no file half written.
    ClusterError
        If the cluster repeatedly failed to search a part. The same call continues.
    MissingExtraError
        If the library of a format is not installed.

    Warns
    -----
    InputWarning
        As `nearest` does, and if there are ten times as many queries as items, which are probably swapped.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import tieproof as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     certificate = tp.truth([[0.0]], [[2.0], [1.0], [-1.0]], k=1, out=f"{folder}/truth", distance="euclidean")
    ...     found = tp.neighbor_recall([[2]], f"{folder}/truth", k=1)
    >>> certificate
    <Certificate of 1 query: 1 nearest of 3 items, 1 tie cut>
    >>> found[1].upper
    1.0
    >>> allowed = [[False, True, False]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = tp.truth([[0.0]], [[2.0], [1.0], [-1.0]], k=2, out=folder, exclude=~np.array(allowed))
    ...     np.load(f"{folder}/truth.npz")["neighbors"].tolist()
    [[1, -1]]

    """
    check_whole("k", k)
    names = one_or_several(formats)
    for name in names:
        check_choice("formats", name, FORMATS)
    chosen = {file: make() for name in names for file, make in FORMATS[name].items()}
    folder = as_folder(out, "out")
    if not isinstance(distance, str):
        raise InputError(
            f"The distance of a truth must be a name, not {type(distance).__name__}: a certificate cannot contain a "
            "function. tp.nearest takes one.",
            "distance",
        )
    with about("distance"):
        called = reported(distance)
    budget = budget_of(memory, threads, cluster)
    sides = Sides.of(queries, gallery)
    n_queries, n_items = (side.shape[0] for side in sides)
    if sides.gallery.usual and "hdf5" in names:
        raise InputError(
            "A file .hdf5 of ann-benchmarks contains the vectors, which must not be sparse rows. Leave hdf5 out.",
            "formats",
        )
    if n_queries >= MANY_TIMES * n_items:
        warn(f"There are {n_queries:,} queries, but only {count(n_items, 'item')}. {ORDER}")
    excluded = sides.excluded(exclude)
    problem, left_out = sides.search(distance, bits, budget, excluded), digest_of_pairs(excluded)
    with connected(cluster, budget) as runner:
        digests = sides.digests(runner, budget.threads)
        meant = [RowsMeant.of(side, own) for side, own in zip(sides, digests, strict=True)]
        search = SearchInParts.of(problem, min(int(k), len(problem.items)), runner.workers)
        title = {
            "gallery": meant[1].in_order,
            "queries": meant[0].in_order,
            "distance": called,
            "bits": str(bits),
            "k": str(k),
            "exclude": str(left_out),
            "version of tieproof": __version__,
            "memory or the workers": hashlib.sha256(f"{search.size} {search.pieces}".encode()).hexdigest(),
        }
        sides.check_self_matches(problem, digests)
        with about("out"):  # a folder with anything but an unfinished truth is refused
            if (folder / NAME).exists():
                raise InputError(
                    f"{folder} contains a finished truth already. Name another folder, or remove this one."
                )
            if not (folder / PARTS).exists():
                check_is_empty(folder)
        stored = PartsFolder(folder / PARTS, "search", title, TITLE, "out")
        parts = Parts(stored, search)
        watch = watched(progress, None if cluster is None else runner.workers)
        with continued(folder, lambda: search.done(parts), search.pairs):
            found = find(search, runner, parts, watch, duplicates_of(sides.gallery, digests[1]))
    with atomic_write(folder / ARRAYS) as unfinished:
        np.savez(unfinished, **stored_arrays(found))
    for name, each in chosen.items():
        with atomic_write(folder / name) as unfinished:
            each.write(sides, found, unfinished)
    certificate = Certificate(
        distance=called,
        bits=bits and int(bits),
        k=int(k),
        listed=search.k,
        queries=meant[0],
        gallery=meant[1],
        ties=ties_of(found),
        duplicates=found.duplicates,
        neighbors=fingerprint_of(found, *digests),
        exclude=left_out,
        files={name: sha256_of(folder / name) for name in (ARRAYS, *chosen)},
        version=__version__,
    )
    write_certificate(folder, certificate)
    stored.remove()
    return certificate
