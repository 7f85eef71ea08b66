"""The trial of one submission: it is laid out in the folders of the platform and scored in a separate process."""

import builtins
import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from tieproof.competition.inspection.broken_files import CLIMBED, INSIDE, MARK
from tieproof.competition.inspection.process import Ended, Layout, run
from tieproof.competition.inspection.tasks import Task
from tieproof.errors import InputError
from tieproof.sandbox.folders import PREFIX, temporary_folder
from tieproof.views.printable import in_one_line

Problem = Literal["refused", "crashed", "timed out", "executed", "climbed"]

TRACEBACK = "Traceback (most recent call last)"
REFUSING = (ValueError, AssertionError)
PLAIN = (RuntimeError, Exception, SystemExit)
LONGEST_MESSAGE = 200
DEEPEST = 30
"""The depth down to which folders are searched for what an attack has written."""


class Tried(NamedTuple):
    """The outcome of a submission: its score, or why it has none, with the message.

    numbers : all numbers that the run has left, by name
    shown : all text of the run that a participant sees
    """

    score: float | None
    problem: Problem | None = None
    message: str = ""
    numbers: Mapping[str, float] = {}
    shown: str = ""


class Trying(NamedTuple):
    """Tries submissions to a task.

    place : the path of the file within a submission
    seconds : the time limit for scoring one submission
    """

    task: Task
    place: str
    seconds: float

    def __call__(self, hand_in: Callable[[Path], None], prepare: Callable[[Path], object] | None = None) -> Tried:
        """Try the submission that `hand_in` writes, after preparing the folder of the truth."""
        with temporary_folder() as folder:
            submission, room = folder / "submission", folder / "room"
            submission.mkdir()
            room.mkdir()
            hand_in(submission)
            layout = self.task.lay(room, submission, self.place)
            if prepare is not None:
                prepare(layout.here(self.task.truth))
            known = set(files_in(room))
            ended = run(layout, self.seconds)
            return self.outcome(layout, ended, [path for path in files_in(room) if path not in known])

    def outcome(self, layout: Layout, ended: Ended, new: list[Path]) -> Tried:
        """The outcome of a run, given the new files that it made."""
        names = {path.name for path in new}
        if MARK in names:
            return Tried(None, "executed", "the submission was unpickled, and the code in it was executed")
        inside = [path.parent for path in new if path.name == INSIDE]
        if any(path.name == CLIMBED and not any(map(path.is_relative_to, inside)) for path in new):
            return Tried(None, "climbed", "the archive was unpacked, and wrote outside of its folder")
        if ended.status is None:
            return Tried(None, "timed out", f"scoring took more than {self.seconds:g} seconds, or printed too much")
        if ended.status:
            return failed(ended.err)
        try:
            found = self.task.numbers(layout, ended.out)
            score = found[self.task.key] if self.task.key else next(iter(found.values()))
            return Tried(score, numbers=found, shown=self.task.shown(layout, ended))
        except Exception as error:  # whatever the program wrote is data, and may be nested or spelled in any way
            return Tried(None, "crashed", f"the scoring program left no score: {shortened(repr(error))}")


def failed(said: str) -> Tried:
    """The outcome of a program that ended with an error: a refusal if it printed a message, otherwise a crash."""
    last = said.strip().rpartition("\n")[2]
    if TRACEBACK not in said:
        return Tried(None, "refused" if last else "crashed", shortened(last) or "it failed without a message")
    kind, _, words = last.partition(": ")
    known = getattr(builtins, kind, None)
    refuses = known is None or known in PLAIN or (isinstance(known, type) and issubclass(known, REFUSING))
    return Tried(None, "refused" if refuses and words else "crashed", shortened(last))


def shortened(text: str) -> str:
    """A message in one line that fits into a report, without the temporary folders of a trial."""
    plain = re.sub(rf"/\S*/{PREFIX}[^/\s]+/room", "", in_one_line(text))
    plain = plain.rstrip(".")
    return plain if len(plain) <= LONGEST_MESSAGE else f"{plain[:LONGEST_MESSAGE]}…"


def files_in(folder: Path) -> list[Path]:
    """All files and folders below a folder, except for those that are nested deeper than any attack of ours."""
    found, inner = list[Path](), [folder]
    for _ in range(DEEPEST):
        inner, before = [], inner
        for each in before:
            with suppress(OSError), os.scandir(each) as entries:
                for entry in entries:
                    found.append(Path(entry))
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(Path(entry))
    return found


def good(tried: Tried, task: Task) -> float:
    """The score of the sample; InputError if it has none, because attacks are compared with it."""
    if tried.score is None:
        raise InputError(
            f"The scoring program of '{task.name}' gives the sample no score: {tried.problem}: {tried.message}. "
            "Give a submission that it accepts, or correct the program."
        )
    return tried.score


def copied(sample: Path, place: str) -> Callable[[Path], None]:
    """A function that hands in the unchanged sample."""

    def hand_in(folder: Path) -> None:
        if sample.is_file():
            target = folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(sample, target)
        else:
            shutil.copytree(sample, folder, dirs_exist_ok=True)

    return hand_in
