"""The cost of exact evaluation in units of the float32 matrix product, which every evaluator pays.

Each row is measured in one process with the product beside it, alternating, compiled beforehand; ratios of medians.
"""

import argparse
import io
import json
import statistics
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
RUNS = 3


def clustered(random: np.random.Generator, count: int, dimensions: int, classes: int) -> tuple[Array, Array]:
    """Class centres with noise around them, float32."""
    labels = random.integers(0, classes, size=count)
    noise = random.normal(size=(count, dimensions)) * 2
    return (random.normal(size=(classes, dimensions))[labels] + noise).astype(np.float32), labels


def product(x: Array) -> None:
    """The product of all rows with all rows, in blocks."""
    for start in range(0, len(x), 2000):
        x[start : start + 2000] @ x.T


def cases(count: int, dimensions: int) -> dict[str, tuple[Array, Array, dict[str, Any]]]:
    """Embeddings, labels and options by name."""
    random = np.random.default_rng(0)
    white = random.normal(size=(count, dimensions)).astype(np.float32)
    hundred = np.arange(count) // 100
    made: dict[str, tuple[Array, Array, dict[str, Any]]] = {
        f"about {relevant} relevant": (*clustered(random, count, dimensions, count // relevant), {})
        for relevant in (5, 100)
    }
    made["10 classes"] = (*clustered(random, count, dimensions, 10), {})
    made["random, 100 relevant"] = (white, hundred, {})
    made["int8, 100 relevant"] = (np.clip(white * 40, -127, 127).astype(np.int8), hundred, {})
    made["±1, 100 relevant"] = (np.sign(white), hundred, {})
    made["every row four times"] = (np.repeat(white[: count // 4], 4, axis=0), hundred, {})
    made["zeros"] = (np.zeros_like(white), hundred, {})
    made["64 bits, Hamming"] = (white[:, :64] > 0, hundred, {"distance": "hamming"})
    return made


def seconds(function: Callable[..., object], *arguments: Any, **options: Any) -> float:
    """Wall time of a call."""
    start = time.perf_counter()
    function(*arguments, **options)
    return time.perf_counter() - start


def render(measured: dict[str, Any]) -> str:
    """The table that the README shows."""
    table = Table(
        title=f"leave-one-out, N = {measured['count']:,}, D = {measured['dimensions']}, all default measures",
        box=rich.box.ASCII,
        title_justify="left",
    )
    for heading in ("case", "product, s", "evaluate, s", "ratio"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for row in measured["cases"]:
        table.add_row(row["case"], *(f"{row[key]:.2f}" for key in ("product", "evaluate", "ratio")))
    with io.StringIO() as text:
        Console(width=100, file=text).print(table)
        return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def main() -> None:
    """Measure, print, write product.json beside this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--dimensions", type=int, default=512)
    options = parser.parse_args()
    measured: dict[str, Any] = {"count": options.count, "dimensions": options.dimensions, "cases": []}
    for name, (x, labels, choices) in cases(options.count, options.dimensions).items():
        white = np.random.default_rng(1).normal(size=(options.count, options.dimensions)).astype(np.float32)
        tp.evaluate(x[:300], labels[:300] % 7, **choices)
        times = [(seconds(product, white), seconds(tp.evaluate, x, labels, **choices)) for _ in range(RUNS)]
        base, found = (statistics.median(column) for column in zip(*times, strict=True))
        measured["cases"].append({"case": name, "product": base, "evaluate": found, "ratio": found / base})
    print(render(measured), end="")
    Path(__file__).with_suffix(".json").write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
