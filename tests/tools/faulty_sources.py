"""Sources of rows that fail once, on the worker that reads them, as can happen in a cluster."""

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.inputs.shards.source import ArraySource

Array = npt.NDArray[Any]


def first_time(marker: Path) -> bool:
    """Whether this is the first call for this file, in any process."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Faulty(ArraySource):
    """Rows that the survey can read; the first read after the survey fails, once.

    folder : where processes leave word for each other; `armed` there is what a test makes once rows are surveyed
    """

    folder: Path

    @classmethod
    def over(cls, array: Array, folder: Path) -> Any:
        return cls(**vars(ArraySource.of(array, [len(array) // 2])), folder=folder)

    def read(self, start: int, stop: int) -> Any:
        if self.is_armed():
            self.go_wrong()
        return super().read(start, stop)

    def take(self, rows: npt.NDArray[np.int64]) -> Any:
        if self.is_armed():
            self.go_wrong()
        return super().take(rows)

    def is_armed(self) -> bool:
        return (self.folder / "armed").exists() and first_time(self.folder / "gone wrong")

    def go_wrong(self) -> None:
        raise NotImplementedError


class Killing(Faulty):
    """The process is killed shortly after the read, whatever it does then."""

    def go_wrong(self) -> None:
        def kill() -> None:
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()


class KilledAtOnce(Faulty):
    """The process is killed."""

    def go_wrong(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class AlwaysKilled(KilledAtOnce):
    """Every process that reads is killed, each time."""

    def is_armed(self) -> bool:
        return (self.folder / "armed").exists()


class Slow(Faulty):
    """A read that takes a long time."""

    def go_wrong(self) -> None:
        time.sleep(5)


class Waiting(Faulty):
    """A read that never ends; its node writes its name."""

    def go_wrong(self) -> None:
        import ray

        (self.folder / "node").write_text(ray.get_runtime_context().get_node_id())
        time.sleep(600)


class Refusing(Faulty):
    """A read that raises an unexpected error."""

    def go_wrong(self) -> None:
        raise ZeroDivisionError("a defect. With more words")
