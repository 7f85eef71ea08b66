"""The option `ties`: which value of an estimate is returned under another library's name."""

from collections.abc import Callable
from dataclasses import astuple
from typing import Any, Literal, get_args

from tieproof import Estimate
from tieproof.kit import check_choice

TieChoice = Literal["lower", "expected", "upper", "interval"]
TIE_CHOICES: tuple[str, ...] = get_args(TieChoice)


def check_ties(ties: str) -> None:
    """Refuse an unknown value of `ties`."""
    check_choice("ties", ties, TIE_CHOICES)


def choose(estimate: Estimate[Any], ties: str, convert: Callable[[Any], Any] = lambda value: value) -> Any:
    """The value that `ties` names, or for "interval" an `Estimate` of all four values, each converted."""
    if ties == "interval":
        return Estimate(*map(convert, astuple(estimate)))
    return convert(getattr(estimate, ties))
