"""What processes of torch.distributed have of each other."""

from typing import Any, TypeVar

import torch.distributed as dist
from torch import Tensor

Value = TypeVar("Value")


def is_first() -> bool:
    """Whether this process speaks for all: there is no other, or it has the rank 0."""
    return not dist.is_available() or not dist.is_initialized() or dist.get_rank() == 0


def gathered(value: Value, group: Any = None) -> list[Value]:
    """The value of every process of a group, in the order of their ranks, in each of them.

    >>> gathered(3)
    [3]
    """
    if not dist.is_available() or not dist.is_initialized():
        return [value]
    values: list[Value] = [value] * dist.get_world_size(group)
    dist.all_gather_object(values, value, group)
    return values


def gathered_tensors(value: Tensor, group: Any = None) -> list[Tensor]:
    """The tensors of all processes that are not empty, in memory of the processor, whatever their lengths and types.

    A process without any data has an empty tensor of another type, which must not decide the type of the whole.
    """
    values = gathered(value.cpu(), group)
    return [each for each in values if each.numel()] or values[:1]
