"""What data cost that float64 cannot rank: near-duplicates, and true ties that no identity catches.

Each case is measured in one process beside random data of the same size and type, compiled beforehand; ratios of
the best of the runs. Wall and processor time: on a busy machine the latter is the steadier one.
"""

import argparse
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import rich.box
from rich.console import Console
from rich.table import Table

import tieproof as tp

Array = npt.NDArray[Any]
Random = np.random.Generator
RUNS = 2
DISTANCES = ("cosine", "euclidean", "dot", "cityblock")
COLUMNS = ("dimensions", "relevant", "distance", "data", "wall", "processor", "wall_ratio", "processor_ratio")


def one_ulp_apart(random: Random, shape: tuple[int, int], dtype: type) -> Array:
    """One random row, every entry moved by -1, 0 or 1 unit in the last place."""
    row: Array = random.normal(size=shape[1]).astype(dtype)
    up, down = np.nextafter(row, dtype(np.inf)), np.nextafter(row, dtype(-np.inf))
    return np.stack([down, row, up])[random.integers(0, 3, size=shape), np.arange(shape[1])]


DATA: dict[str, Callable[[Random, tuple[int, int]], Array]] = {
    "random float32": lambda random, shape: random.normal(size=shape).astype(np.float32),
    "one ulp apart, float32": lambda random, shape: one_ulp_apart(random, shape, np.float32),
    "one ulp apart, float64": lambda random, shape: one_ulp_apart(random, shape, np.float64),
    "0.1, 0.2, 0.3 float32": lambda random, shape: random.choice([0.1, 0.2, 0.3], size=shape).astype(np.float32),
}
"""The first is what the others are compared with."""


def seconds(function: Callable[..., object], *arguments: Any, **options: Any) -> tuple[float, float]:
    """Wall and processor time of a call."""
    wall, processor = time.perf_counter(), time.process_time()
    function(*arguments, **options)
    return time.perf_counter() - wall, time.process_time() - processor


def measure(count: int, dimensions: int, relevant: int, distance: str) -> list[dict[str, Any]]:
    """All data sets of one size."""
    labels = np.arange(count) // relevant
    found: list[dict[str, Any]] = []
    for name, make in DATA.items():
        x = make(np.random.default_rng(0), (count, dimensions))
        tp.evaluate(x[:300], labels[:300] % 7, distance=distance)
        times = [seconds(tp.evaluate, x, labels, distance=distance) for _ in range(RUNS)]
        wall, processor = (min(column) for column in zip(*times, strict=True))
        first = found[0] if found else {"wall": wall, "processor": processor}
        ratios = (wall / first["wall"], processor / first["processor"])
        values = (dimensions, relevant, distance, name, wall, processor, *ratios)
        found.append(dict(zip(COLUMNS, values, strict=True)))
    return found


def render(measured: dict[str, Any]) -> str:
    """The table."""
    table = Table(
        title=f"leave-one-out, N = {measured['count']:,}, all default measures; seconds, and ratios to random data",
        box=rich.box.ASCII,
        title_justify="left",
    )
    for heading in COLUMNS:
        table.add_column(heading.replace("_", " "), justify="left" if heading in ("distance", "data") else "right")
    for row in measured["cases"]:
        cells = (f"{row[key]:.2f}" if isinstance(row[key], float) else str(row[key]) for key in COLUMNS)
        table.add_row(*cells)
    with io.StringIO() as text:
        Console(width=120, file=text).print(table)
        return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def main() -> None:
    """Measure, print, write near_duplicates.json beside this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--relevant", type=int, nargs="+", default=[5, 100])
    options = parser.parse_args()
    cases = [
        row
        for dimensions in options.dimensions
        for relevant in options.relevant
        for distance in DISTANCES
        for row in measure(options.count, dimensions, relevant, distance)
    ]
    measured = {"count": options.count, "cases": cases}
    print(render(measured), end="")
    Path(__file__).with_suffix(".json").write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
