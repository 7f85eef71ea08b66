"""How a command ends: with an exit status, and one line on standard error if it raised an exception."""

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from tieproof.cli.streams import complain, discard
from tieproof.errors import InputWarning, TieproofError
from tieproof.sandbox.processes import Terminated, ending_by_signals
from tieproof.show.printable import in_one_line, printable

OK, DEFECT, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK = "TIEPROOF_TRACEBACK"


def status_of(program: click.Command, args: list[str]) -> int:
    """Run a command, turn any exception into a line on standard error, and return the exit status."""
    try:
        with ending_by_signals(), warnings_in_lines(), program.make_context("tieproof", list(args)) as context:
            program.invoke(context)
        print(end="", flush=True)
    except click.exceptions.Exit as done:
        return done.exit_code
    except Terminated as ended:
        return stopped("Terminated", ended.status)
    except (KeyboardInterrupt, click.Abort):
        return stopped("Interrupted", INTERRUPTED)
    except click.UsageError as error:
        message, asked = error.format_message(), error.ctx.command_path if error.ctx else "tieproof"
        end = "" if message.endswith((".", "?")) else "."
        return fail(f"{message}{end} See: {asked} --help")
    except TieproofError as error:
        return fail(str(error))
    except MemoryError as error:
        return fail(
            f"Memory ran out ({error or 'no details'}). Free some memory; tieproof evaluate also takes a smaller "
            "--memory."
        )
    except BrokenPipeError:
        discard(sys.stdout)  # such as `| head`, which has seen enough
    except OSError as error:
        discard(sys.stdout)
        return fail(f"{error.filename or 'Standard output'}: {error.strerror or error}.")
    except Exception as error:
        if "--traceback" in args or os.environ.get(TRACEBACK, "0") != "0":
            complain("\n".join(map(printable, traceback.format_exc().splitlines())))
        return fail(
            f"A defect of tieproof, not of your data: {type(error).__name__}: {error}. "
            f"Please report it, with the traceback that {TRACEBACK}=1 in the environment shows.",
            DEFECT,
        )
    return OK


@contextmanager
def warnings_in_lines() -> Iterator[None]:
    """Show each `InputWarning` once, as one line on standard error; Python shows other warnings."""

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, InputWarning):
            complain(f"Warning: {in_one_line(message)}")
        else:
            usual(in_one_line(message), category, *where, **more)

    with warnings.catch_warnings():
        usual = warnings.showwarning
        warnings.simplefilter("once", InputWarning)
        warnings.showwarning = show
        yield


def fail(message: str, status: int = BAD_INPUT) -> int:
    """Print an error as one line, and return the status."""
    complain(f"Error: {in_one_line(message)}")
    return status


def stopped(how: str, status: int) -> int:
    """Print that the command was ended from outside, and return the status."""
    complain(f"{how}; no unfinished file is left.")
    return status
