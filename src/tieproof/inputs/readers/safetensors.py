"""Files of tensors in the safetensors format (.safetensors)."""

import json
import math
from collections.abc import Collection
from pathlib import Path

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.damage import library, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location
from tieproof.ties import Array

KIND = "a safetensors file (.safetensors)"

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


def entries(path: Path, named: Collection[str] = ()) -> list[Entry]:
    """Return the tensors of the file; the library checks its header."""
    safetensors = library("safetensors", path, "safetensors")
    with reading(path, KIND), safetensors.safe_open(path, framework="numpy") as file:
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
        return [_entry(path, name, part.get_dtype(), part.get_shape()) for name, part in slices.items()]


def _entry(path: Path, name: str, dtype: str, shape: list[int]) -> Entry:
    def load() -> Array:
        if dtype not in DTYPES:
            raise InputError(f"{Location(path, name)} holds values of type {dtype}; save them as float32.")
        with reading(path, KIND):
            # NumPy has no bfloat16, and so the library refuses it; the bytes are where the header says.
            values = np.fromfile(path, DTYPES[dtype], math.prod(shape), offset=_start(path, name)).reshape(shape)
            return _from_bfloat16(values) if dtype == "BF16" else values

    return Entry(name, tuple(shape), holds(dtype, shape), load, "bfloat16" if dtype == "BF16" else None)


def _start(path: Path, name: str) -> int:
    """Where a tensor begins: 8 bytes give the length of the header, which counts from its own end."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    return 8 + length + int(header[name]["data_offsets"][0])


def _from_bfloat16(bits: Array) -> Array:
    """Widen exactly: a bfloat16 is the upper half of a float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
