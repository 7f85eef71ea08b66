"""A separate process for an evaluator: whatever the evaluator does there, the audit goes on.

    audit ──► a number, and at first nothing else ──► `serve` in another process
          ◄── the number, one line of JSON: how the evaluator is called, or why there is none ◄──
          ──► a number, lengths, case as packed arrays, settings ──►
          ◄── the number, one line of JSON: numbers by name, or the problem ◄──

All messages go through one socket; nothing is pickled. The number is drawn anew for each request, and data without
the number is ignored: nothing that an evaluator writes by accident, or too late, is read as a score. This is not a
sandbox: an evaluator that searches the memory of its process for the number finds it. Whatever comes after the number
is data, from which only a convention's name, numbers by name, or a problem with its message are read.

The process is used until it ends, hangs or prints too much. The next call then starts another process, which first
repeats the very first call, because that call may compile code that later calls need.
"""

import json
import os
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tieproof.errors import InputError
from tieproof.trials.audit import outcomes
from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.outcomes import Outcome, Stop
from tieproof.trials.audit.targets import prepared
from tieproof.trials.sandbox.folders import size_by
from tieproof.trials.sandbox.processes import ProcessTree, how, undisturbed

START_SECONDS = 300.0  # how long importing the evaluator's module may take
MOST_BYTES = 16 * outcomes.MOST_LETTERS  # the most bytes that the socket may deliver in one call
PAUSE = 0.05  # seconds between two looks at a process
CODE = "from tieproof.trials.audit.isolation import serve; serve()"
NUMBER_BYTES = 32
HEADER = struct.Struct("<QQ")  # the lengths of the two parts of a request: packed arrays and settings


class Isolated:
    """Calls the evaluator `package.module:function` in a separate process; only that process imports it.

    takes : the name of the evaluator's convention, if it is known
    """

    def __init__(self, name: str, takes: str | None) -> None:
        if not hasattr(os, "fork"):
            raise InputError("isolate needs a system that can fork, such as Linux or macOS. Leave out isolate here.")
        self.name, self.takes = name, takes
        self.server: Server | None = None
        self.first: bytes | None = None

    def __call__(self, case: Case, settings: Mapping[str, Any], seconds: float) -> Outcome:
        """The outcome of one call; if the process had to be ended, the outcome has that problem."""
        request = _packed(case, settings)
        outcome = self._answer(request, seconds, self.first)
        if self.first is None and not outcome.problem:
            self.first = request
        return outcome

    def anew(self, case: Case, settings: Mapping[str, Any], seconds: float) -> Outcome:
        """The outcome of a call that is the first call in its process."""
        self.close()
        return self._answer(_packed(case, settings), seconds)

    def _answer(self, request: bytes, seconds: float, before: bytes | None = None) -> Outcome:
        """The answer of the process; a process that fails to answer is ended.

        before : the request that a new process repeats before this one
        """
        try:
            if self.server is None:
                self.start()
                if before is not None and self._ask(before, START_SECONDS).problem:
                    self.start()
        except (Stop, InputError) as error:
            self.close()
            return Outcome({}, "crashed", f"it could not be started again: {error}")
        return self._ask(request, seconds)

    def _ask(self, request: bytes, seconds: float) -> Outcome:
        assert self.server is not None
        try:
            return outcomes.reported(self.server.answer(request, seconds))
        except Stop as stop:
            self.close()
            return Outcome({}, stop.problem, str(stop))

    def convention(self) -> str:
        """The name of the evaluator's convention.

        InputError if the evaluator cannot be imported, or its convention cannot be inferred.
        """
        try:
            self.start()
        except Stop as stop:
            raise InputError(f"{self.name} cannot be imported: {stop}.") from None
        assert self.takes is not None
        return self.takes

    def start(self) -> None:
        """Start the process and let it import the evaluator."""
        with undisturbed():
            self.server = Server(self.name, self.takes)
        match self.server.answer(b"", START_SECONDS):
            case {"refused": str(why)} if why:
                raise InputError(why)
            case {"takes": str(takes)} if takes in CONVENTIONS and self.takes in (None, takes):
                self.takes = takes
                return
        raise Stop("crashed", outcomes.MEDDLED)

    def close(self) -> None:
        """End the process and all processes that it started."""
        if self.server is not None:
            self.server.close()
            self.server = None


