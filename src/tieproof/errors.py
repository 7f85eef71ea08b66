"""The exceptions and the warning: each message says what arrived, what was expected and what to do."""

import sys
import warnings
from typing import Any


class TieproofError(Exception):
    """Base of every error that tieproof raises on purpose."""


class InputError(TieproofError, ValueError):
    """The data or an argument cannot be evaluated; the message names it and says what to do.

    argument : the name of the argument that it is about; several where they do not fit each other; None where only
        the message says it
    """

    def __init__(self, message: str = "", argument: str | tuple[str, ...] | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class CountError(InputError):
    """An argument has not one entry for each item of another one."""


class about:  # noqa: N801 (it is used as a function would be, and is entered in a tenth of the time of one)
    """Let an `InputError` from within carry the argument that it is about, where it carries none.

    counted : the arguments whose items it must have one entry for

    >>> with about("labels", "embeddings"):
    ...     raise CountError("There are 2 labels for 3 embeddings. Pass exactly one for each.")
    Traceback (most recent call last):
    tieproof.errors.CountError: There are 2 labels for 3 embeddings. Pass exactly one for each.
    """

    def __init__(self, argument: str | tuple[str, ...], *counted: str) -> None:
        self.argument, self.counted = argument, counted

    def __enter__(self) -> None:
        """Nothing is done before."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Complete the error, and let it pass."""
        if isinstance(error, InputError) and error.argument is None:
            named = (self.argument,) if isinstance(self.argument, str) else self.argument
            several = named + self.counted if isinstance(error, CountError) else named
            error.argument = several if len(several) > 1 else several[0]


class AbsentMeasureError(InputError, KeyError):
    """A result has no measure of that name: of a mapping, a `KeyError`."""

    def __str__(self) -> str:
        """The message; `KeyError` alone would put it in quotes."""
        return Exception.__str__(self)


class MissingExtraError(TieproofError, ImportError):
    """An optional library is needed and not installed; the message has its `pip install` line.

    what : what needs it
    extra : the extra of tieproof that brings it
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}'. Install it with: pip install 'tieproof[{extra}]'")
        self.what, self.extra = what, extra

    def __reduce__(self) -> tuple[Any, ...]:
        """Made again from what it was made of; exceptions are made again from their message, which is not enough."""
        return type(self), (self.what, self.extra), self.__dict__


class ClusterError(TieproofError, RuntimeError):
    """A cluster failed to do a part of an evaluation, again and again; the data may be right."""


class UnsafeProductError(TieproofError, RuntimeError):
    """The matrix product of this machine is less exact than its type promises."""


class InputWarning(UserWarning):
    """The data can be evaluated, and is probably not what was meant; the message says what to do instead."""


def warn(message: str) -> None:
    """Give an `InputWarning` that names the first line outside of tieproof that led to it."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "tieproof":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, InputWarning, stacklevel=level)
