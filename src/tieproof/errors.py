"""The exceptions and the warning: each message says what arrived, what was expected and what to do."""

import sys
import warnings


class TieproofError(Exception):
    """Base of every error that tieproof raises on purpose."""


class InputError(TieproofError, ValueError):
    """The data or an argument cannot be evaluated; the message names it and says what to do."""


class MissingExtraError(TieproofError, ImportError):
    """An optional library is needed and not installed; the message has its `pip install` line."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}'. Install it with: pip install 'tieproof[{extra}]'")


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
