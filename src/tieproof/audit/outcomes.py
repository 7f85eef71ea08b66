"""One call of an evaluator: what it returns, or how it fails. An evaluator may do anything; a call always ends."""

import contextlib
import io
import math
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
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


class Sink(io.TextIOBase):
    """Takes what an evaluator prints, up to a limit."""

    def __init__(self) -> None:
        self.letters = 0

    def writable(self) -> bool:
        """Whether it can be written to: always."""
        return True

    def write(self, text: str) -> int:
        """Count the letters, and forget them."""
        self.letters += len(text)
        if self.letters > MOST_LETTERS:
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
    sink = Sink()
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(sink),
            contextlib.redirect_stderr(sink),
            alarm(seconds),
        ):
            warnings.simplefilter("ignore")
            return as_outcome(convention.call(evaluator, case, settings))
    except Stop as stop:
        return Outcome({}, stop.problem, str(stop))
    except SystemExit as exit_:
        return Outcome({}, "crashed", f"it called sys.exit({exit_.code!r})")
    except Exception as error:
        return Outcome({}, problem_of(error), described(error))


def described(error: Exception) -> str:
    """The class and the message of an exception, in a line."""
    message = " ".join(str(error).split())
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} …"


REFUSALS = (ValueError, TypeError, AssertionError, NotImplementedError)
"""What refuses an input, if it says why. RuntimeError, too, but none of its subclasses: torch refuses by it."""


def problem_of(error: Exception) -> Problem:
    """Whether an exception refuses the input in words, or is an accident.

    Exceptions of a library's own refuse; those that Python raises for what went wrong inside (IndexError, KeyError,
    ZeroDivisionError, …) or that say nothing are accidents.

    >>> problem_of(ValueError("Input contains NaN.")), problem_of(IndexError("index 3 is out of bounds"))
    ('refused', 'crashed')
    """
    own = type(error).__module__ != "builtins"
    known = isinstance(error, REFUSALS) or type(error) is RuntimeError
    return "refused" if str(error).strip() and (own or known) else "crashed"


def as_outcome(returned: Any) -> Outcome:
    """A number, or numbers by their names.

    >>> as_outcome(0.5).values, as_outcome({"AP": 1}).values
    ({'score': 0.5}, {'AP': 1.0})
    >>> as_outcome("0.5").message
    'it returned a str, expected was a number, or numbers by their names'
    """
    named = returned if isinstance(returned, Mapping) else {SINGLE: returned}
    if len(named) > MOST_VALUES:
        return Outcome({}, "too much output", f"it returned {len(named):,} numbers, more than {MOST_VALUES:,}")
    values = {}
    for name, value in named.items():
        number = as_number(value)
        if number is None:
            what = f"a {type(returned).__name__}" + (f" with a {type(value).__name__}" if named is returned else "")
            return Outcome({}, "crashed", f"it returned {what}, expected was a number, or numbers by their names")
        values[str(name)] = number
    if not values:
        return Outcome({}, "crashed", "it returned no number at all")
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


@contextlib.contextmanager
def alarm(seconds: float | None) -> Iterator[None]:
    """Interrupt the block after so many seconds, where that is possible."""
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if seconds is None or not here:
        yield
        return

    def ring(*_: object) -> None:
        raise timed_out(seconds)

    before: Callable[..., Any] | int | None = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def timed_out(seconds: float) -> Stop:
    """What ends an evaluator that takes too long."""
    return Stop("timed out", f"it took longer than {seconds:g} seconds")
