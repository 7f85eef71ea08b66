"""Shared parts of all pages: how a template becomes a file, numbers and names, and the coordinates of pictures."""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import import_extra
from tieproof.installed import __version__
from tieproof.show.drawing import in_steps, sort
from tieproof.show.parts import chance, count, fixed, signed
from tieproof.show.printable import in_one_line, printable
from tieproof.ties import Estimate, FloatArray

SIDE = 1000  # the width and height of a picture in units; it is stretched to its size on the page
STEPS = 120  # the most steps of a curve over queries: more than a reader can tell apart in a picture of that size
_TICKS = 4  # the approximate number of steps between the numbers under an axis
_ROUNDING = 1e-9  # the largest difference between numbers on an axis that counts as rounding


class Axis(NamedTuple):
    """An axis from the left to the right edge of a picture, with a number under it at every `step`.

    >>> Axis(-0.5, 0.5, 0.5).at(0.25), Axis(-0.5, 0.5, 0.5).ticks
    ('750', [('0', '-0.5'), ('50', '0.0'), ('100', '0.5')])
    """

    low: float
    high: float
    step: float

    @classmethod
    def around(cls, values: Sequence[float]) -> "Axis":
        """An axis with some room around all values, whose ends are round numbers.

        It stays within 0 and 1, or within -1 and 1, if the values do.

        >>> Axis.around([0.532, 0.612])
        Axis(low=0.5, high=0.65, step=0.05)
        """
        low, high = min(values), max(values)
        room = max(0.1 * (high - low), 0.005)
        bounds = [low - room, high + room]
        if low >= 0 and high <= 1:
            bounds = [max(0.0, bounds[0]), min(1.0, bounds[1])]
        elif low >= -1 and high <= 1:
            bounds = [max(-1.0, bounds[0]), min(1.0, bounds[1])]
        rough = (bounds[1] - bounds[0]) / _TICKS
        power = math.floor(math.log10(rough))
        step = next(factor * 10.0**power for factor in (1, 2, 5, 10) if factor * 10.0**power >= rough)
        digits = max(0, -power)
        first, last = math.floor(bounds[0] / step + _ROUNDING), math.ceil(bounds[1] / step - _ROUNDING)
        return cls(round(first * step, digits), round(last * step, digits), round(step, digits))

    def at(self, value: float) -> str:
        """The horizontal position of a number, in units of the picture."""
        return f"{SIDE * (value - self.low) / (self.high - self.low):.4g}"

    def width(self, low: float, high: float) -> str:
        """The width of the interval between two numbers, in units of the picture."""
        return f"{SIDE * (high - low) / (self.high - self.low):.4g}"

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """The numbers under the axis, from left to right, each preceded by its position in percent."""
        digits = next(digits for digits in range(16) if abs(round(self.step, digits) - self.step) <= _ROUNDING)
        count = round((self.high - self.low) / self.step)
        numbers = (round(self.low + place * self.step, digits) + 0.0 for place in range(count + 1))
        return [(f"{100 * at / count:.4g}", f"{n:.{digits}f}") for at, n in enumerate(numbers)]


class Spread(NamedTuple):
    """The distribution of a measure over the queries, as paths of a picture that is `SIDE` wide and high."""

    measure: str
    queries: int
    band: str  # the area from the lower to the upper values
    line: str  # the expected values
    zeros: int  # the number of queries that score 0 in every ordering of tied items
    ones: int  # the number of those that score 1


def spread(measure: str, estimate: Estimate[FloatArray]) -> Spread:
    """The queries sorted by expected value; more than 120 are drawn as 120 steps, each a mean over neighbors."""
    values = sort(np.arange(len(estimate.expected)), estimate).values
    count = values.shape[1]
    edges, (lower, expected, upper) = in_steps(values, STEPS)
    across = [round(SIDE * edge / count) for edge in edges.tolist()]
    there = " ".join(steps(across, upper.tolist()))
    back = " ".join(steps(across[::-1], lower.tolist()[::-1]))
    line = " ".join(steps(across, expected.tolist()))
    zeros, ones = int((values[2] == 0).sum()), int((values[0] == 1).sum())
    return Spread(measure, count, f"M{there} L{back} Z", f"M{line}", zeros, ones)


def steps(across: Sequence[int], values: Sequence[float]) -> Iterator[str]:
    """The corners of a line that keeps each value from one position to the next."""
    heights = [round(SIDE * (1 - value)) for value in values]
    yield f"{across[0]} {heights[0]}"
    for place, height in enumerate(heights):
        if place and height != heights[place - 1]:
            yield f"V{height}"
        if place + 1 == len(heights) or heights[place + 1] != height:
            yield f"H{across[place + 1]}"


def _fixed(value: float, digits: int | None = None) -> str:
    """A number as in tables, or with other decimals; a dash for NaN."""
    return "–" if value != value else fixed(value) if digits is None else f"{value:.{digits}f}"


def isolated(name: object) -> str:
    """A printable name; marks isolate one from right to left, or two of them would swap around a minus sign."""
    shown = printable(name)
    turns = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in shown)
    return f"\u2068{shown}\u2069" if turns else shown


def templates() -> Any:
    """The environment of the templates, which escapes all values."""
    jinja2 = import_extra("jinja2", "Writing a page", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tieproof.show.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "ensure_ascii": False, "separators": (",", ":")}
    environment.filters |= {
        "chance": lambda value: chance(value, below="< "),
        "fixed": _fixed,
        "signed": signed,
        "whole": lambda number: f"{number:,}",
        "named": isolated,
        "line": in_one_line,
        "count": count,
    }
    environment.globals |= {"version": __version__, "unit": Axis(0.0, 1.0, 0.5)}
    return environment
