"""Tensors of torch as NumPy arrays; torch itself is not imported."""

from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array


def is_tensor(values: Any) -> bool:
    """Whether this is a tensor of torch, or of a subclass."""
    return any(kind.__module__ == "torch" and kind.__name__ == "Tensor" for kind in type(values).__mro__)


def from_tensor(tensor: Any, name: str) -> Array:
    """Return the numbers of a tensor on any device; bfloat16 becomes float32, which is exact."""
    reason = not_readable(tensor)
    if reason:
        raise InputError(f"The {name} cannot be {reason}")
    try:
        plain = tensor.detach().cpu().resolve_conj().resolve_neg()
        if str(plain.dtype) == "torch.bfloat16":
            plain = plain.float()  # exact: a bfloat16 is a float32 with fewer digits
        return np.asarray(plain.numpy())
    except (TypeError, RuntimeError, NotImplementedError) as error:
        said = str(error).strip().partition("\n")[0]
        raise InputError(
            f"The {name} cannot be a tensor of type {tensor.dtype}, which NumPy cannot read ({said}). Pass a dense "
            "tensor of numbers that is stored in memory."
        ) from None


def not_readable(tensor: Any) -> str:
    """Return why a tensor cannot be read as an array, and what to do about it; "" if it can be read."""
    if tensor.is_meta:
        return (
            "a tensor on the device 'meta', which has no numbers. Pass a tensor that was computed on a real device."
        )
    if tensor.is_nested:
        return "a nested tensor, whose rows may differ in length. Pass rows of equal length, as torch.stack gives."
    if str(tensor.layout) != "torch.strided":
        return f"a tensor of the layout {str(tensor.layout).removeprefix('torch.')}. Convert it with .to_dense()."
    if tensor.is_quantized:
        return f"quantized ({tensor.dtype}). Convert them with .dequantize(), or to their integers with .int_repr()."
    if str(tensor.dtype).startswith("torch.float8"):
        return f"{tensor.dtype}, which NumPy does not have. Convert them with .float(), which is exact."
    return ""
