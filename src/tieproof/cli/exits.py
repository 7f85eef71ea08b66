"""What a command prints, and how it ends: with an exit status, and one line on standard error if it fails."""

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, TextIO

import click

from tieproof.errors import InputWarning, TieproofError
from tieproof.show.printable import in_one_line, printable
from tieproof.trials.sandbox.processes import Terminated, ending_by_signals

WIDEST = 100  # the most columns of a terminal that a text uses

OK, DEFECT, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK = "TIEPROOF_TRACEBACK"


def status_of(program: click.Command, args: list[str]) -> int:
    """Run a command, turn any exception into a line on standard error, and return the exit status."""
    try:
        with ending_by_signals(), _warnings_in_lines(), program.make_context("tieproof", list(args)) as context:
            program.invoke(context)
        print(end="", flush=True)
    except click.exceptions.Exit as done:
        return done.exit_code
    except Terminated as ended:
        return _stopped("Terminated", ended, ended.status)
    except (KeyboardInterrupt, click.Abort) as ended:
        return _stopped("Interrupted", ended, INTERRUPTED)
    except click.UsageError as error:
        message, asked = error.format_message(), error.ctx.command_path if error.ctx else "tieproof"
        end = "" if message.endswith((".", "?")) else "."
        return _fail(f"{message}{end} See: {asked} --help")
    except TieproofError as error:
        return _fail(str(error), BAD_INPUT, getattr(error, "__notes__", ()))
    except MemoryError as error:
        return _fail(
            f"Memory ran out ({error or 'no details'}). Free some memory; tieproof evaluate also takes a smaller "
            "--memory."
        )
    except BrokenPipeError:
        _discard(sys.stdout)  # such as `| head`, which has seen enough
    except OSError as error:
        _discard(sys.stdout)
        return _fail(f"{error.filename or 'Standard output'}: {error.strerror or error}.")
    except Exception as error:
        if "--traceback" in args or os.environ.get(TRACEBACK, "0") != "0":
            complain("\n".join(map(printable, traceback.format_exc().splitlines())))
        return _fail(
            f"A defect of tieproof, not of your data: {type(error).__name__}: {error}. "
            f"Please report it, with the traceback that {TRACEBACK}=1 in the environment shows.",
            DEFECT,
        )
    return OK


@contextmanager
def _warnings_in_lines() -> Iterator[None]:
    """Show each `InputWarning` once, in one line, and of runs that were probably cut off only the first."""
    told = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, InputWarning):
            before, cut_off, advice = in_one_line(message).partition("Set truncated=True")
            if not cut_off or advice not in told:
                complain(f"Warning: {before}{cut_off and 'Use --truncated of tieproof run or leaderboard'}{advice}")
            told.add(advice)
        else:
            usual(in_one_line(message), category, *where, **more)

    with warnings.catch_warnings():
        usual = warnings.showwarning
        warnings.simplefilter("once", InputWarning)
        warnings.showwarning = show
        yield


def _fail(message: str, status: int = BAD_INPUT, notes: Sequence[str] = ()) -> int:
    complain(f"Error: {in_one_line(message)}")
    for line in chain.from_iterable(map(str.splitlines, notes)):  # such as code to copy
        complain(printable(line))
    return status


def _stopped(how: str, ended: BaseException, status: int) -> int:
    """Say what is kept, which notes of the exception tell."""
    kept = getattr(ended, "__notes__", ["no unfinished file is left"])
    complain(f"{how}; {in_one_line('; '.join(kept))}.")
    return status


def say(text: str) -> None:
    """Print a text, with escapes for what standard output cannot encode; a reader such as `head` may close it."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        _discard(sys.stdout)


def complain(line: str) -> None:
    """Print a line on standard error, unless it is closed."""
    try:
        if sys.stderr is not None:  # with None, print would use standard output
            print(line, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO | None) -> None:
    """Discard unwritten output, which the interpreter would otherwise report at exit; a closed stream is None."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal; a closed stream is None."""
    return stream is not None and stream.isatty()


def shows_progress() -> bool:
    """Whether somebody may look at standard error, where progress is shown."""
    return is_terminal(sys.stderr)
