"""Writing of records; `records/record.py` describes and reads them."""

import json
import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.result import Result
from tieproof.records.record import EXTENSION, FACTS, contents_of
from tieproof.show.files import Formats
from tieproof.whole_files import atomic_write

DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date that an archive can have; a record does not tell when it was written."""


def save(result: Result, path: Any) -> None:
    """Write the record of a result, whole or not at all."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be the path of a file, as text or Path, not {type(path).__name__}.", "path")
    if Path(path).suffix.lower() != EXTENSION:
        raise InputError(f"The name of a record must end in {EXTENSION}, but path is {os.fspath(path)}; change it.")
    with atomic_write(path) as unfinished:
        write(result, unfinished)


def write(result: Result, path: Path) -> None:
    """Write the parts of a record; the same result always gives the same bytes."""
    parts = list(members(result))
    with ZipFile(path, "w", ZIP_STORED) as archive:
        for name, content in parts:
            member = ZipInfo(name, DATE)
            member.create_system, member.external_attr = 3, 0o644 << 16  # whatever the system
            archive.writestr(member, content)


def members(result: Result) -> Iterator[tuple[str, bytes]]:
    """The names and the bytes of all parts."""
    facts, arrays = contents_of(result)
    yield FACTS, (json.dumps(facts, indent=1, allow_nan=False) + "\n").encode("ascii")
    for name, array in arrays.items():
        stream = BytesIO()
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        np.lib.format.write_array(stream, np.ascontiguousarray(little), version=(1, 0), allow_pickle=False)
        yield f"{name}.npy", stream.getvalue()


RECORDS: Formats = {EXTENSION: lambda: write}
"""The extension of records, which have everything of a result, and which `tieproof verify` checks."""
