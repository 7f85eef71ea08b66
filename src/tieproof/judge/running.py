"""One batch, as a process or as a request: it is started under its seal and limits, and always ended."""

import base64
import json
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from tieproof.judge.dealing import Batch
from tieproof.judge.items import Limits, Sequestered
from tieproof.judge.judgment import Seal
from tieproof.judge.protocol import (
    ANSWERS,
    CRASHED,
    FIELDS,
    LATE,
    TOO_MUCH,
    Answers,
    all_refused,
    read_answers,
    write_batch,
)
from tieproof.judge.sealing import FOLDER, container_name, engine_words
from tieproof.judge.systems import System
from tieproof.sandbox import bubblewrap
from tieproof.sandbox import limits as sandbox
from tieproof.sandbox.bubblewrap import Room, Usage, environment, sealed
from tieproof.sandbox.files import hand_over
from tieproof.sandbox.folders import opened_file, size_of, temporary_folder
from tieproof.sandbox.limits import group, launched
from tieproof.sandbox.processes import ProcessTree, undisturbed

PAUSES = (0.002, 0.1)
"""The shortest and longest pause between two looks at a process, in seconds."""

PART = 2**16
"""The number of bytes of an endpoint's answer that are read at a time."""

LAST_WORDS = 300
"""The number of characters that are kept of a system's error output."""

SCRATCH = (*bubblewrap.SCRATCH, FOLDER)
"""The folders in memory that a sealed system may write to."""


class Ran(NamedTuple):
    """The outcome of a batch.

    answers : the answers to its questions
    seconds : the time that it took
    said : the end of the system's error output, or the status of its address, if it failed
    """

    answers: Answers
    seconds: float
    said: str = ""


class Runner(NamedTuple):
    """Runs batches.

    shown : the files and folders that a sealed system may read, by the paths that they have for it
    """

    system: System
    seal: Seal
    shown: Mapping[str, Path]
    limits: Limits
    test_set: Sequestered

    def run(self, batch: Batch, seconds: float) -> Ran:
        """Ask the system about a batch, for at most a number of seconds."""
        started = time.monotonic()
        if self.system.is_endpoint:
            answers, said = self.request(batch, seconds)
        else:
            with temporary_folder() as folder:
                answers, said = self.process(batch, folder, seconds)
        return Ran(answers, time.monotonic() - started, said)

    def process(self, batch: Batch, around: Path, seconds: float) -> tuple[Answers, str]:
        """Run a command in a separate folder."""
        folder = around / around.name
        folder.mkdir()
        write_batch(folder, batch, self.test_set)
        inside = str(folder) if self.seal.by == "nothing" else FOLDER
        words = self.system.command({field: f"{inside}/{name}" for field, name in FIELDS.items()})
        variables = environment(inside, self.system.path)
        memory: int | None = self.limits.memory
        if self.system.engine:
            words = [*engine_words(self.system.engine, folder, self.limits), *words]
            variables, memory = dict(os.environ), None  # the container is limited, not the client
        elif self.seal.by != "nothing":
            words = sealed(words, self.room(folder), variables, self.limits.output)
        given = size_of(around)
        with group(memory) as joined, (around / "out").open("w+b") as out, (around / "errors").open("w+b") as errors:
            tree = None
            try:
                with undisturbed():
                    tree = launched(
                        words,
                        variables,
                        sandbox.Limits(memory, self.limits.output),
                        joined,
                        cwd=folder,
                        stdin=subprocess.DEVNULL,
                        stdout=out,
                        stderr=errors,
                    )
                usage = Usage(tree, () if self.seal.by == "nothing" or self.system.engine else SCRATCH)
                reason = wait(tree, lambda: size_of(around) - given + usage(), seconds, self.limits.output)
            finally:
                status = tree.end() if tree else None
                self.remove_container(folder)
            if reason is None and status != 0:
                reason = CRASHED
            if reason:
                return all_refused(batch, reason), last_words(around / "errors", str(around))
            answer = opened_file(folder / ANSWERS if self.reads_file else around / "out", self.limits.output)
            if answer is None:
                return all_refused(batch, CRASHED), ""
            with answer:
                if self.reads_file and not os.fstat(answer.fileno()).st_size:
                    return all_refused(batch, CRASHED), ""
                return read_answers(answer, batch, self.limits.dimensions), ""

    def room(self, folder: Path) -> Room:
        """What a sealed system sees: its input, what it is shown, and a file for its answer."""
        (folder / ANSWERS).touch()
        hand_over(folder)
        given = {f"{FOLDER}/{place.name}": place for place in folder.iterdir() if place.name != ANSWERS}
        return Room(FOLDER, {**self.shown, **given}, {f"{FOLDER}/{ANSWERS}": folder / ANSWERS}, SCRATCH)

    @property
    def reads_file(self) -> bool:
        """Whether the system writes its answers to a file instead of printing them."""
        return any("{answers}" in word for word in self.system.words)

    def remove_container(self, folder: Path) -> None:
        """Remove a container, which may go on after its client has ended."""
        if self.system.engine:
            with suppress(OSError, subprocess.TimeoutExpired):
                words = [self.system.engine, "rm", "--force", container_name(folder)]
                subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)

    def request(self, batch: Batch, seconds: float) -> tuple[Answers, str]:
        """Send a batch to an endpoint, and read its answer like that of a command; too slow an answer is dropped."""
        items = [
            {"name": name, "content": base64.b64encode(self.test_set.content(item)).decode()}
            for name, item in batch.items.items()
        ]
        body = json.dumps({"items": items, "questions": batch.questions}).encode()
        came: list[tuple[str, str]] = []
        with TemporaryFile() as answer:
            asking = threading.Thread(
                target=lambda: came.append(posted(self.system.spelled, body, seconds, self.limits.output, answer)),
                daemon=True,
            )
            asking.start()
            asking.join(seconds)
            reason, said = came[0] if came else (LATE, "")
            if reason:
                return all_refused(batch, reason), said
            return read_answers(answer, batch, self.limits.dimensions), ""


