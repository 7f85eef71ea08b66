"""Files of tensors in the safetensors format (.safetensors)."""

import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.damage import broken, library, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import raw_rows
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

KIND = "a safetensors file (.safetensors)"

LONGEST_HEADER = 100_000_000
"""The most bytes of a header that the format allows."""

BITS_OF_BFLOAT16 = "<u2"
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": BITS_OF_BFLOAT16,
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the tensors of the file; a header is checked by the library, or of a remote file here."""
    safetensors = library("safetensors", path, "safetensors")
    with reading(path, KIND):
        start, header = read_header(path)
        if not isinstance(path, Path):
            check_header(path, header, path.stat().st_size - start)
            return [_entry(path, name, header[name], start) for name in header]
        with safetensors.safe_open(path, framework="numpy") as file:
            return [_entry(path, name, header[name], start) for name in file.keys()]  # noqa: SIM118


def read_header(path: File) -> tuple[int, dict[str, Any]]:
    """Return where the data begins, after 8 bytes with the length of the header and the header, and the header."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > LONGEST_HEADER:
            raise InputError(broken(path, KIND))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return 8 + length, header


def check_header(path: File, header: Mapping[str, Any], size: int) -> None:
    """Refuse tensors that do not exactly fill the bytes after the header, in order, or have wrong lengths."""
    end = 0
    for tensor in sorted(header.values(), key=lambda tensor: tuple(tensor["data_offsets"])):
        first, last = tensor["data_offsets"]
        known = tensor["dtype"] in DTYPES
        needed = math.prod(tensor["shape"]) * np.dtype(DTYPES[tensor["dtype"]]).itemsize if known else last - first
        if first != end or last - first != needed:
            raise InputError(broken(path, KIND))
        end = last
    if end != size:
        raise InputError(broken(path, KIND))


def _entry(path: File, name: str, tensor: Mapping[str, Any], start: int) -> Entry:
    dtype, shape = tensor["dtype"], tensor["shape"]
    bits, kind = dtype == "BF16", np.dtype(DTYPES.get(dtype, "V1"))
    read = raw_rows(Location(path, name), kind, start + tensor["data_offsets"][0], math.prod(shape[1:]))

    def rows(first: int, last: int) -> Array:
        found = read(first, last)
        return _from_bfloat16(found) if bits else found

    def load() -> Array:
        if dtype not in DTYPES:
            raise InputError(f"{Location(path, name)} contains values of type {dtype}; save them as float32.")
        with reading(path, KIND):
            # NumPy has no bfloat16, so the library refuses it; its bytes are read at the offsets in the header.
            values = read(0, *shape[:1] or [1]).reshape(shape)
            return _from_bfloat16(values) if bits else values

    return Entry(
        name,
        tuple(shape),
        holds(dtype, shape),
        load,
        "bfloat16" if bits else None,
        rows if len(shape) == 2 and dtype in DTYPES else None,
    )


def _from_bfloat16(bits: Array) -> Array:
    """Widen exactly: a bfloat16 is the upper half of a float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
