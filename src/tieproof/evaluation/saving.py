"""Saving of results: the format of a record, and how it is written; `records/record.py` reads it.

A record is a zip archive without compression. It contains `record.json` with the facts, and NumPy arrays (.npy) with
the values of every query. So every bit of every number is kept, any zip tool can open it, `numpy.load` reads its
arrays, each member has a checksum, and no member can be larger than the file. The same result gives the same bytes.
"""

import json
from dataclasses import asdict
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.measured import Measured
from tieproof.show.files import Formats
from tieproof.ties import Array
from tieproof.whole_files import atomic_write

EXTENSION = ".tieproof"
FORMAT, VERSION = "tieproof record", 3

# What a record tells a stranger, for its reader.
_REVEALS = (
    "The scores, counts, ids, categories and confidences of every query are in this file. Its hashes say nothing "
    "about labels without all the data, but whoever has the embeddings or runs can infer from the scores what is "
    "relevant."
)
FACTS = "record.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date of an archive, because a record does not tell when it was written
CATEGORIES = ("category_names", "category_of_query", "category_of_empty", "category_counted")  # of queries


def save(result: Measured, path: Any) -> None:
    """Write the record of a result, whole or not at all; see `Result.save`."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"path must be the path of a file, as text or Path, not {type(path).__name__}.", "path")
    if Path(path).suffix.lower() != EXTENSION:
        raise InputError(f"The name of a record must end in {EXTENSION}, but path is {fspath(path)}; change it.")
    with atomic_write(path) as unfinished:
        _write(result, unfinished)


def _write(result: Measured, path: Path) -> None:
    facts, arrays = _parts_of(result)
    contents = {FACTS: (json.dumps(facts, indent=1, allow_nan=False) + "\n").encode("ascii")}
    for name, array in arrays.items():
        stream = BytesIO()
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        np.lib.format.write_array(stream, np.ascontiguousarray(little), version=(1, 0), allow_pickle=False)
        contents[f"{name}.npy"] = stream.getvalue()
    with ZipFile(path, "w", ZIP_STORED) as archive:
        for name, content in contents.items():
            member = ZipInfo(name, _DATE)
            member.create_system, member.external_attr = 3, 0o644 << 16  # whatever the system
            archive.writestr(member, content)


def _parts_of(result: Measured) -> tuple[dict[str, Any], dict[str, Array]]:
    """The facts and the arrays of the record of a result; refused for the result of one category."""
    from tieproof.installed import __version__  # only where a record is written, because it takes long

    known = result.evaluated
    if not known.origin.fingerprint:
        raise InputError(
            "The result of one category has no record of its own, because it cannot be evaluated again alone. Save "
            "the whole result, which includes its categories."
        )
    if known.noisy:
        raise InputError(
            "A record does not hold bounds under noise. Evaluate without noise and save that result, or write this "
            "one as JSON.",
            "noise",
        )
    arrays: dict[str, Array | None] = {
        "query_ids": known.query_ids,
        "values": np.stack([*known.per_query.values()]),
        "tie_counts": known.tie_counts,
        "query_digests": known.query_digests(),
        "empty_ids": known.empty_ids,
        "confidence": known.confidence,
        "not_in_run": known.not_in_run,
    }
    if (groups := known.categories) is not None:
        arrays |= zip(CATEGORIES, (groups.names, groups.of_query, groups.of_empty, groups.counted), strict=True)
    arrays |= {f"left_out_{place}": ids for place, ids in enumerate(known.left_out.values())}
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "reveals": _REVEALS,
        "tieproof": known.origin.version or __version__,
        "call": known.origin.call,
        "options": dict(known.origin.options),
        "setting": asdict(known.setting),
        "fingerprint": known.origin.fingerprint,
        "relevant": known.relevance_hash(),
        "measures": {name: asdict(result[name]) for name in result.measures},
        "zero_vectors": known.zero_vectors,
        "left_out": list(known.left_out),
    }
    return facts, {name: array for name, array in arrays.items() if array is not None}


# The extension of records, which have everything of a result, and which `tieproof verify` checks.
RECORDS: Formats = {EXTENSION: lambda: _write}