class Unredirected(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: items are sent to no other address than the one that the organiser named."""

    def redirect_request(self, *_: object) -> None:
        """Return no request, so that the redirection is an error."""


def posted(address: str, body: bytes, seconds: float, most: int, kept: IO[bytes]) -> tuple[str, str]:
    """Write the answer of an endpoint to a file; return the reason why it is refused, or "", and what went wrong."""
    asked = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Unredirected)
    try:
        with opener.open(asked, timeout=2 * seconds) as answer:
            while part := answer.read(PART):
                if kept.tell() + len(part) > most:
                    return TOO_MUCH, ""
                kept.write(part)
    except urllib.error.HTTPError as error:
        advice = "; redirections are not followed" if 300 <= error.code < 400 else ""
        return CRASHED, f"The address answered with the status {error.code}{advice}."
    except (OSError, ValueError, HTTPException):
        return CRASHED, ""
    return "", ""


def wait(tree: ProcessTree, size: Callable[[], float], seconds: float, most: int) -> str | None:
    """Wait until the program ends or exceeds a limit; return why its answers are refused, or None."""
    deadline, pause = time.monotonic() + seconds, PAUSES[0]
    while not tree.has_ended():
        if size() >= most:
            return TOO_MUCH
        if time.monotonic() > deadline:
            return LATE
        time.sleep(pause)
        pause = min(2 * pause, PAUSES[1])
    return TOO_MUCH if size() >= most else None


def last_words(path: Path, folder: str) -> str:
    """The end of the error output, in one line, without the name of the folder, which is different each time."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4 * LAST_WORDS))
        text = file.read().decode("utf-8", "replace")
    return " ".join(text.replace(f"{folder}/{Path(folder).name}", "…").split())[-LAST_WORDS:]
