"""A record: a `Result` as one file that others can read and check, without anything in it that is executed.

A record is a zip archive without compression. It contains `record.json` with the facts, and NumPy arrays (.npy) with
the values of every query. So every bit of every number is kept, any zip tool can open it, `numpy.load` reads its
arrays, each member has a checksum, and no member can be larger than the file. The same result gives the same bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.evaluation.evaluated import Evaluated, Origin, Setting
from tieproof.evaluation.result import Result
from tieproof.inputs.arrays import check_code_points
from tieproof.inputs.categories import Categories
from tieproof.inputs.identities import Hashed
from tieproof.inputs.readers.damage import broken, reading
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import read_header
from tieproof.installed import __version__
from tieproof.measures import parse
from tieproof.records.checks import CATEGORIES, fits
from tieproof.ties import Array

KIND = "a record of tieproof (.tieproof)"
FORMAT, VERSION = "tieproof record", 3

QUERY_DIGESTS = 3
"""The first version in which the scores of a query are bound to its row of the data."""

REVEALS = (
    "The scores, counts, ids, categories and confidences of every query are in this file. Its hashes say nothing "
    "about labels without all the data, but whoever has the embeddings or runs can infer from the scores what is "
    "relevant."
)
"""What a record tells a stranger, for its reader."""

EXTENSION = ".tieproof"
FACTS = "record.json"

BEGINNING = b"PK\x03\x04"
"""The first bytes of a zip archive, and so of any file that may be a record."""

MOST_FACTS = 2**22
"""The largest size of `record.json` in bytes; it contains no values of single queries."""

ID = ("int64", "uint64", "str", "bytes")
NUMBER = (
    "float64",
    "float32",
    "float16",
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
TYPES = {
    "query_ids": ID,
    "values": ("float64",),
    "tie_counts": ("int64",),
    "relevant": ("uint64",),
    "query_digests": ("uint64",),
    "empty_ids": ID,
    "confidence": NUMBER,
    "not_in_run": ID,
    "category_names": ID,
    "category_of_query": ("int64",),
    "category_of_empty": ("int64",),
    "category_counted": ("bool",),
}
"""The arrays by name, and the dtypes that each may have; left_out_0, left_out_1, … contain ids, too."""

NEEDED = ("query_ids", "values", "tie_counts", "empty_ids")


class Contents(NamedTuple):
    """The contents of a record: the facts, and the arrays of all queries by their names."""

    facts: dict[str, Any]
    arrays: dict[str, Array]


def contents_of(result: Result) -> Contents:
    """The contents of the record of a result; refused for the result of one category."""
    found = result.evaluated
    if not found.origin.fingerprint:
        raise InputError(
            "The result of one category has no record of its own, because it cannot be evaluated again alone. Save "
            "the whole result, which includes its categories."
        )
    digests = found.query_digests()
    if digests is None:
        raise InputError(
            "This result is from a record in an earlier version of the format, which does not tell which row of the "
            "data each query is. Copy its file, or evaluate the data again and save that result."
        )
    arrays: dict[str, Array | None] = {
        "query_ids": found.query_ids,
        "values": np.stack([*found.per_query.values()]),
        "tie_counts": found.tie_counts,
        "query_digests": digests,
        "empty_ids": found.empty_ids,
        "confidence": found.confidence,
        "not_in_run": found.not_in_run,
    }
    if found.categories is not None:
        groups = found.categories
        arrays |= zip(CATEGORIES, (groups.names, groups.of_query, groups.of_empty, groups.counted), strict=True)
    arrays |= {f"left_out_{place}": ids for place, ids in enumerate(found.left_out.values())}
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "reveals": REVEALS,
        "tieproof": found.origin.version or __version__,
        "call": found.origin.call,
        "options": dict(found.origin.options),
        "setting": asdict(found.setting),
        "fingerprint": found.origin.fingerprint,
        "relevant": found.relevance_hash(),
        "measures": {name: asdict(result[name]) for name in result.measures},
        "zero_vectors": found.zero_vectors,
        "left_out": list(found.left_out),
    }
    return Contents(facts, {name: array for name, array in arrays.items() if array is not None})


def load(path: Any) -> Result:
    """Read a record that `Result.save` wrote, and return the same result, bit for bit.

    Nothing in the file is executed, and no array takes more memory than the file is long.

    Parameters
    ----------
    path : the path of the file

    Raises
    ------
    InputError
        The file is not a record, is damaged or truncated, is inconsistent, or was written by a newer tieproof.

    Warns
    -----
    InputWarning
        The record has version 1 or 2 of the format, which do not tell whose scores they are.

    Examples
    --------
    >>> import tempfile
    >>> import tieproof as tp
    >>> result = tp.evaluate([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]], ["a", "a", "b"], measures=["AP"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/run.tieproof")
    ...     again = tp.load(f"{folder}/run.tieproof")
    >>> again["AP"] == result["AP"], again.fingerprint == result.fingerprint
    (True, True)

    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"A record is read from the path of a file, not from {type(path).__name__}.", "path")
    place = Path(path)
    if not place.is_file():
        raise InputError(f"{place} does not exist or is not a file; pass the path of a record.")
    with reading(place, KIND):
        with place.open("rb") as file:
            if file.read(4) != BEGINNING:
                named = place.suffix.lower() == EXTENSION
                raise InputError(
                    broken(place, KIND) if named else f"{place} is not a record; pass a file that Result.save wrote."
                )
        try:
            with ZipFile(place) as archive:
                contents = read(archive, place)
            result = result_of(contents, place)
        except (InputError, MemoryError):
            raise
        except Exception as error:  # as `reading` catches them, here for a file that begins as a record does
            raise InputError(
                f"{place} is damaged or cut short, or not a record of tieproof; copy it again."
            ) from error
    if contents.facts["version"] < QUERY_DIGESTS:
        warn(
            f"{place} has version {contents.facts['version']} of the format, which does not tell which row of the "
            "data each query is, so that it can only be verified in the order of the data; and it shows which "
            "queries have the same labels. Evaluate the data again and save the result."
        )
    return result


