"""The cost of starting: the import, the first evaluation of a process, and a small evaluation after that.

    python benchmarks/startup.py

Everything is measured in fresh processes, in milliseconds of processor time. The targets are: `import tieproof`
takes at most 50 in addition to `import numpy`. After that, the first evaluation of 50 items takes at most 100, or
150 if Python has not compiled tieproof before, as in an environment that was made without compiling (the standard
library and NumPy always are compiled). The same evaluation again takes at most 0.7. The table is printed, and its
numbers are written to startup.json.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tieproof
from measuring import Measured, at_most, missed, report, table, where

PACKAGE = Path(tieproof.__file__).resolve().parent

PROCESSES = 9
"""The number of repetitions, whose median counts."""

MOST_IMPORT, MOST_EVER, MOST_FIRST, MOST_AGAIN = 50.0, 150.0, 100.0, 0.7
"""The targets, in milliseconds."""

IMPORT = """
from time import process_time
start = process_time()
import numpy
between = process_time()
import tieproof
print(1000 * (between - start), 1000 * (process_time() - between))
"""

EVALUATION = """
from statistics import median
from time import process_time
import numpy as np
import tieproof as tp

vectors, labels = np.random.default_rng(0).normal(size=(50, 32)).astype(np.float32), np.arange(50) % 10
options = dict(distance="{distance}")

def milliseconds():
    start = process_time()
    tp.evaluate(vectors, labels, **options)
    return 1000 * (process_time() - start)

print(milliseconds(), median(milliseconds() for _ in range(99)))
"""

DISTANCES = ("cosine", "euclidean", "cityblock")


def printed(code: str, compiled: str) -> list[float]:
    """The output of `code` in a fresh process; `folder` contains the files that Python has compiled."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    known["PYTHONPYCACHEPREFIX"] = compiled
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=known)
    return [float(number) for number in done.stdout.split()]


def medians(rounds: list[list[float]]) -> list[float]:
    """The median of each figure over all rounds."""
    return [statistics.median(figures) for figures in zip(*rounds, strict=True)]


def imports() -> dict[str, float]:
    """Milliseconds of the imports of NumPy and, after that, of tieproof."""
    with tempfile.TemporaryDirectory() as folder:
        printed(IMPORT, folder)
        own, ours = medians([printed(IMPORT, folder) for _ in range(PROCESSES)])
    return {"numpy": own, "tieproof": ours}


def evaluations(distance: str) -> dict[str, float]:
    """Milliseconds of the very first evaluation, of the first one in a later process, and of the same one again."""
    code, ever, later = EVALUATION.format(distance=distance), [], []
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            printed(code, folder)
            shutil.rmtree(Path(folder).joinpath(*PACKAGE.parts[1:]))
            ever.append(printed(code, folder))
            later.append(printed(code, folder))
    first, again = medians(later)
    return {"ever": medians(ever)[0], "first": first, "again": again}


def rows(start: dict[str, float], small: dict[str, dict[str, float]]) -> Iterator[tuple[str, float, float | None]]:
    """Each measured figure, its milliseconds, and its target."""
    yield "import numpy", start["numpy"], None
    yield "import tieproof after that", start["tieproof"], MOST_IMPORT
    for distance, times in small.items():
        yield f"50 items, {distance}, first evaluation ever", times["ever"], MOST_EVER
        yield f"50 items, {distance}, first one of a later process", times["first"], MOST_FIRST
        yield f"50 items, {distance}, again", times["again"], MOST_AGAIN


def render(measured: Measured) -> str:
    found = list(rows(measured["import"], measured["50 items"]))
    body = [(name, f"{time:.2f}", "" if most is None else at_most(time, most)) for name, time, most in found]
    targets = [(name.strip(), time, most) for name, time, most in found if most is not None]
    return table("starting, in fresh processes", ("", "ms", "at most"), body) + missed(targets) + where(measured)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measured = {"import": imports(), "50 items": {distance: evaluations(distance) for distance in DISTANCES}}
    report(__file__, render, measured)


if __name__ == "__main__":
    main()
