"""Signals that end a command, which cleans up first, as after an interrupt from the keyboard."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NAMES = ("SIGTERM", "SIGHUP")
"""The signals that `kill` and batch systems send, and that a closing terminal sends; Windows lacks the second."""


class Terminated(KeyboardInterrupt):
    """The process was asked to end; like an interrupt this is no `Exception`, so that no handler catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """Raise `Terminated` for signals that would end the process at once and leave unfinished files.

    A signal that is ignored, as under `nohup`, or that has another handler is left alone.
    """
    handled: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        for each in handled:
            signal.signal(each, signal.SIG_IGN)  # a second signal must not stop the cleaning up
        raise Terminated(number)

    if threading.current_thread() is threading.main_thread():
        known = [int(getattr(signal, name)) for name in NAMES if hasattr(signal, name)]
        handled += [number for number in known if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in handled:
            signal.signal(number, end)
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