def _packed(case: Case, settings: Mapping[str, Any]) -> bytes:
    arrays, options = case.pack(), json.dumps(dict(settings)).encode()
    return HEADER.pack(len(arrays), len(options)) + arrays + options


class Server:
    """A process that runs `serve`, and its socket."""

    def __init__(self, name: str, takes: str | None) -> None:
        self.printed = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (as long-lived as the process)
        self.connection, other = socket.socketpair()
        with other:
            self.tree = ProcessTree(
                [sys.executable, "-c", CODE, str(other.fileno()), name, *filter(None, [takes])],
                {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=self.printed,
                stderr=self.printed,
                pass_fds=[other.fileno()],
            )
        self.is_open = True

    def answer(self, request: bytes, seconds: float) -> Any:
        """The answer to a request, within a number of seconds."""
        deadline = outcomes.Deadline(seconds)
        number = secrets.token_hex(NUMBER_BYTES // 2).encode()
        self.printed.seek(0)  # the process then prints at the start of the file, because both share one position
        self.printed.truncate()
        self.send(number + request, seconds)
        received, count = b"", 0
        while True:
            ended = self.tree.has_ended()
            more = self.received(0.0 if ended else PAUSE)
            received, count = received + more, count + len(more)
            if count > MOST_BYTES or size_by(os.fstat(self.printed.fileno())) > outcomes.MOST_LETTERS:
                raise outcomes.too_much_printed()
            before, marked, after = received.partition(number)
            line, complete, _ = after.partition(b"\n")
            if complete:
                return self.read(line)
            if not marked:
                received = before[-NUMBER_BYTES:]
            if ended and not more:
                raise Stop("crashed", f"its process ended {how(self.tree.end())}")
            deadline.check()

    def send(self, message: bytes, seconds: float) -> None:
        """Send a message; if it cannot be received any more, the exit status of the process will tell why."""
        self.connection.settimeout(seconds)
        try:
            self.connection.sendall(message)
        except TimeoutError:
            raise outcomes.timed_out(seconds) from None
        except OSError:
            self.is_open = False

    def received(self, seconds: float) -> bytes:
        """The bytes that have arrived or arrive within a number of seconds."""
        if not self.is_open:
            time.sleep(seconds)
            return b""
        self.connection.settimeout(seconds)
        try:
            data = self.connection.recv(1 << 16)
        except (TimeoutError, BlockingIOError):
            return b""
        except OSError:
            data = b""
        self.is_open = bool(data)
        return data

    @staticmethod
    def read(line: bytes) -> Any:
        """The content of an answer."""
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            raise Stop("crashed", outcomes.MEDDLED) from None

    def close(self) -> None:
        """End the process and all processes that it started."""
        self.tree.end()
        with suppress(OSError):
            self.connection.close()
        self.printed.close()


def serve() -> None:
    """Answer requests in the process of the evaluator until the socket is closed."""
    descriptor, name, *takes = sys.argv[1:]
    connection = socket.socket(fileno=int(descriptor))
    connection.set_inheritable(False)  # not for programs that the evaluator starts
    number = _read(connection, NUMBER_BYTES)
    try:
        evaluator, convention = prepared(name, takes[0] if takes else None)
    except InputError as error:
        _say(number, {"refused": str(error)}, connection)
        return
    _say(number, {"takes": convention.name}, connection)
    while number := _read(connection, NUMBER_BYTES):
        packed, options = (_read(connection, length) for length in HEADER.unpack(_read(connection, HEADER.size)))
        outcome = outcomes.attempt(evaluator, convention, convention.unpack(packed), json.loads(options), None)
        _say(number, outcome._asdict(), connection)


def _read(connection: socket.socket, length: int) -> bytes:
    """Read a number of bytes; fewer if the other process has ended."""
    received = bytearray()
    while len(received) < length and (more := connection.recv(length - len(received))):
        received += more
    return bytes(received)


def _say(number: bytes, answer: object, connection: socket.socket) -> None:
    """Send the other process one line, after the number of its request."""
    connection.sendall(number + json.dumps(answer).encode("ascii") + b"\n")
