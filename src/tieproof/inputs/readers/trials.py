"""Trials of verification: a file of pairs with their labels, and a file of the same pairs with their scores."""

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.readers.lines import BYTE_ORDER_MARK, is_number, shown, unpacked
from tieproof.ties import BoolArray, FloatArray

LABELS = {"1": True, "0": False, "target": True, "nontarget": False, "non-target": False}
"""What VoxCeleb (1 a b) and Kaldi (a b target) write for pairs of the same speaker and for others."""


class _File(NamedTuple):
    """The lines of a file that are not blank: their numbers, and their three cells."""

    path: str
    lines: list[tuple[int, list[str]]]

    def column(self, fits: Callable[[str], bool]) -> int | None:
        """The last or the first column, if all of its cells fit."""
        return next((at for at in (2, 0) if all(fits(cells[at]) for _, cells in self.lines)), None)

    def values(self, fits: Callable[[str], bool], expected: str) -> list[tuple[int, tuple[str, ...], str]]:
        """The number, the pair and the value of each line."""
        at = self.column(fits)
        if at is None:
            wrong = ((number, cells) for number, cells in self.lines if not fits(cells[0]) and not fits(cells[2]))
            number, cells = next(wrong, self.lines[0])
            raise InputError(
                f"{self.path} has '{shown(' '.join(cells).encode())}' on line {number}, but {expected} is expected "
                "in the last column of every line, or in the first."
            )
        return [(number, (*cells[:at], *cells[at + 1 :]), cells[at]) for number, cells in self.lines]


def read(trials: str | os.PathLike[str], scores: str | os.PathLike[str]) -> tuple[BoolArray, FloatArray]:
    """Whether the pair of each trial is relevant, and its score; the two files may be exchanged."""
    first, second = _read(trials), _read(scores)
    if first.lines == second.lines:
        raise InputError(
            f"{first.path} and {second.path} have the same lines. Give a file of trials and one of scores."
        )
    if first.column(_is_label) is None and second.column(_is_label) is not None:
        first, second = second, first
    labeled = first.values(_is_label, f"a label ({', '.join(LABELS)})")
    known: dict[tuple[str, ...], tuple[int, str]] = {}
    for number, pair, value in second.values(is_number, "a score"):
        if known.setdefault(pair, (number, value))[0] != number:
            lines = f"line {known[pair][0]} and on line {number}"
            raise InputError(f"{second.path} has the pair '{' '.join(pair)}' on {lines}. Keep one of them.")
    missing = [(number, " ".join(pair)) for number, pair, _ in labeled if pair not in known]
    if missing:
        raise InputError(
            f"{second.path} has no score for {len(missing):,} of the {len(labeled):,} trials of {first.path}, such "
            f"as '{missing[0][1]}' on line {missing[0][0]}. Write a score for every trial."
        )
    if more := len(known) - len({pair for _, pair, _ in labeled}):
        warn(f"{second.path} has scores of pairs that are no trials of {first.path} ({more:,}), which are left out.")
    relevant = np.array([LABELS[label.lower()] for _, _, label in labeled])
    return relevant, np.array([float(known[pair][1]) for _, pair, _ in labeled])


def _is_label(cell: str) -> bool:
    return cell.lower() in LABELS


def _read(location: str | os.PathLike[str]) -> _File:
    """Read a file, with blanks, tabs or commas between the cells of a line."""
    path, content = unpacked(location)
    rows = enumerate(content.tobytes().removeprefix(BYTE_ORDER_MARK).decode(errors="replace").split("\n"), 1)
    filled = [(number, line) for number, line in rows if line.strip()]
    separator = next((mark for mark in "\t," if filled and filled[0][1].count(mark) == 2), None)
    lines = [(number, [cell.strip() for cell in line.split(separator)]) for number, line in filled]
    for number, cells in lines or [(1, [])]:
        if len(cells) != 3:
            raise InputError(
                f"{path} has {len(cells)} cells on line {number}, but three are expected on every line: a pair and "
                "its label, or a pair and its score, such as: 1 a.wav b.wav. Embeddings and their labels are for "
                "tieproof fnmr --curve."
            )
    return _File(str(path), lines)
