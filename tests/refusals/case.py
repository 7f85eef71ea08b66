"""What a case is, and the data that most of them start from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tieproof as tp

GOOD, LABELS = np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, 2, 2]


class Case(NamedTuple):
    """A call that is refused, or warned about, and what the message says.

    call : called without arguments; or, where `in_folder`, with an empty folder for the files that it reads
    says : a regular expression that the message matches
    warns : whether the call goes on, after an `InputWarning`
    """

    call: Callable[..., object]
    says: str
    in_folder: bool = False
    warns: bool = False

    def run(self, folder: Path) -> object:
        """Make the call."""
        return self.call(folder) if self.in_folder else self.call()


def with_value(value: float) -> Any:
    bad = GOOD.copy()
    bad[3, 1] = value
    return bad


def evaluate(embeddings: Any = GOOD, labels: Any = LABELS, **options: Any) -> Callable[[], tp.Result]:
    return lambda: tp.evaluate(embeddings, labels, **options)
