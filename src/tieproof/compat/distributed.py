"""Exchange values between the processes of torch.distributed."""

from typing import Any, TypeVar

import torch.distributed as dist
from torch import Tensor

Value = TypeVar("Value")


def is_first() -> bool:
    """Whether this process prints for all: it is the only one, or it has rank 0."""
    return not dist.is_available() or not dist.is_initialized() or dist.get_rank() == 0


def gathered(value: Value, group: Any = None) -> list[Value]:
    """Return in each process the values of all processes of a group, in the order of their ranks."""
    if not dist.is_available() or not dist.is_initialized():
        return [value]
    values: list[Value] = [value] * dist.get_world_size(group)
    dist.all_gather_object(values, value, group)
    return values


def gathered_tensors(value: Tensor, group: Any = None) -> list[Tensor]:
    """The non-empty tensors of all processes, on the CPU; their lengths and dtypes may differ."""
    values = gathered(value.cpu(), group)
    # The tensor of a process without data may have another dtype, which must not determine the common one.
    return [each for each in values if each.numel()] or values[:1]
