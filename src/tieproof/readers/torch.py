"""Tensors saved by PyTorch (.pt, .pth)."""

from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from tieproof.errors import InputError
from tieproof.readers.arrays import Array, holds
from tieproof.readers.damage import library, reading
from tieproof.readers.entries import Entry

KIND = "tensors saved by PyTorch (.pt)"


def entries(path: Path, entry: str | None) -> list[Entry]:
    """Return the tensor of the file as the only, unnamed entry, or those of a dict by their keys."""
    torch = library("torch", path, "torch")
    with reading(path, KIND):
        try:
            saved = torch.load(path, map_location="cpu", weights_only=True)
        except UnpicklingError as error:
            raise InputError(
                f"{path} holds Python objects, which are never unpickled, or is damaged; "
                "save a tensor or a dict of tensors with torch.save."
            ) from error
        named = saved if isinstance(saved, Mapping) else {"": saved}
        tensors = {str(name): item for name, item in named.items() if isinstance(item, torch.Tensor)}
    if not tensors:
        raise InputError(
            f"{path} holds a {type(saved).__name__} without tensors; "
            "save a tensor or a dict of tensors with torch.save."
        )
    return [_entry(path, name, tensor) for name, tensor in tensors.items()]


def _entry(path: Path, name: str, tensor: Any) -> Entry:
    def load() -> Array:
        with reading(path, KIND):
            return _as_numpy(tensor, library("torch", path, "torch"))

    stored = str(tensor.dtype).removeprefix("torch.")
    return Entry(name, tensor.dim(), holds(stored, tensor.shape), load, stored)


def _as_numpy(tensor: Any, torch: Any) -> Array:
    plain = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    if plain.is_floating_point() and plain.dtype not in (torch.float16, torch.float32, torch.float64):
        plain = plain.float()  # exact: bfloat16 and the 8-bit floats are parts of float32
    array: Array = plain.resolve_neg().resolve_conj().numpy()
    return array
