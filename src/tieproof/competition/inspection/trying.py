"""One submission tried: unpacked into the folders of the platform, scored in a process of its own, and looked at."""

import builtins
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from tieproof.competition.inspection.broken_files import CLIMBED, INSIDE, MARK
from tieproof.competition.inspection.process import Ended, Layout, run
from tieproof.competition.inspection.tasks import Task
from tieproof.errors import InputError
from tieproof.views.printable import in_one_line

Problem = Literal["refused", "crashed", "timed out", "executed", "climbed"]

TRACEBACK = "Traceback (most recent call last)"
REFUSING = (ValueError, AssertionError)
PLAIN = (RuntimeError, Exception, SystemExit)
LONGEST_MESSAGE = 200


class Tried(NamedTuple):
    """What came of a submission: its score, or why there is none, and what was said."""

    score: float | None
    problem: Problem | None = None
    message: str = ""


class Trying(NamedTuple):
    """What tries submissions to a task.

    place : of the file within a submission
    seconds : what scoring one may take
    """

    task: Task
    place: str
    seconds: float

    def __call__(self, hand_in: Callable[[Path], None]) -> Tried:
        """Try the submission that `hand_in` writes."""
        with tempfile.TemporaryDirectory(prefix="tieproof-check-") as folder:
            submission, room = Path(folder, "submission"), Path(folder, "room")
            submission.mkdir()
            room.mkdir()
            hand_in(submission)
            layout = self.task.lay(room, submission, self.place)
            known = set(files_in(room))
            ended = run(layout, self.seconds)
            return self.outcome(layout, ended, [path for path in files_in(room) if path not in known])

    def outcome(self, layout: Layout, ended: Ended, new: list[Path]) -> Tried:
        """What came of a run, given the files that it has made."""
        names = {path.name for path in new}
        if MARK in names:
            return Tried(None, "executed", "the submission was unpickled, and what it held was executed")
        inside = [path.parent for path in new if path.name == INSIDE]
        if any(path.name == CLIMBED and not any(map(path.is_relative_to, inside)) for path in new):
            return Tried(None, "climbed", "the archive was unpacked, and wrote outside of its folder")
        if ended.status is None:
            return Tried(None, "timed out", f"it took more than {self.seconds:g} seconds, or printed without end")
        if ended.status:
            return failed(ended.err)
        try:
            found = self.task.numbers(layout, ended.out)
            return Tried(found[self.task.key] if self.task.key else next(iter(found.values())))
        except (OSError, ValueError, KeyError, StopIteration, TypeError) as error:
            return Tried(None, "crashed", f"it left no score: {shortened(repr(error))}")


def failed(said: str) -> Tried:
    """What a program meant that ended with an error: words refuse, an accident is one."""
    last = said.strip().rpartition("\n")[2]
    if TRACEBACK not in said:
        return Tried(None, "refused" if last else "crashed", shortened(last) or "it ended with an error and no word")
    kind, _, words = last.partition(": ")
    known = getattr(builtins, kind, None)
    refuses = known is None or known in PLAIN or (isinstance(known, type) and issubclass(known, REFUSING))
    return Tried(None, "refused" if refuses and words else "crashed", shortened(last))


def shortened(text: str) -> str:
    """A message in one line that fits into a report, with the folders of a trial left out of it."""
    plain = re.sub(r"/\S*/tieproof-check-[^/\s]+/room", "", in_one_line(text))
    plain = plain.rstrip(".")
    return plain if len(plain) <= LONGEST_MESSAGE else f"{plain[:LONGEST_MESSAGE]}…"


def files_in(folder: Path) -> list[Path]:
    """All that is below a folder."""
    return list(folder.rglob("*"))


def good(tried: Tried, task: Task) -> float:
    """The score of the sample, without which there is nothing to compare with."""
    if tried.score is None:
        raise InputError(
            f"The scoring program of '{task.name}' gives its own sample no score: {tried.problem}: {tried.message}. "
            "Give a submission that it takes, or mend the program."
        )
    return tried.score


def copied(sample: Path, place: str) -> Callable[[Path], None]:
    """Hands in the sample as it is."""

    def hand_in(folder: Path) -> None:
        if sample.is_file():
            target = folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(sample, target)
        else:
            shutil.copytree(sample, folder, dirs_exist_ok=True)

    return hand_in
