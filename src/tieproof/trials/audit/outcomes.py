"""One call of an evaluator: the numbers it returns, or how it fails. Whatever the evaluator does, the call ends.

If it gives no number for its first data, or an impossible one, the audit ends before it begins.
"""

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
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from tieproof.errors import InputError
from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.conventions import Convention, EvaluatorFunction, Wrote

# Why a call gave no number.
Problem = Literal["refused", "crashed", "timed out", "too much output", "writes into its input"]

SINGLE = "score"  # the name of the number if the evaluator returns only one
MOST_VALUES = 1000
MOST_LETTERS = 1_000_000  # the most numbers that an evaluator may return, and the most characters that it may print
LONGEST_MESSAGE = 300
RETURNED = "it returned "  # the beginning of messages about a returned value that is not a number

# Seconds between two rings of an alarm. The first pause follows the first ring; later pauses are halved from the
# first to the third value, then start again at the second. An evaluator may catch every exception in a loop: it is
# left when an alarm rings outside its `try`, which may take a ring within a microsecond of another.
PAUSES = (0.1, 1e-3, 1e-6)


# The message about an answer that the process of an evaluator did not give in order.
MEDDLED = "it wrote into the answer of its process"


class Outcome(NamedTuple):
    """The numbers of a call by their names; or the problem, and the message about it."""

    values: dict[str, float]
    problem: Problem | None = None
    message: str = ""

    def value(self, name: str) -> float:
        """The number of a name; NaN if there is none."""
        return self.values.get(name, math.nan)


class Stop(BaseException):
    """Ends a call; an `except Exception` in the evaluator does not catch it."""

    def __init__(self, problem: Problem, message: str) -> None:
        super().__init__(message)
        self.problem: Problem = problem


