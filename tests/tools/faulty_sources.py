"""Sources of rows that go wrong, once, on the worker that reads them: what a cluster has to live with."""

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.inputs.shards.arrays import ArraySource

Array = npt.NDArray[Any]


def first_time(marker: Path) -> bool:
    """Whether nobody was here before, in any process."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Faulty(ArraySource):
    """Rows that can be read as often as the survey does, before the first further read goes wrong, once.

    folder : where processes leave word for each other; `armed` there is what a test makes once rows are surveyed
    """

    folder: Path

    @classmethod
    def over(cls, array: Array, folder: Path) -> Any:
        return cls(array, np.array([0, len(array) // 2, len(array)]), folder)

    def read(self, start: int, stop: int) -> Array:
        if self.is_armed():
            self.go_wrong()
        return super().read(start, stop)

    def take(self, rows: npt.NDArray[np.int64]) -> Array:
        if self.is_armed():
            self.go_wrong()
        return super().take(rows)

    def is_armed(self) -> bool:
        return (self.folder / "armed").exists() and first_time(self.folder / "gone wrong")

    def go_wrong(self) -> None:
        raise NotImplementedError


class Killing(Faulty):
    """The process is killed shortly after, in the middle of what it does then."""

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
    """Whoever reads is killed, each time."""

    def is_armed(self) -> bool:
        return (self.folder / "armed").exists()


class Slow(Faulty):
    """A read that takes long."""

    def go_wrong(self) -> None:
        time.sleep(5)


class Waiting(Faulty):
    """A read that never ends; its node says which one it is."""

    def go_wrong(self) -> None:
        import ray

        (self.folder / "node").write_text(ray.get_runtime_context().get_node_id())
        time.sleep(600)


class Refusing(Faulty):
    """An error that nobody expects."""

    def go_wrong(self) -> None:
        raise ZeroDivisionError("a defect. With more words")