def read(archive: ZipFile, path: Path) -> Contents:
    """Check the names and sizes of the members of an archive, and read them."""
    members = {member.filename: member for member in archive.infolist()}
    size, told = path.stat().st_size, sum(member.file_size for member in archive.infolist())
    plain = all(m.compress_type == ZIP_STORED and m.file_size == m.compress_size for m in members.values())
    if FACTS not in members:
        raise InputError(
            f"{path} is a zip archive, but not a record: it does not contain {FACTS}; pass a file that Result.save "
            "wrote."
        )
    if len(members) < len(archive.infolist()) or not plain or told > size or members[FACTS].file_size > MOST_FACTS:
        raise InputError(
            f"{path} was not written by tieproof: its members are compressed, have the same name, or are larger "
            "than the file. Ask for the file as Result.save wrote it."
        )
    facts = json.loads(archive.read(FACTS), object_pairs_hook=once, parse_constant=refuse_constant)
    check_version(facts, path)
    if facts.get("call") == "evaluate_answers" and facts.get("options") == {}:
        facts["options"] = {"unanswered": "last"}
    needed, unused = [*NEEDED], ["relevant", "query_digests"]
    needed.append(unused.pop(facts["version"] >= QUERY_DIGESTS))
    known = {f"{name}.npy" for name in expected(facts) if name not in unused} | {FACTS}
    if not known >= set(members) or not {f"{name}.npy" for name in needed} <= set(members):
        raise InputError(f"{path} was not written by tieproof: its members have unexpected names; copy it again.")
    arrays = {}
    for name, member in members.items():
        if name != FACTS:
            where = Location(path, name.removesuffix(".npy"))
            with archive.open(name) as stream:
                read_header(stream, member.file_size, where)
            with archive.open(name) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
                arrays[where.entry or ""] = array.astype(array.dtype.newbyteorder("="), copy=False)
                if stream.read(1):
                    raise InputError(f"{where} has bytes after the end of its array; copy the record again.")
    return Contents(facts, arrays)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dictionary; a repeated name is refused."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def refuse_constant(name: str) -> float:
    """Refuse NaN and infinity, which no number of a record is."""
    raise ValueError(name)


def check_version(facts: Any, path: Path) -> None:
    """Refuse facts that are not of a record, or that only a newer tieproof can read."""
    is_record = isinstance(facts, dict) and facts.get("format") == FORMAT
    if not is_record or type(facts.get("version")) is not int or facts["version"] < 1:
        raise InputError(f"{path} is not a record of tieproof; pass a file that Result.save wrote.")
    if facts["version"] > VERSION:
        raise InputError(
            f"{path} is a record in version {facts['version']} of the format, but this tieproof reads only up to "
            f"version {VERSION}. Install a newer tieproof: pip install --upgrade tieproof"
        )


def expected(facts: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The arrays that a record may have, and the dtypes that each may have."""
    return TYPES | {f"left_out_{place}": ID for place in range(len(facts["left_out"]))}


def result_of(contents: Contents, path: Path) -> Result:
    """The result in a record; refused if its parts are inconsistent."""
    facts, arrays = contents
    for name, array in arrays.items():
        found = {"U": "str", "S": "bytes"}.get(array.dtype.kind, array.dtype.name)
        if found not in expected(facts)[name]:
            raise InputError(
                f"{path}:{name} has dtype {found}, not {' or '.join(expected(facts)[name])}; copy the record again."
            )
        if array.dtype.kind == "U":
            check_code_points(array, f"{path}:{name}")
    fine = fits(facts, arrays)
    result = Result(evaluated_of(facts, arrays)) if fine else None
    if result is None or {name: asdict(result[name]) for name in result.measures} != facts["measures"]:
        raise InputError(
            f"{path} is inconsistent: the values of its queries, their numbers and the means are not from one "
            "result. Ask for the file as Result.save wrote it."
        )
    return result


def evaluated_of(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Evaluated:
    """The values of every query, from the parts of a record."""
    groups = [arrays[part] for part in CATEGORIES if part in arrays]
    return Evaluated(
        setting=Setting(**facts["setting"]),
        origin=Origin(
            facts["call"],
            facts["options"],
            Hashed(facts["fingerprint"]),
            facts["relevant"] if facts["version"] >= QUERY_DIGESTS else arrays["relevant"],
            arrays.get("query_digests"),
            facts["tieproof"],
        ),
        query_ids=arrays["query_ids"],
        per_query=dict(zip(map(parse, facts["measures"]), arrays["values"], strict=True)),
        tie_counts=arrays["tie_counts"],
        zero_vectors=facts["zero_vectors"],
        empty_ids=arrays["empty_ids"],
        left_out={reason: arrays[f"left_out_{place}"] for place, reason in enumerate(facts["left_out"])},
        categories=Categories(*groups) if groups else None,
        confidence=arrays.get("confidence"),
        not_in_run=arrays.get("not_in_run"),
    )
