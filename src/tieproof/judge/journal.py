"""What a judge has done so far, on the disk: every batch is written down when it is done, and never asked twice.

A judge that was killed finds its journal, deals the same batches from the same seed, and goes on with the first that
has no answers yet. What is written down is whole or absent.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.judge.protocol import NOTHING, Answers
from tieproof.judge.running import Ran
from tieproof.whole_files import atomic_write

ENDING = ".judging"
PLAN, LOCK = "plan.json", "lock"


class Journal:
    """The answers of one system so far, in a folder of their own; `opened` makes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def scratch(self) -> str:
        """How the folders in which its batches run are called, and those of no other journal."""
        return f"judge-{hashlib.sha256(os.fsencode(self.folder.resolve())).hexdigest()[:12]}-"

    def clean(self) -> None:
        """Remove what a judge left behind that was killed: halves of files, and items that a system was given."""
        for left in self.folder.glob(".tieproof-*"):
            os.unlink(left)
        for left in Path(gettempdir()).glob(f"{self.scratch}*"):
            shutil.rmtree(left, ignore_errors=True)

    def place(self, run: int, number: int) -> Path:
        """Where the answers to a batch are."""
        return self.folder / f"run-{run}-batch-{number}.npz"

    def has(self, run: int, number: int) -> bool:
        """Whether a batch is done."""
        return self.place(run, number).exists()

    def write(self, run: int, number: int, ran: Ran) -> None:
        """Write down what a batch came to."""
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
        """What a batch came to."""
        with np.load(self.place(run, number), allow_pickle=False) as kept:
            ends = np.cumsum(kept["lengths"])
            vectors = np.split(kept["numbers"], ends[:-1])
            refused = [str(reason) for reason in kept["refused"]]
            return Ran(Answers(vectors, refused, int(kept["unknown"])), float(kept["seconds"]), str(kept["said"]))

    def remove(self) -> None:
        """Throw it away, once all is in the record."""
        shutil.rmtree(self.folder)


@contextmanager
def opened(folder: Path, plan: Mapping[str, Any]) -> Iterator[Journal]:
    """The journal of this judgment, new or as it was left; nobody else may use it meanwhile.

    plan : all that decides what is asked; InputError where a journal in this place is of something else
    """
    import fcntl  # which not every system has

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"Another judge works in {folder}; wait for it, or take another name.") from None
        place, text = folder / PLAN, json.dumps(plan, indent=1)
        if not place.exists():
            with atomic_write(place) as unfinished:
                unfinished.write_text(text, encoding="utf-8")
        elif place.read_text(encoding="utf-8") != text:
            old = json.loads(place.read_text(encoding="utf-8"))
            other = next(name for name in plan if old.get(name) != plan[name])
            raise InputError(
                f"{folder} was begun with another '{other}'. Judge with the same again to go on, or remove that "
                "folder to begin anew."
            )
        journal = Journal(folder)
        journal.clean()
        yield journal
