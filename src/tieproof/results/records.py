"""A record: a `Result` as one file that others can read and check, without anything in it that is run.

It is a zip archive without compression: `record.json` with the facts, and NumPy arrays (.npy) with what is known of
each query. So every bit of every number is kept, any tool looks into it, `numpy.load` reads its arrays, a checksum
guards each part, and no part can hold more than the file does. The same result is the same bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.categories import Categories
from tieproof.inputs.readers.damage import broken, reading
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import read_header
from tieproof.inputs.strings import check_code_points
from tieproof.installed import __version__
from tieproof.measures import parse
from tieproof.results.evaluated import Evaluated, Origin, Setting
from tieproof.results.record_checks import CATEGORIES, fits
from tieproof.results.results import Result
from tieproof.ties import Array

KIND = "a record of tieproof (.tieproof)"
FORMAT, VERSION = "tieproof record", 2
VERSIONS = {"evaluate_answers": 2}
"""The versions of the format in which records of these calls came; those of all others are written in version 1."""

EXTENSION = ".tieproof"
FACTS = "record.json"

BEGINNING = b"PK\x03\x04"
"""How an archive begins, and so a file that may be a record."""

MOST_FACTS = 2**22
"""Bytes of `record.json`, which holds nothing of single queries."""

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
    "empty_ids": ID,
    "confidence": NUMBER,
    "not_in_run": ID,
    "category_names": ID,
    "category_of_query": ("int64",),
    "category_of_empty": ("int64",),
    "category_counted": ("bool",),
}
"""Arrays by their names, and NumPy's names for what they may hold; left_out_0, left_out_1, … hold ids, too."""

NEEDED = ("query_ids", "values", "tie_counts", "relevant", "empty_ids")


class Contents(NamedTuple):
    """What a record holds: the facts, and the arrays of all queries by their names."""

    facts: dict[str, Any]
    arrays: dict[str, Array]


def contents_of(result: Result) -> Contents:
    """What the record of a result holds; refused for the queries of one category alone."""
    found = result.evaluated
    if not found.origin.fingerprint:
        raise InputError(
            "The result of one category has no record of its own, since nobody could evaluate it again alone. Save "
            "the whole result, which holds its categories."
        )
    arrays: dict[str, Array | None] = {
        "query_ids": found.query_ids,
        "values": np.stack([*found.per_query.values()]),
        "tie_counts": found.tie_counts,
        "relevant": found.origin.relevant,
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
        "version": VERSIONS.get(found.origin.call, 1),
        "tieproof": found.origin.version or __version__,
        "call": found.origin.call,
        "options": dict(found.origin.options),
        "setting": asdict(found.setting),
        "fingerprint": found.origin.fingerprint,
        "measures": {name: asdict(result[name]) for name in result.measures},
        "zero_vectors": found.zero_vectors,
        "left_out": list(found.left_out),
    }
    return Contents(facts, {name: array for name, array in arrays.items() if array is not None})


def load(path: Any) -> Result:
    """Read the record that `Result.save` wrote: the same result, every bit of it.

    Nothing in the file is run, and no more memory is taken than the file is long.

    Parameters
    ----------
    path : the file, by its name

    Raises
    ------
    InputError
        What is no record, is damaged or cut short, does not fit together, or was written by a newer tieproof.

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
        raise InputError(f"{place} does not exist, or is no file; give the path of a record.")
    with reading(place, KIND):
        with place.open("rb") as file:
            if file.read(4) != BEGINNING:
                named = place.suffix.lower() == EXTENSION
                raise InputError(
                    broken(place, KIND) if named else f"{place} is no record; give what Result.save wrote."
                )
        try:
            with ZipFile(place) as archive:
                return result_of(read(archive, place), place)
        except (InputError, MemoryError):
            raise
        except Exception as error:  # the same that `reading` catches, of a file that begins as a record does
            raise InputError(f"{place} is damaged or cut short, or no record of tieproof; copy it again.") from error


def read(archive: ZipFile, path: Path) -> Contents:
    """The parts of an archive, once their sizes and names are known to be good."""
    members = {member.filename: member for member in archive.infolist()}
    size, told = path.stat().st_size, sum(member.file_size for member in archive.infolist())
    plain = all(m.compress_type == ZIP_STORED and m.file_size == m.compress_size for m in members.values())
    if FACTS not in members:
        raise InputError(f"{path} is a zip archive and no record: it holds no {FACTS}; give what Result.save wrote.")
    if len(members) < len(archive.infolist()) or not plain or told > size or members[FACTS].file_size > MOST_FACTS:
        raise InputError(
            f"{path} is no record that tieproof wrote: its parts are packed, named twice or larger than the file. "
            "Ask for the file as Result.save wrote it."
        )
    facts = json.loads(archive.read(FACTS), object_pairs_hook=once, parse_constant=refuse_constant)
    check_version(facts, path)
    known = {f"{name}.npy" for name in expected(facts)} | {FACTS}
    if not known >= set(members) or not {f"{name}.npy" for name in NEEDED} <= set(members):
        raise InputError(f"{path} is no record that tieproof wrote: its parts have other names; copy it again.")
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
                    raise InputError(f"{where} holds more than its array; copy the record again.")
    return Contents(facts, arrays)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def refuse_constant(name: str) -> float:
    """No number of a record is infinite or none."""
    raise ValueError(name)


def check_version(facts: Any, path: Path) -> None:
    """Refuse what is no record, and what only a newer tieproof can read."""
    is_record = isinstance(facts, dict) and facts.get("format") == FORMAT
    if not is_record or type(facts.get("version")) is not int or facts["version"] < 1:
        raise InputError(f"{path} is no record of tieproof; give what Result.save wrote.")
    if facts["version"] > VERSION:
        raise InputError(
            f"{path} is a record in version {facts['version']} of the format, and this tieproof reads up to "
            f"{VERSION}. Install a newer one: pip install --upgrade tieproof"
        )


def expected(facts: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The arrays that there may be, and what each may hold."""
    return TYPES | {f"left_out_{place}": ID for place in range(len(facts["left_out"]))}


def result_of(contents: Contents, path: Path) -> Result:
    """The result that a record holds, if all of it fits together."""
    facts, arrays = contents
    for name, array in arrays.items():
        found = {"U": "str", "S": "bytes"}.get(array.dtype.kind, array.dtype.name)
        if found not in expected(facts)[name]:
            raise InputError(f"{path}:{name} holds {found}, not {' or '.join(expected(facts)[name])}; copy it again.")
        if array.dtype.kind == "U":
            check_code_points(array, f"{path}:{name}")
    fine = fits(facts, arrays)
    result = Result(evaluated_of(facts, arrays)) if fine else None
    if result is None or {name: asdict(result[name]) for name in result.measures} != facts["measures"]:
        raise InputError(
            f"{path} does not fit together: the values of its queries, their numbers or the means are not those of "
            "one result. Ask for the file as Result.save wrote it."
        )
    return result


def evaluated_of(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Evaluated:
    """What a record knows of every query."""
    groups = [arrays[part] for part in CATEGORIES if part in arrays]
    return Evaluated(
        setting=Setting(**facts["setting"]),
        origin=Origin(
            facts["call"], facts["options"], facts["fingerprint"], arrays["relevant"], version=facts["tieproof"]
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
