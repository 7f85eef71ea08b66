"""What everything waits for before an evaluation goes on: said once, where it takes longer than a second."""

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 1.0
"""What people wait for without being told why; pieces of a wait add up."""

_lock = threading.Lock()
_shown = 0
_asked = False


@contextmanager
def shown_waits(shown: bool) -> Iterator[None]:
    """Let waits be explained on standard error, where that is a terminal, until this ends."""
    global _shown
    with _lock:
        _shown += shown
    try:
        yield
    finally:
        with _lock:
            _shown -= shown


def explain_waits(progress: bool) -> None:
    """Let waits be explained in the same way, or not, until the next call that has an argument `progress`.

    A function, called at the beginning of such a call: a wrapper would stand between its warnings and the line of the
    user that they point to.
    """
    global _asked
    _asked = bool(progress)


class Wait:
    """One thing that holds everything up, in pieces, in any thread, some of them inside others.

    what : a line that says what it is
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.lock = threading.Lock()
        self.said = False
        self.pieces = 0
        self.waited = self.began = 0.0
        self.timer: threading.Timer | None = None

    def begin(self) -> None:
        """A piece begins."""
        with self.lock:
            self.pieces += 1
            if self.pieces == 1 and not self.said:
                self.began = time.monotonic()
                self.timer = threading.Timer(max(0.0, SECONDS - self.waited), self.say)
                self.timer.daemon = True
                self.timer.start()

    def end(self) -> None:
        """A piece ends, well or not."""
        with self.lock:
            self.pieces -= 1
            if not self.pieces and self.timer is not None:
                self.timer.cancel()
                self.timer = None
                self.waited += time.monotonic() - self.began

    def say(self) -> None:
        """Say it, if nobody has."""
        with self.lock:
            said, self.said = self.said, True
        if said:
            return
        logging.getLogger("tieproof").info(self.what)
        if (_shown or _asked) and sys.stderr is not None and sys.stderr.isatty():
            print(self.what, file=sys.stderr, flush=True)