class Deadline:
    """The moment that is a number of seconds from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.moment = seconds, time.monotonic() + seconds

    def check(self) -> None:
        """Raise `Stop` if that moment has passed."""
        if time.monotonic() >= self.moment:
            raise timed_out(self.seconds)


# The deadline of the running call, for evaluators that wait for other processes.
DEADLINE: ContextVar[Deadline | None] = ContextVar("DEADLINE", default=None)


class Sink(io.TextIOBase):
    """Counts the characters that an evaluator prints, up to a limit.

    The count belongs to the class, so that an evaluator that kept the sink of an earlier call is counted, too.
    """

    letters = 0

    def writable(self) -> bool:
        """Whether it can be written to: always."""
        return True

    def write(self, text: str) -> int:
        """Count the characters and discard them."""
        Sink.letters += len(text)
        if Sink.letters > MOST_LETTERS:
            raise too_much_printed()
        return len(text)


def too_much_printed() -> Stop:
    """The exception that ends an evaluator that prints too much."""
    return Stop("too much output", f"it printed more than {MOST_LETTERS:,} characters")


def attempt(
    evaluator: EvaluatorFunction,
    convention: Convention,
    case: Case,
    settings: Mapping[str, Any],
    seconds: float | None,
) -> Outcome:
    """Call the evaluator; nothing that it raises or prints leaves this function, except a keyboard interrupt.

    seconds : the time after which Python code is interrupted, in the main thread and on systems that have alarms.
        Native code is interrupted only when it returns; `isolation.py` can end native code, too.
    """
    sink, process = Sink(), os.getpid()
    Sink.letters = 0
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(sink),
            contextlib.redirect_stderr(sink),
            _limited(seconds) as alarm,
        ):
            warnings.simplefilter("ignore")
            try:
                outcome = _as_outcome(convention.call(evaluator, case, settings))
            finally:
                alarm.is_on = False  # the first statement, so that no alarm can ring after the call
            return outcome if alarm.rung is None else Outcome({}, alarm.rung.problem, str(alarm.rung))
    except Stop as stop:
        return Outcome({}, stop.problem, str(stop))
    except Wrote as written:
        return Outcome({}, "writes into its input", str(written))
    except KeyboardInterrupt:
        raise
    except SystemExit as exit_:
        return Outcome({}, "crashed", f"it called sys.exit({_shortened(_words_of(exit_.code, repr))})")
    except BaseException as error:
        return Outcome({}, _problem_of(error), described(error))
    finally:
        if os.getpid() != process:
            os._exit(0)  # the evaluator forked, and this is the child process, which must not go on with the audit


def described(error: BaseException) -> str:
    """The class and the message of an exception, in one line."""
    message = _words_of(error)
    return _shortened(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def _words_of(what: object, spelled: Callable[[object], str] = str) -> str:
    try:
        return " ".join(spelled(what).split())
    except Exception:
        return ""


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} …"


# Exceptions that count as refusals if they have a message. So does RuntimeError itself, which torch raises to refuse
# input, but not its subclasses.
REFUSALS = (ValueError, TypeError, AssertionError, NotImplementedError)


def _problem_of(error: BaseException) -> Problem:
    """Whether an exception refuses the input with a message, or is a crash.

    Exceptions that a library defines count as refusals. Exceptions that Python raises for an error inside the code
    (IndexError, KeyError, ZeroDivisionError, …), and exceptions without a message, count as crashes.

    >>> _problem_of(ValueError("Input contains NaN.")), _problem_of(IndexError("index 3 is out of bounds"))
    ('refused', 'crashed')
    """
    own = type(error).__module__ != "builtins"
    known = isinstance(error, REFUSALS) or type(error) is RuntimeError
    refuses = isinstance(error, Exception) and (own or known)
    return "refused" if refuses and _words_of(error) else "crashed"


def _as_outcome(returned: Any) -> Outcome:
    """The outcome of a call that returned this value: a number, or a mapping from names to numbers.

    >>> _as_outcome(0.5).values, _as_outcome({"AP": 1}).values
    ({'score': 0.5}, {'AP': 1.0})
    >>> _as_outcome("0.5").message
    'it returned a str; a number or a dict of numbers was expected'
    """
    named = returned if isinstance(returned, Mapping) else {SINGLE: returned}
    if len(named) > MOST_VALUES:
        return Outcome({}, "too much output", f"{RETURNED}{len(named):,} numbers, more than {MOST_VALUES:,}")
    values = {}
    for name, value in named.items():
        number = _as_number(value)
        if number is None:
            what = f"a {type(returned).__name__}" + (f" with a {type(value).__name__}" if named is returned else "")
            return Outcome({}, "crashed", f"{RETURNED}{what}; a number or a dict of numbers was expected")
        values[str(name)] = number
    if not values:
        return Outcome({}, "crashed", f"{RETURNED}no number at all")
    if sum(map(len, values)) > MOST_LETTERS:
        return Outcome({}, "too much output", f"the names of its numbers have more than {MOST_LETTERS:,} characters")
    return Outcome(values)


def reported(answer: Any) -> Outcome:
    """The outcome in an answer of another process, which is data: `Stop` unless `attempt` could have returned it.

    >>> reported({"values": {"AP": 0.5}, "problem": None, "message": ""}).values
    {'AP': 0.5}
    """
    match answer:
        case {"values": dict(values), "problem": None, "message": "", **rest} if not rest:
            return _as_outcome(values)
        case {"values": dict(values), "problem": str(problem), "message": str(message), **rest}:
            if problem in get_args(Problem) and not values and not rest:
                return Outcome({}, cast(Problem, problem), _shortened(" ".join(message.split())))
    raise Stop("crashed", MEDDLED)


def _as_number(value: Any) -> float | None:
    """A real number of Python or of an array library as a float; None for anything else."""
    if isinstance(value, str | bytes) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError, RuntimeError):
        return None  # an array with several elements


class Alarm:
    """Interrupts Python code in the main thread, again and again at shorter intervals if the code catches that.

    rung : the exception that was raised last
    is_on : False once there is nothing left to interrupt
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.pause = seconds, PAUSES[0]
        self.rung: Stop | None = None
        self.is_on = True

    def ring(self, *_: object) -> None:
        """Interrupt the running code."""
        if self.is_on:
            pause, self.pause = self.pause, self.pause / 2 if self.pause > PAUSES[2] else PAUSES[1]
            self.rung = timed_out(self.seconds)
            signal.setitimer(signal.ITIMER_REAL, pause)
            raise self.rung


