"""Records: a `Result` as one file that others can read and check, without anything in it that is executed."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.evaluated import EMPTY, Evaluated, Origin, Setting
from tieproof.evaluation.result import Result
from tieproof.evaluation.saving import CATEGORIES, EXTENSION, FACTS, FORMAT, VERSION
from tieproof.inputs.categories import Categories
from tieproof.inputs.identities import Hashed
from tieproof.inputs.labels import check_code_points
from tieproof.inputs.readers.location import Location, broken, reading
from tieproof.inputs.readers.npy import read_header
from tieproof.inputs.schemas import fits
from tieproof.measures import parse
from tieproof.ties import Array

_KIND = "a record of tieproof (.tieproof)"
_MOST_FACTS = 2**22  # the largest size of `record.json` in bytes; it contains no values of single queries
_ID = ("int64", "uint64", "str", "bytes")
_NUMBER = (
    *("float64", "float32", "float16", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
_TYPES = {
    "query_ids": _ID,
    "values": ("float64",),
    "tie_counts": ("int64",),
    "query_digests": ("uint64",),
    "empty_ids": _ID,
    "confidence": _NUMBER,
    "not_in_run": _ID,
    "category_names": _ID,
    "category_of_query": ("int64",),
    "category_of_empty": ("int64",),
    "category_counted": ("bool",),
}
"""The arrays by name, and the dtypes that each may have; left_out_0, left_out_1, … contain ids, too."""

_NEEDED = {f"{name}.npy" for name in ("query_ids", "values", "tie_counts", "query_digests", "empty_ids")}

_FURTHER: dict[str, tuple[type, ...]] = {"own": (str,), "duplicates": (str,)}  # only if not the default
_OPTIONS: dict[str, dict[str, tuple[type, ...]]] = {
    "evaluate": {"bits": (int, NoneType)},
    "evaluate_answers": {"unanswered": (str,)},
    "evaluate_scores": {},
    "evaluate_distances": {},
    "evaluate_neighbors": {"search": (str,), **_FURTHER},
    "evaluate_run": {"missing": (str,), "truncated": (bool, int), "n_items": (int, NoneType), **_FURTHER},
}
"""The calls whose results have records, and the options of each call with their types."""

_LONGEST = 1000  # the length of a text among the facts, which must be printable: some are shown in terminals
_Facts = dict[str, Any]  # what `record.json` contains


def load(path: Any) -> Result:
    """Read a record that `Result.save` wrote, and return the same result, bit for bit.

    Nothing in the file is executed, and no array takes more memory than the file is long.

    Parameters
    ----------
    path : the path of the file

    Raises
    ------
    InputError
        The file is not a record, is damaged or truncated, is inconsistent, or has another version of the format.

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
    with reading(place, _KIND):
        with place.open("rb") as file:
            if file.read(4) != b"PK\x03\x04":  # the beginning of any zip archive
                named = place.suffix.lower() == EXTENSION
                raise InputError(
                    broken(place, _KIND) if named else f"{place} is not a record; pass a file that Result.save wrote."
                )
        try:
            with ZipFile(place) as archive:
                facts, arrays = _read(archive, place)
            return _result_of(facts, arrays, place)
        except (InputError, MemoryError):
            raise
        except Exception as error:  # as `reading` catches them, here for a file that begins as a record does
            raise InputError(
                f"{place} is damaged or cut short, or not a record of tieproof; copy it again."
            ) from error


def _read(archive: ZipFile, path: Path) -> tuple[_Facts, dict[str, Array]]:
    """Check the names and sizes of the members of an archive, and read them: the facts, and all arrays by name."""
    members = {member.filename: member for member in archive.infolist()}
    size, told = path.stat().st_size, sum(member.file_size for member in archive.infolist())
    plain = all(m.compress_type == ZIP_STORED and m.file_size == m.compress_size for m in members.values())
    if any(member.comment for member in members.values()):
        raise ValueError("the damaged length of a comment hides the members that follow")
    if FACTS not in members:
        raise InputError(
            f"{path} is a zip archive, but not a record: it does not contain {FACTS}; pass a file that Result.save "
            "wrote."
        )
    if len(members) < len(archive.infolist()) or not plain or told > size or members[FACTS].file_size > _MOST_FACTS:
        raise InputError(
            f"{path} was not written by tieproof: its members are compressed, have the same name, or are larger "
            "than the file. Ask for the file as Result.save wrote it."
        )
    facts = json.loads(archive.read(FACTS), object_pairs_hook=_as_dictionary, parse_constant=_refuse_constant)
    _check_version(facts, path)
    if not {f"{name}.npy" for name in _types(facts)} | {FACTS} >= set(members) >= _NEEDED:
        raise InputError(f"{path} was not written by tieproof: its members have unexpected names; copy it again.")
    arrays = {}
    for name, member in members.items():
        if name == FACTS:
            continue
        part = name.removesuffix(".npy")
        with archive.open(name) as stream:
            read_header(stream, member.file_size, Location(path, part))
        with archive.open(name) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
            arrays[part] = array.astype(array.dtype.newbyteorder("="), copy=False)
            if stream.read(1):
                raise InputError(f"{path}:{part} has bytes after the end of its array; copy the record again.")
    return facts, arrays


