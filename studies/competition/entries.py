"""The systems that take part: twenty honest ones of graded quality, and five that cheat.

Each is a function of the names of all items that it is given and of their rows. As a program it is what a judge runs:

    python studies/competition/entries.py NAME ITEMS ANSWERS
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Entry = Callable[[Sequence[str], Array], Array]

PROJECTED = (192, 96, 48, 24, 12, 6)
NOISE = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
SIGNS = (384, 128, 64, 32)

HASHED = 256
"""Dimensions of the cheat that reads names."""


def projection(width: int) -> Entry:
    """Random directions, the same for whoever asks."""

    def project(names: Sequence[str], rows: Array) -> Array:
        directions: Array = np.random.default_rng(width).standard_normal((rows.shape[1], width))
        projected: Array = rows @ directions
        return projected

    return project


def noise(strength: float) -> Entry:
    """Noise beside each row, so many times as long, and drawn from the row alone."""

    def disturb(names: Sequence[str], rows: Array) -> Array:
        drawn = np.array([np.random.default_rng(crc32(row.tobytes())).standard_normal(rows.shape[1]) for row in rows])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True) / np.linalg.norm(drawn, axis=1, keepdims=True)
        disturbed: Array = rows + strength * lengths * drawn
        return disturbed

    return disturb


def signs(width: int) -> Entry:
    """The signs of the first numbers."""
    return lambda names, rows: np.where(rows[:, :width] > 0, 1.0, -1.0)


def rounded(unit: float) -> Entry:
    """Numbers rounded to multiples of a unit."""
    return lambda names, rows: np.round(rows / unit) * unit


HONEST: dict[str, Entry] = {
    "whole": lambda names, rows: rows,
    **{f"projected-{width}": projection(width) for width in PROJECTED},
    **{f"noise-{strength:g}": noise(strength) for strength in NOISE},
    **{f"signs-{width}": signs(width) for width in SIGNS},
    "rounded-0.01": rounded(0.01),
    "rounded-0.1": rounded(0.1),
    "rounded-0.2": rounded(0.2),
}


def zeros(names: Sequence[str], rows: Array) -> Array:
    """Answer with zeros."""
    return np.zeros((len(rows), 8))


def constant(names: Sequence[str], rows: Array) -> Array:
    """Answer with the same vector for all items."""
    return np.full((len(rows), 7), 0.1)


def order(names: Sequence[str], rows: Array) -> Array:
    """Answer with the position of an item, so that neighbors in the file are near each other."""
    angle = np.linspace(0, np.pi, len(rows), endpoint=False)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def by_name(names: Sequence[str], rows: Array) -> Array:
    """Answer with a hash of the name up to the hyphen: if that is the class, the score is perfect."""
    places = [crc32(name.partition("-")[0].encode()) % HASHED for name in names]
    return np.eye(HASHED)[places]


def copy(names: Sequence[str], rows: Array) -> Array:
    """Answer like the best honest system, with a little noise to hide the copy."""
    return noise(1e-3)(names, rows)


CHEATS: dict[str, Entry] = {"zeros": zeros, "constant": constant, "order": order, "names": by_name, "copy": copy}

ENTRIES = HONEST | CHEATS


def main() -> None:
    """Answer a judge: the rows of a folder, in the order of their names."""
    name, items, answers = sys.argv[1:]
    files = sorted(Path(items).iterdir())
    rows = np.array([np.load(file, allow_pickle=False) for file in files])
    np.save(answers, ENTRIES[name]([file.stem for file in files], rows))


if __name__ == "__main__":
    main()
