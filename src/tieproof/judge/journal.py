"""The journal of a judgment on disk: the answers to every batch are saved at once, so that no batch is run again.

A judge that was killed finds its journal, deals the same batches from the same seed, and goes on with the first batch
that has no answers yet. Each file of a journal is written whole or not at all.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.judge.protocol import NOTHING, Answers
from tieproof.judge.running import Ran
from tieproof.sandbox.folders import remove
from tieproof.whole_files import atomic_write

ENDING = ".judging"
PLAN, LOCK = "plan.json", "lock"


class Journal:
    """The answers of one system so far, in a separate folder; `opened` creates it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def clean(self) -> None:
        """Remove the unfinished files that a killed judge left behind."""
        for left in self.folder.glob(".tieproof-*"):
            os.unlink(left)

    def place(self, run: int, number: int) -> Path:
        """The path of the answers to a batch."""
        return self.folder / f"run-{run}-batch-{number}.npz"

    def has(self, run: int, number: int) -> bool:
        """Whether a batch is done."""
        return self.place(run, number).exists()

    def write(self, run: int, number: int, ran: Ran) -> None:
        """Save the outcome of a batch."""
        vectors, refused, unknown = ran.answers
        with atomic_write(self.place(run, number)) as unfinished:
            np.savez(
                unfinished,
                lengths=np.array([len(vector) for vector in vectors], dtype=np.int64),
                numbers=np.concatenate([NOTHING, *vectors]),
                refused=np.array(refused),
                unknown=np.int64(unknown),
                seconds=np.float64(ran.seconds),
                said=np.array(ran.said),
            )

    def read(self, run: int, number: int) -> Ran:
        """Load the outcome of a batch."""
        with np.load(self.place(run, number), allow_pickle=False) as kept:
            ends = np.cumsum(kept["lengths"])
            vectors = np.split(kept["numbers"], ends[:-1])
            refused = [str(reason) for reason in kept["refused"]]
            return Ran(Answers(vectors, refused, int(kept["unknown"])), float(kept["seconds"]), str(kept["said"]))

    def remove(self) -> None:
        """Remove the journal, after the records have been written."""
        remove(self.folder)


@contextmanager
def opened(folder: Path, plan: Mapping[str, Any]) -> Iterator[Journal]:
    """Open the journal of a judgment, a new or an unfinished one, and lock it.

    plan : everything that decides what is asked; InputError if the folder has a journal with another plan
    """
    import fcntl  # not available on every system

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"Another judge is running in {folder}; wait for it, or take another name.") from None
        place, text = folder / PLAN, json.dumps(plan, indent=1)
        if not place.exists():
            with atomic_write(place) as unfinished:
                unfinished.write_text(text, encoding="utf-8")
        elif place.read_text(encoding="utf-8") != text:
            old = json.loads(place.read_text(encoding="utf-8"))
            other = next(name for name in plan if old.get(name) != plan[name])
            raise InputError(
                f"{folder} was begun with another '{other}'. Judge with the same one to continue, or remove the "
                "folder to start again."
            )
        journal = Journal(folder)
        journal.clean()
        yield journal