def _as_dictionary(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dictionary; a repeated name is refused."""
    dictionary = dict(pairs)
    if len(dictionary) < len(pairs):
        raise ValueError("a name occurs twice")
    return dictionary


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _check_version(facts: Any, path: Path) -> None:
    is_record = isinstance(facts, dict) and facts.get("format") == FORMAT
    if not is_record or type(facts.get("version")) is not int or facts["version"] < 1:
        raise InputError(f"{path} is not a record of tieproof; pass a file that Result.save wrote.")
    if facts["version"] != VERSION:
        remedy = "Evaluate the data again and save the result."
        if facts["version"] > VERSION:
            remedy = "Install a newer tieproof: pip install --upgrade tieproof"
        raise InputError(
            f"{path} is a record in version {facts['version']} of the format, but this tieproof reads only version "
            f"{VERSION}. {remedy}"
        )


def _types(facts: _Facts) -> dict[str, tuple[str, ...]]:
    return _TYPES | {f"left_out_{place}": _ID for place in range(len(facts["left_out"]))}


def _result_of(facts: _Facts, arrays: dict[str, Array], path: Path) -> Result:
    types = _types(facts)
    for name, array in arrays.items():
        kind = {"U": "str", "S": "bytes"}.get(array.dtype.kind, array.dtype.name)
        if kind not in types[name]:
            known = " or ".join(types[name])
            raise InputError(f"{path}:{name} has dtype {kind}, not {known}; copy the record again.")
        if array.dtype.kind == "U":
            check_code_points(array, f"{path}:{name}")
    result = Result(_evaluated_of(facts, arrays)) if _fits(facts, arrays) else None
    if result is None or {name: asdict(result[name]) for name in result.measures} != facts["measures"]:
        raise InputError(
            f"{path} is inconsistent: the values of its queries, their numbers and the means are not from one "
            "result. Ask for the file as Result.save wrote it."
        )
    return result


def _evaluated_of(facts: _Facts, arrays: dict[str, Array]) -> Evaluated:
    categories = [arrays[part] for part in CATEGORIES if part in arrays]
    return Evaluated(
        setting=Setting(**facts["setting"]),
        origin=Origin(
            facts["call"],
            facts["options"],
            Hashed(facts["fingerprint"]),
            facts["relevant"],
            arrays["query_digests"],
            facts["tieproof"],
        ),
        query_ids=arrays["query_ids"],
        per_query=dict(zip(map(parse, facts["measures"]), arrays["values"], strict=True)),
        tie_counts=arrays["tie_counts"],
        zero_vectors=facts["zero_vectors"],
        empty_ids=arrays["empty_ids"],
        left_out={reason: arrays[f"left_out_{place}"] for place, reason in enumerate(facts["left_out"])},
        categories=Categories(*categories) if categories else None,
        confidence=arrays.get("confidence"),
        not_in_run=arrays.get("not_in_run"),
    )


def _fits(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> bool:
    count, measures = len(arrays["query_ids"]), len(facts["measures"])
    known = _OPTIONS[facts["call"]]
    shapes = {
        "query_ids": (count,),
        "values": (measures, 4, count),
        "tie_counts": (4, count),
        "query_digests": (count,),
        "confidence": (count,),
        "category_of_query": (count,),
        "category_of_empty": arrays["empty_ids"].shape,
    }
    lower, expected, upper, variance = np.moveaxis(arrays["values"], 1, 0)
    open_values = np.isnan(lower)
    parts = [part for part in CATEGORIES if part in arrays]
    return bool(
        count
        and measures
        and all(arrays[name].shape == shape for name, shape in shapes.items() if name in arrays)
        and all(array.ndim == 1 for name, array in arrays.items() if name not in ("values", "tie_counts"))
        and np.isfinite(arrays["values"][:, :, ~open_values.any(axis=0)]).all()
        and (open_values == open_values[0]).all()
        and open_values[0].sum() == (len(arrays["empty_ids"]) if facts["setting"]["empty"] == "nan" else 0)
        and (((lower <= expected) & (expected <= upper) & (variance >= 0)) | open_values).all()
        and (arrays["tie_counts"] >= 0).all()
        and parts in ([], [*CATEGORIES])
        and (not parts or _categories_fit(arrays))
        and known.keys() - _FURTHER.keys() <= facts["options"].keys() <= known.keys()
        and all(type(value) in known[name] for name, value in facts["options"].items())
        and _setting_fits(facts["setting"], bool(parts))
        and all(re.fullmatch("[0-9a-f]{64}", facts[name]) for name in ("fingerprint", "relevant"))
        and type(facts["zero_vectors"]) is int
        and facts["zero_vectors"] >= 0
        and all(map(_can_be_shown, [facts["tieproof"], *facts["left_out"]]))
    )


def _categories_fit(arrays: Mapping[str, Array]) -> bool:
    names, of_query, of_empty, counted = (arrays[part] for part in CATEGORIES)
    places = np.concatenate([of_query, of_empty])
    return bool(
        (names[1:] > names[:-1]).all()
        and counted.shape == names.shape
        and len(places)
        and places.min() >= 0
        and places.max() < len(names)
    )


def _setting_fits(setting: Mapping[str, Any], has_categories: bool) -> bool:
    """Whether a setting has the fields of `Setting` with the right types, no negative number and known policies."""
    return (
        fits(setting, Setting)
        and list(setting) == list(Setting.__annotations__)
        and all(value >= 0 for value in setting.values() if type(value) is int)
        and all(map(_can_be_shown, [value for value in setting.values() if type(value) is str]))
        and setting["empty"] in EMPTY
        and (setting["average"] == "micro" or has_categories)
    )


def _can_be_shown(text: str) -> bool:
    return text.isprintable() and len(text) < _LONGEST
