"""One batch, as a process or as a request, under its seal and limits, and always ended; the journal of answers."""

import base64
import json
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from shutil import which
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from tieproof.errors import InputError
from tieproof.kit import PartsFolder
from tieproof.trials.competition.settings import Judging
from tieproof.trials.judge.answers import CRASHED, Answers, all_refused, read_answers
from tieproof.trials.judge.batches import ANSWERS, FIELDS, Batch
from tieproof.trials.judge.items import Sequestered
from tieproof.trials.judge.systems import FOLDER, Seal, System, engine_options
from tieproof.trials.sandbox import bubblewrap
from tieproof.trials.sandbox.bubblewrap import SealedRoom, environment, sealed
from tieproof.trials.sandbox.folders import hand_over, opened_file, size_of, temporary_folder
from tieproof.trials.sandbox.limits import LATE, TOO_MUCH, ProgramLimits, run_program

_PART = 2**16  # the number of bytes of an endpoint's answer that are read at a time
_LAST_WORDS = 300  # the number of characters that are kept of a system's error output
_LOCK = "lock"  # the file of a journal that the judge who writes it has locked
_SCRATCH = (*bubblewrap.SCRATCH, FOLDER)  # the folders in memory that a sealed system may write to


class Runner(NamedTuple):
    """Runs batches."""

    system: System
    seal: Seal
    shown: Mapping[str, Path]  # what a sealed system may read, by the paths that it has there
    limits: Judging
    dimensions: int  # the most numbers of an answer
    test_set: Sequestered

    def run(self, batch: Batch, seconds: float) -> Answers:
        """Ask the system about a batch, for at most a number of seconds."""
        started = time.monotonic()
        if self.system.is_endpoint:
            answers = self._request(batch, seconds)
        else:
            with temporary_folder() as folder:
                answers = self._process(batch, folder, seconds)
        return answers._replace(seconds=time.monotonic() - started)

    def _process(self, batch: Batch, around: Path, seconds: float) -> Answers:
        """Run a command in a separate folder."""
        folder = around / around.name
        folder.mkdir()
        batch.write(folder, self.test_set)
        inside = str(folder) if self.seal.by == "nothing" else FOLDER
        command = self.system.filled({field: f"{inside}/{name}" for field, name in FIELDS.items()})
        variables = environment(inside, self.system.path)
        memory: int | None = self.limits.memory
        if engine := self.system.engine:
            command = [which(engine) or engine, *engine_options(folder, self.limits.memory), *command]
            variables, memory = dict(os.environ), None  # the container is limited, not the client
        elif self.seal.by != "nothing":
            command = sealed(command, self._room(folder), variables, self.limits.output)
        scratch = () if self.seal.by == "nothing" or engine else _SCRATCH
        most, given = self.limits.output, size_of(around)
        limits = ProgramLimits(memory, most)

        def too_much(used: float) -> bool:
            return size_of(around) - given + used >= most

        with (around / "out").open("w+b") as out, (around / "errors").open("w+b") as errors:
            try:
                status, reason = run_program(
                    command, variables, limits, seconds, too_much, scratch, cwd=folder, stdout=out, stderr=errors
                )
            finally:
                if engine:  # a container may go on after its client has ended
                    words = [engine, "rm", "--force", folder.name]
                    with suppress(OSError, subprocess.TimeoutExpired):
                        subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
            if reason or status != 0:
                return all_refused(batch, reason or CRASHED, _last_words(around / "errors", str(around)))
            writes_file = self.system.has("answers")  # otherwise it prints its answers
            answer = opened_file(folder / ANSWERS if writes_file else around / "out", self.limits.output)
            if answer is None:
                return all_refused(batch, CRASHED)
            with answer:
                if writes_file and not os.fstat(answer.fileno()).st_size:
                    return all_refused(batch, CRASHED)
                return read_answers(answer, batch, self.dimensions)

    def _room(self, folder: Path) -> SealedRoom:
        """What a sealed system sees: its input, what it is shown, and a file for its answer."""
        (folder / ANSWERS).touch()
        hand_over(folder)
        given = {f"{FOLDER}/{place.name}": place for place in folder.iterdir() if place.name != ANSWERS}
        return SealedRoom(FOLDER, {**self.shown, **given}, {f"{FOLDER}/{ANSWERS}": folder / ANSWERS}, _SCRATCH)

    def _request(self, batch: Batch, seconds: float) -> Answers:
        """Send a batch to an endpoint, and read its answer like that of a command; too slow an answer is dropped."""
        contents = {name: self.test_set.content(item) for name, item in batch.items.items()}
        items = [{"name": name, "content": base64.b64encode(each).decode()} for name, each in contents.items()]
        body = json.dumps({"items": items, "questions": batch.questions}).encode()
        came: list[tuple[str, str]] = []
        with TemporaryFile() as answer:

            def ask() -> None:
                came.append(_posted(self.system.spelled, body, seconds, self.limits.output, answer))

            asking = threading.Thread(target=ask, daemon=True)
            asking.start()
            asking.join(seconds)
            reason, said = came[0] if came else (LATE, "")
            return all_refused(batch, reason, said) if reason else read_answers(answer, batch, self.dimensions)


class _Unredirected(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: items are sent to no other address than the one that the organizer named."""

    def redirect_request(self, *_: object) -> None:
        """Return no request, so that the redirection is an error."""


def _posted(address: str, body: bytes, seconds: float, most: int, kept: IO[bytes]) -> tuple[str, str]:
    """Write the answer of an endpoint to a file; return the reason why it is refused, or "", and what went wrong."""
    asked = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Unredirected)
    try:
        with opener.open(asked, timeout=2 * seconds) as answer:
            while part := answer.read(_PART):
                if kept.tell() + len(part) > most:
                    return TOO_MUCH, ""
                kept.write(part)
    except urllib.error.HTTPError as error:
        advice = "; redirections are not followed" if 300 <= error.code < 400 else ""
        return CRASHED, f"The address answered with the status {error.code}{advice}."
    except (OSError, ValueError, HTTPException):
        return CRASHED, ""
    return "", ""


def _last_words(path: Path, folder: str) -> str:
    """The end of the error output, in one line, without the name of the folder, which is different each time."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4 * _LAST_WORDS))
        text = file.read().decode("utf-8", "replace")
    return " ".join(text.replace(f"{folder}/{Path(folder).name}", "…").split())[-_LAST_WORDS:]


@contextmanager
def journal(folder: Path, plan: Mapping[str, Any]) -> Iterator[PartsFolder]:
    """Open and lock the journal of a judgment: the answers so far, and the plan, which decides what is asked."""
    import fcntl  # not available on every system

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"Another judge is running in {folder}; wait for it, or take another name.") from None
        yield PartsFolder(folder, "judgment", plan, "plan.json", "out", (_LOCK,))
