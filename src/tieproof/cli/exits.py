"""How a command ends: its status, and one line on standard error for whatever it raises."""

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import typer
from typer.main import get_command

from tieproof.errors import InputWarning, TieproofError

OK, DEFECT, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK = "TIEPROOF_TRACEBACK"

# What the argument parser raises for wrong usage; its class has no public name of its own.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__base__)


def status_of(app: typer.Typer, args: list[str]) -> int:
    """Run a command, and turn whatever it raises into a line and a status."""
    command = get_command(app)
    try:
        with warnings_in_lines(), command.make_context("tieproof", list(args)) as context:
            command.invoke(context)
        print(end="", flush=True)
    except typer.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return fail("Interrupted; nothing was written.", INTERRUPTED)
    except UsageError as error:
        where = error.ctx.command_path if error.ctx else "tieproof"
        message = error.format_message()
        return fail(f"{message}{'' if message.endswith(('.', '?')) else '.'} See: {where} --help")
    except TieproofError as error:
        return fail(str(error))
    except MemoryError as error:
        return fail(
            f"Memory ran out ({error or 'no details'}). Free some; tieproof evaluate also takes a smaller --memory."
        )
    except BrokenPipeError:
        discard_output()  # such as `| head`, which has seen enough
    except OSError as error:
        discard_output()
        return fail(f"{error.filename or 'Standard output'}: {error.strerror or error}.")
    except Exception as error:
        if "--traceback" in args or os.environ.get(TRACEBACK, "0") != "0":
            traceback.print_exc()
        return fail(
            f"A defect of tieproof, not of your data: {type(error).__name__}: {error}. "
            f"Please report it, with what {TRACEBACK}=1 shows in the environment.",
            DEFECT,
        )
    return OK


@contextmanager
def warnings_in_lines() -> Iterator[None]:
    """Show each `InputWarning` as one line on standard error, once; other warnings as Python does."""

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, InputWarning):
            print(f"Warning: {' '.join(str(message).split())}", file=sys.stderr)
        else:
            usual(message, category, *where, **more)

    with warnings.catch_warnings():
        usual = warnings.showwarning
        warnings.simplefilter("once", InputWarning)
        warnings.showwarning = show
        yield


def fail(message: str, status: int = BAD_INPUT) -> int:
    """Say in one line what is wrong."""
    print(f"Error: {' '.join(message.split())}" if status != INTERRUPTED else message, file=sys.stderr)
    return status


def discard_output() -> None:
    """Send what is still unwritten nowhere, or the interpreter would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