@contextlib.contextmanager
def _limited(seconds: float | None) -> Iterator[Alarm]:
    """Interrupt the block after a number of seconds, if the thread and the system allow that."""
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
    """The exception that ends an evaluator that takes too long."""
    return Stop("timed out", f"it took longer than {seconds:g} seconds")


LATE = "Pass fewer items (--items) or a longer time_limit (--time-limit)."
EXTRACT = "Pass a function that extracts the number, such as lambda *given: evaluator(*given)[0]."
OTHERS = (
    "If it expects other arguments, pass takes (--takes), or a function that calls it as it expects, such as the one "
    "below."
)

WRAPPER = """\
# audited.py, for tieproof audit audited:evaluator --takes "{takes}"
from {module} import {function}

def evaluator({names}):
    answer = {function}({names})  # change this line to what it expects
    return float(answer)  # or a dict of numbers by their names"""
"""What the notes of the error show, to be copied and changed."""


def no_answer(outcome: Outcome, what: str, case: Any, convention: Convention, title: str) -> InputError:
    """The error if the evaluator gives no number for what it must be able to score; its note is a wrapper to copy."""
    by_program = "{qrels}" in title
    if outcome.message.startswith(RETURNED) or outcome.problem in ("timed out", "too much output"):
        advice = EXTRACT if outcome.message.startswith(RETURNED) else LATE
        return InputError(f"The evaluator cannot be audited: for {what} {outcome.message}. {advice}")
    verb = "refuses" if outcome.problem == "refused" else "fails on"
    given = zip(convention.names, convention.arguments(case), strict=True)
    got = ", ".join(f"{name} {_kind_of(argument)}" for name, argument in given)
    got = convention.takes if convention.files else f"({got}), {convention.takes.partition('), ')[2]}".rstrip(", ")
    advice = "Run it on two such files to see more." if by_program else OTHERS
    error = InputError(
        f"The evaluator {verb} {what} ({outcome.message.rstrip('.')}). It was called with {got}. {advice}"
    )
    if not by_program:
        module, _, function = title.rpartition(":")
        named = {"module": module or "my_package", "function": function if function.isidentifier() else "score"}
        error.add_note(WRAPPER.format(takes=convention.name, names=", ".join(convention.names), **named))
    return error


def _kind_of(argument: Any) -> str:
    """The type and the shape of an argument, in words.

    >>> _kind_of(np.zeros((2, 3))), _kind_of({"q": {}}), _kind_of((np.zeros(2), np.arange(2)))
    ('float64 (2, 3)', 'dict of 1', '(float64 (2,), int64 (2,))')
    """
    if isinstance(argument, np.ndarray):
        return f"{argument.dtype} {argument.shape}"
    if isinstance(argument, tuple):
        return f"({', '.join(map(_kind_of, argument))})"
    return f"{type(argument).__name__} of {len(argument)}"


def check_limits(value: float, name: str, what: str, limits: tuple[float, float], slack: float, advice: str) -> None:
    """Raise InputError if what any evaluator must be able to score has a number outside the limits, but for NaN."""
    if math.isnan(value) or limits[0] - slack <= value <= limits[1] + slack:
        return
    raise InputError(
        f"The evaluator gives {value:.6g} ({name}) for {what}, outside the limits {limits[0]:g} and {limits[1]:g}. "
        f"{advice}",
        "limits",
    )
