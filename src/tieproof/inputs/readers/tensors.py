"""Files of tensors: in the safetensors format (.safetensors), and as PyTorch saves them (.pt, .pth)."""

import json
import math
import re
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NoReturn

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.inputs.arrays import not_readable
from tieproof.inputs.readers.columns import Entry, holds
from tieproof.inputs.readers.location import File, Location, broken, reading, state_of
from tieproof.inputs.readers.npy import stored_array
from tieproof.ties import Array

SAFETENSORS = "a safetensors file (.safetensors)"
TORCH = "tensors saved by PyTorch (.pt)"

LONGEST_HEADER = 100_000_000  # the most bytes of a header that the format safetensors allows

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",  # its bits, because NumPy has no bfloat16
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

FIRST_SAFE = 2, 10  # whose `weights_only` runs no code that is known: CVE-2025-32434, CVE-2026-24747
MOST_BYTES = 2**30  # the bytes that any tensor of PyTorch may take in memory
MOST_UNPACKED = 1024  # times the size of its file, of a larger tensor with repeated rows or omitted zeros


def of_safetensors(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the tensors of the file; a header is checked by the library, or of a remote file here."""
    safetensors = import_extra("safetensors", f"Reading {path}", "safetensors")
    with reading(path, SAFETENSORS):
        with path.open("rb") as file:  # 8 bytes with the length of the header, the header, the data
            length = int.from_bytes(file.read(8), "little")
            if length > LONGEST_HEADER:
                raise InputError(broken(path, SAFETENSORS))
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        if isinstance(path, Path):
            with safetensors.safe_open(path, framework="numpy") as tensors:
                names = list(tensors.keys())
        else:
            _check_header(path, header, state_of(path)[0] - 8 - length)
            names = list(header)
        return [_stored_tensor(path, name, header[name], 8 + length) for name in names]


def _check_header(path: File, header: Mapping[str, Any], size: int) -> None:
    """Refuse tensors that do not exactly fill the bytes after the header, in order, or have wrong lengths."""
    end = 0
    for tensor in sorted(header.values(), key=lambda tensor: tuple(tensor["data_offsets"])):
        first, last = tensor["data_offsets"]
        known = tensor["dtype"] in DTYPES
        needed = math.prod(tensor["shape"]) * np.dtype(DTYPES[tensor["dtype"]]).itemsize if known else last - first
        if first != end or last - first != needed:
            raise InputError(broken(path, SAFETENSORS))
        end = last
    if end != size:
        raise InputError(broken(path, SAFETENSORS))


def _stored_tensor(path: File, name: str, tensor: Mapping[str, Any], start: int) -> Entry:
    kind, shape, where = tensor["dtype"], tuple(tensor["shape"]), Location(path, name)

    def refused() -> NoReturn:
        raise InputError(f"{where} contains values of type {kind}; save them as float32.")

    if kind not in DTYPES:
        return Entry(name, shape, holds(kind, shape), refused)
    offset = start + tensor["data_offsets"][0]
    entry = stored_array(where, SAFETENSORS, np.dtype(DTYPES[kind]), offset, shape)._replace(holds=holds(kind, shape))
    if kind != "BF16":
        return entry
    stored = entry.rows
    rows = stored and (lambda first, last: _as_float32(stored(first, last)))
    return entry._replace(load=lambda: _as_float32(entry.load()), stored="bfloat16", rows=rows)


def _as_float32(bits: Array) -> Array:
    """Return the numbers of bfloat16, which is the upper half of a float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def of_torch(path: Path, named: Collection[str] = ()) -> list[Entry]:
    """Return the tensor of the file as the only, unnamed entry, or the tensors of a dict by their keys."""
    torch = import_extra("torch", f"Reading {path}", "torch")
    if tuple(map(int, re.findall(r"\d+", torch.__version__)[:2])) < FIRST_SAFE:
        raise InputError(
            f"{path} is not read with torch {torch.__version__}, which such a file could make run code; install "
            f"torch {'.'.join(map(str, FIRST_SAFE))} or newer, or save .safetensors or .npy."
        )
    with reading(path, TORCH), warnings.catch_warnings():
        # PyTorch 2.15 warns that it checks sparse tensors, as it should.
        warnings.filterwarnings("ignore", "Validating sparse tensor invariants", UserWarning)
        try:
            saved = torch.load(path, map_location="cpu", weights_only=True)
        except UnpicklingError as error:
            raise InputError(
                f"{path} contains Python objects, which are never unpickled, or is damaged; "
                "save a tensor or a dict of tensors with torch.save."
            ) from error
        items = list(saved.items()) if isinstance(saved, Mapping) else [("", saved)]
        tensors = [(str(name), item) for name, item in items if isinstance(item, torch.Tensor)]
    if not tensors:
        raise InputError(
            f"{path} contains a {type(saved).__name__} without tensors; "
            "save a tensor or a dict of tensors with torch.save."
        )
    return [_loaded_tensor(path, name, tensor) for name, tensor in tensors]


def _loaded_tensor(path: Path, name: str, tensor: Any) -> Entry:
    def load() -> Array:
        if tensor.is_meta or tensor.is_nested or tensor.is_quantized:
            raise InputError(f"{Location(path, name)} is {not_readable(tensor)}")
        needed, stored = tensor.numel() * tensor.element_size(), path.stat().st_size
        if needed > max(MOST_BYTES, MOST_UNPACKED * stored):
            raise InputError(
                f"{Location(path, name)} would take {needed / 2**30:.1f} GiB, and its file has {stored:,} bytes; "
                "save a tensor without repeated or left out elements."
            )
        with reading(path, TORCH):
            torch = import_extra("torch", f"Reading {path}", "torch")
            plain = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
            if plain.is_floating_point() and plain.dtype not in (torch.float16, torch.float32, torch.float64):
                plain = plain.float()  # exact: bfloat16 and the 8-bit floats are parts of float32
            array: Array = plain.resolve_neg().resolve_conj().numpy()
            return array

    shape = () if tensor.is_nested else tuple(tensor.shape)
    stored = str(tensor.dtype).removeprefix("torch.")
    return Entry(name, shape, holds(stored, shape), load, stored)
