"""One call of an evaluator: what it returns, or how it fails. An evaluator may do anything; a call always ends."""

import contextlib
import io
import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from tieproof.audit.cases import Case
from tieproof.audit.conventions import Convention, Evaluator

Problem = Literal["refused", "crashed", "timed out", "too much output"]
"""Why there is no number."""

SINGLE = "score"
"""The name of the number of an evaluator that returns only one."""

MOST_VALUES = 1000
MOST_LETTERS = 1_000_000
"""What an evaluator may return and print."""

LONGEST_MESSAGE = 300

RETURNED = "it returned "
"""How messages on a returned value begin that is no number."""

PAUSES = (0.1, 1e-3, 1e-6)
"""Seconds between two rings of an alarm: after the first; then ever less, from the second to the third and anew. A
loop that catches everything is left where one rings outside its `try`, which may be a microsecond after another."""


class Outcome(NamedTuple):
    """The numbers of a call by their names; or the problem, and what was said about it."""

    values: dict[str, float]
    problem: Problem | None = None
    message: str = ""


class Stop(BaseException):
    """Ends a call; no `except Exception` of the evaluator holds it up."""

    def __init__(self, problem: Problem, message: str) -> None:
        super().__init__(message)
        self.problem: Problem = problem


class Deadline:
    """The end of so many seconds from now on."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.moment = seconds, time.monotonic() + seconds

    def check(self) -> None:
        """End the call if they are over."""
        if time.monotonic() >= self.moment:
            raise timed_out(self.seconds)


DEADLINE: ContextVar[Deadline | None] = ContextVar("DEADLINE", default=None)
"""That of the call that runs, for evaluators that wait for other processes."""


class Sink(io.TextIOBase):
    """Takes what an evaluator prints, up to a limit; what keeps the sink of an earlier call writes to this one."""

    letters = 0

    def writable(self) -> bool:
        """Whether it can be written to: always."""
        return True

    def write(self, text: str) -> int:
        """Count the letters, and forget them."""
        Sink.letters += len(text)
        if Sink.letters > MOST_LETTERS:
            raise too_much_printed()
        return len(text)


def too_much_printed() -> Stop:
    """What ends an evaluator that prints without end."""
    return Stop("too much output", f"it printed more than {MOST_LETTERS:,} letters")


def attempt(
    evaluator: Evaluator, convention: Convention, case: Case, settings: Mapping[str, Any], seconds: float | None
) -> Outcome:
    """Call the evaluator; everything it raises or prints ends here, except an interrupt from the keyboard.

    seconds : after which Python code is interrupted, in the main thread and where the system has alarms; native code
        is interrupted when it returns. `isolation.py` ends everything.
    """
    sink, process = Sink(), os.getpid()
    Sink.letters = 0
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(sink),
            contextlib.redirect_stderr(sink),
            limited(seconds) as alarm,
        ):
            warnings.simplefilter("ignore")
            try:
                outcome = as_outcome(convention.call(evaluator, case, settings))
            finally:
                alarm.is_on = False  # nothing is called before: from here on no ring can come in between
            return outcome if alarm.rung is None else Outcome({}, alarm.rung.problem, str(alarm.rung))
    except Stop as stop:
        return Outcome({}, stop.problem, str(stop))
    except KeyboardInterrupt:
        raise
    except SystemExit as exit_:
        return Outcome({}, "crashed", f"it called sys.exit({shortened(words_of(exit_.code, repr))})")
    except BaseException as error:
        return Outcome({}, problem_of(error), described(error))
    finally:
        if os.getpid() != process:
            os._exit(0)  # the evaluator forked, and its copy of the audit came back from the call, too


def described(error: BaseException) -> str:
    """The class and the message of an exception, in a line."""
    message = words_of(error)
    return shortened(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def words_of(what: object, spelled: Callable[[object], str] = str) -> str:
    """What an object says of itself, in a line; nothing where it fails to."""
    try:
        return " ".join(spelled(what).split())
    except Exception:
        return ""


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} …"


REFUSALS = (ValueError, TypeError, AssertionError, NotImplementedError)
"""What refuses an input, if it says why. RuntimeError, too, but none of its subclasses: torch refuses by it."""


def problem_of(error: BaseException) -> Problem:
    """Whether an exception refuses the input in words, or is an accident.

    Exceptions of a library's own refuse; those that Python raises for what went wrong inside (IndexError, KeyError,
    ZeroDivisionError, …) or that say nothing are accidents.

    >>> problem_of(ValueError("Input contains NaN.")), problem_of(IndexError("index 3 is out of bounds"))
    ('refused', 'crashed')
    """
    own = type(error).__module__ != "builtins"
    known = isinstance(error, REFUSALS) or type(error) is RuntimeError
    refuses = isinstance(error, Exception) and (own or known)
    return "refused" if refuses and words_of(error) else "crashed"


def as_outcome(returned: Any) -> Outcome:
    """A number, or numbers by their names.

    >>> as_outcome(0.5).values, as_outcome({"AP": 1}).values
    ({'score': 0.5}, {'AP': 1.0})
    >>> as_outcome("0.5").message
    'it returned a str, expected was a number, or numbers by their names'
    """
    named = returned if isinstance(returned, Mapping) else {SINGLE: returned}
    if len(named) > MOST_VALUES:
        return Outcome({}, "too much output", f"{RETURNED}{len(named):,} numbers, more than {MOST_VALUES:,}")
    values = {}
    for name, value in named.items():
        number = as_number(value)
        if number is None:
            what = f"a {type(returned).__name__}" + (f" with a {type(value).__name__}" if named is returned else "")
            return Outcome({}, "crashed", f"{RETURNED}{what}, expected was a number, or numbers by their names")
        values[str(name)] = number
    if not values:
        return Outcome({}, "crashed", f"{RETURNED}no number at all")
    if sum(map(len, values)) > MOST_LETTERS:
        return Outcome({}, "too much output", f"the names of its numbers have more than {MOST_LETTERS:,} letters")
    return Outcome(values)


def as_number(value: Any) -> float | None:
    """Any real number, of Python or of an array library; None for all else."""
    if isinstance(value, str | bytes) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError, RuntimeError):
        return None  # an array of several


class Alarm:
    """Interrupts Python code in the main thread: once, and where that is caught again and again, ever faster.

    rung : what it has raised last
    is_on : False where there is nothing to be interrupted any more
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.pause = seconds, PAUSES[0]
        self.rung: Stop | None = None
        self.is_on = True

    def ring(self, *_: object) -> None:
        """Interrupt whatever runs."""
        if self.is_on:
            pause, self.pause = self.pause, self.pause / 2 if self.pause > PAUSES[2] else PAUSES[1]
            self.rung = timed_out(self.seconds)
            signal.setitimer(signal.ITIMER_REAL, pause)
            raise self.rung


@contextlib.contextmanager
def limited(seconds: float | None) -> Iterator[Alarm]:
    """Interrupt the block after so many seconds, where that is possible."""
    if seconds is None:
        yield Alarm(0.0)
        return
    alarm, deadline = Alarm(seconds), DEADLINE.set(Deadline(seconds))
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    before = signal.signal(signal.SIGALRM, alarm.ring) if here else None
    try:
        if here:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield alarm
    finally:
        alarm.is_on = False
        DEADLINE.reset(deadline)
        if here:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


def timed_out(seconds: float) -> Stop:
    """What ends an evaluator that takes too long."""
    return Stop("timed out", f"it took longer than {seconds:g} seconds")
