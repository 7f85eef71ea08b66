"""What processes of torch.distributed have of each other."""

from typing import TypeVar

import torch.distributed as dist

Value = TypeVar("Value")


def is_first() -> bool:
    """Whether this process speaks for all: there is no other, or it has the rank 0."""
    return not dist.is_available() or not dist.is_initialized() or dist.get_rank() == 0


def gathered(value: Value) -> list[Value]:
    """The value of every process, in the order of their ranks, in each of them.

    >>> gathered(3)
    [3]
    """
    if not dist.is_available() or not dist.is_initialized():
        return [value]
    values: list[Value] = [value] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values
