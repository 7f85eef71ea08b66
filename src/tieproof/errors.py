"""The exceptions and the warning. Each message says what arrived, what was expected and what to do."""

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

LONGEST = 9000, 1000  # how many letters of the beginning and of the end of a longer message are kept


class TieproofError(Exception):
    """Base of every error that tieproof raises on purpose."""


class InputError(TieproofError, ValueError):
    """The data or an argument cannot be evaluated; the message names it and says what to do.

    argument : the name of the argument that the error is about; several names if arguments do not fit each other;
        None if only the message tells
    """

    def __init__(self, message: str = "", argument: str | tuple[str, ...] | None = None) -> None:
        line = " ".join(message.split()) if "\n" in message else message  # arrays are shown in many lines
        if len(line) > sum(LONGEST):  # a name or a label in a file may have any length
            line = f"{line[: LONGEST[0]]} … {line[-LONGEST[1] :]}"
        super().__init__(line)
        self.argument = argument


class CountError(InputError):
    """An argument does not have exactly one entry for each item of another argument."""


class about:  # noqa: N801 (it is used like a function, and a class is entered ten times as fast)
    """Add the name of an argument to an `InputError` raised in the block, unless the error has one.

    counted : the arguments for whose items the argument must have one entry each

    >>> with about("labels", "embeddings"):
    ...     raise CountError("The number of labels is 2, but the number of embeddings is 3.")
    Traceback (most recent call last):
    tieproof.errors.CountError: The number of labels is 2, but the number of embeddings is 3.
    """

    def __init__(self, argument: str | tuple[str, ...], *counted: str) -> None:
        self.argument, self.counted = argument, counted

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Add the name to the error, which goes on to the caller."""
        if isinstance(error, InputError) and error.argument is None:
            named = (self.argument,) if isinstance(self.argument, str) else self.argument
            several = named + self.counted if isinstance(error, CountError) else named
            error.argument = several if len(several) > 1 else several[0]


@contextmanager
def calling(names: Mapping[str, str]) -> Iterator[None]:
    """Give the arguments of an `InputError` raised in the block the names that they have in the caller's call.

    names : the caller's name of each argument that has another one

    >>> try:
    ...     with calling({"embeddings": "queries"}):
    ...         raise InputError("The queries are empty.", ("embeddings", "gallery"))
    ... except InputError as error:
    ...     print(error.argument)
    ('queries', 'gallery')
    """
    try:
        yield
    except InputError as error:
        given = (error.argument,) if isinstance(error.argument, str) else error.argument or ()
        ours = tuple(dict.fromkeys(names.get(name, name) for name in given))
        error.argument = ours if len(ours) > 1 else ours[0] if ours else None
        raise


class AbsentMeasureError(InputError, KeyError):
    """A result has no measure of that name; this is a `KeyError` because a result is a mapping."""

    def __str__(self) -> str:
        """Return the message without the quotes that `KeyError` would add."""
        return Exception.__str__(self)


class MissingExtraError(TieproofError, ImportError):
    """An optional library is needed but not installed; the message contains the `pip install` command.

    what : what needs the library
    extra : the extra of tieproof that installs it
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}'. Install it with: pip install 'tieproof[{extra}]'")
        self.what, self.extra = what, extra

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments; by default an exception is restored from its message, which is not enough here."""
        return type(self), (self.what, self.extra), self.__dict__


def import_extra(name: str, what: str, extra: str) -> Any:
    """Import an optional library; MissingExtraError, which says `what` needs it, if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(what, extra) from error


class ClusterError(TieproofError, RuntimeError):
    """A cluster repeatedly failed to compute a part of an evaluation; the data may be correct."""


class UnsafeProductError(TieproofError, RuntimeError):
    """The matrix product of this machine is less exact than its number type promises."""


class InputWarning(UserWarning):
    """The data can be evaluated, but is probably not what was meant; the message says what to do instead."""


def warn(message: str) -> None:
    """Issue an `InputWarning` that points to the line outside tieproof that led to it."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "tieproof":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, InputWarning, stacklevel=level)
