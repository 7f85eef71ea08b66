"""Tensors saved by PyTorch (.pt, .pth)."""

from collections.abc import Collection, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from tieproof.errors import InputError
from tieproof.inputs.arrays import not_readable
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.damage import library, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location
from tieproof.ties import Array

KIND = "tensors saved by PyTorch (.pt)"

MOST_BYTES = 2**30
"""The bytes that any tensor may take in memory."""

MOST_UNPACKED = 1024
"""A larger tensor, with repeated rows or omitted zeros, may take at most so many times the size of its file."""


def entries(path: Path, named: Collection[str] = ()) -> list[Entry]:
    """Return the tensor of the file as the only, unnamed entry, or the tensors of a dict by their keys."""
    torch = library("torch", path, "torch")
    with reading(path, KIND):
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
    return [_entry(path, name, tensor) for name, tensor in tensors]


def _entry(path: Path, name: str, tensor: Any) -> Entry:
    def load() -> Array:
        if tensor.is_meta or tensor.is_nested or tensor.is_quantized:
            raise InputError(f"{Location(path, name)} is {not_readable(tensor)}")
        needed, stored = tensor.numel() * tensor.element_size(), path.stat().st_size
        if needed > max(MOST_BYTES, MOST_UNPACKED * stored):
            raise InputError(
                f"{Location(path, name)} would take {needed / 2**30:.1f} GiB, and its file has {stored:,} bytes; "
                "save a tensor without repeated or left out elements."
            )
        with reading(path, KIND):
            return _as_numpy(tensor, library("torch", path, "torch"))

    shape = () if tensor.is_nested else tuple(tensor.shape)
    stored = str(tensor.dtype).removeprefix("torch.")
    return Entry(name, shape, holds(stored, shape), load, stored)


def _as_numpy(tensor: Any, torch: Any) -> Array:
    plain = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    if plain.is_floating_point() and plain.dtype not in (torch.float16, torch.float32, torch.float64):
        plain = plain.float()  # exact: bfloat16 and the 8-bit floats are parts of float32
    array: Array = plain.resolve_neg().resolve_conj().numpy()
    return array
