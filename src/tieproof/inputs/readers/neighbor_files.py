"""Reads files of ids, distances, scores or counts that an index of nearest neighbours returned."""

from tieproof.errors import InputError
from tieproof.inputs.readers import Place, entries_of
from tieproof.inputs.readers.entries import EMBEDDINGS, choose, listed
from tieproof.inputs.readers.location import split
from tieproof.inputs.readers.neighbors import IDS
from tieproof.ties import Array


def read_returned(location: Place, what: str) -> Array:
    """Read an array as it is stored.

    location : a file, or a file and one of its entries, as for `read_embeddings`; without an entry, the one called
        `what` (of ids also `neighbors`, as in files of ann-benchmarks), or the only one
    what : "ids", "distances", "scores" or "counts"

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/found.npz", ids=[[4, 2]], distances=[[0.5, 0.75]])
    ...     read_returned(f"{folder}/found.npz", "distances")
    array([[0.5 , 0.75]])
    """
    where = split(location)
    names = IDS if what == "ids" else (what,)
    entries = entries_of(where)
    if where.entry is not None:
        return choose(entries, where, EMBEDDINGS).load()
    named = [entry for entry in entries if entry.name.rpartition("/")[2] in names]
    possible = named or entries
    if len(possible) != 1:
        raise InputError(
            f"{where.path} does not say which of its entries are the {what}: it contains {listed(entries)}. Choose "
            f"one by a colon and its name, or rename one to '{what}'."
        )
    return possible[0].load()
