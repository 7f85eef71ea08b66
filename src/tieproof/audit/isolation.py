"""A process of its own for an evaluator: whatever it does there, the audit goes on.

    audit ──► length, case as packed arrays, settings ──► worker.py in another process
          ◄── one line of JSON: numbers by name, or the problem ◄──

Nothing is pickled on the way. The process lives until it crashes, hangs or prints too much; the next call starts
another one.
"""

import json
import os
import queue
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

from tieproof.audit.cases import Case
from tieproof.audit.outcomes import MOST_LETTERS, Outcome, Stop, timed_out, too_much_printed

START_SECONDS = 300.0
"""What importing the evaluator's module may take."""

CODE = "from tieproof.audit.worker import main; main()"
HEADER = struct.Struct("<QQ")
"""The lengths of the two parts of a request."""

READY = "ready"


class Isolated:
    """Calls the evaluator `package.module:function` in a process of its own.

    takes : the name of its convention
    limits : the seconds that one call after the other may take
    """

    def __init__(self, name: str, takes: str, limits: Iterator[float]) -> None:
        self.name, self.takes, self.limits = name, takes, limits
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (as long-lived as the process)

    def __call__(self, case: Case, settings: Mapping[str, Any]) -> Outcome:
        """The outcome of one call; a process that had to be ended is a problem of the call."""
        try:
            process = self.started()
            assert process.stdin is not None
            packed, options = case.pack(), json.dumps(dict(settings)).encode()
            process.stdin.write(HEADER.pack(len(packed), len(options)) + packed + options)
            process.stdin.flush()
            return Outcome(**self.reply(next(self.limits)))
        except Stop as stop:
            self.close()
            return Outcome({}, stop.problem, str(stop))
        except BrokenPipeError:
            return self.ended()

    def started(self) -> "subprocess.Popen[bytes]":
        """The process, which has imported the evaluator."""
        if self.process is None or self.process.poll() is not None:
            self.close()
            self.printed = tempfile.TemporaryFile()  # noqa: SIM115
            self.process = subprocess.Popen(
                [sys.executable, "-c", CODE, self.name, self.takes],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.printed,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [*sys.path]))},
            )
            self.lines = queue.SimpleQueue()
            threading.Thread(target=self.listen, args=(self.process.stdout, self.lines), daemon=True).start()
            if self.reply(START_SECONDS) != READY:
                raise Stop("crashed", "its process did not start")
        return self.process

    @staticmethod
    def listen(stream: IO[bytes], lines: "queue.SimpleQueue[bytes]") -> None:
        """Hand on every line; an empty one says that there are no more."""
        for line in stream:
            lines.put(line)
        lines.put(b"")

    def reply(self, seconds: float) -> Any:
        """The next line of the process as JSON."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=0.1)
            except queue.Empty:
                if os.fstat(self.printed.fileno()).st_size > MOST_LETTERS:
                    raise too_much_printed() from None
                if time.monotonic() > deadline:
                    raise timed_out(seconds) from None
                continue
            if not line:
                raise Stop("crashed", self.ended().message)
            return json.loads(line)

    def ended(self) -> Outcome:
        """How the process came to its end by itself."""
        assert self.process is not None
        status = self.process.wait()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        return Outcome({}, "crashed", f"its process ended {how}")

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
            self.process = None
        self.printed.close()
