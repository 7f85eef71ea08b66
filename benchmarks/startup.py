"""What starting costs: the import, the first evaluation of a process, and a small one after that.

    python benchmarks/startup.py

Everything is measured in fresh processes. Targets: `import tieproof` takes at most 50 ms more than `import numpy`, a
first evaluation of 50 items 100 ms after that, and the same again 1 ms. The table is printed, and its numbers are
written to startup.json.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Iterator

from measuring import Measured, at_most, keep, missed, setting, table, where

PROCESSES = 9
"""Repetitions, of which the median counts."""

MOST_IMPORT, MOST_FIRST, MOST_AGAIN = 50.0, 100.0, 1.0
"""Milliseconds."""

IMPORT = """
from time import perf_counter
start = perf_counter()
import {module}
print(1000 * (perf_counter() - start))
"""

EVALUATION = """
from statistics import median
from time import perf_counter
import numpy as np
import tieproof as tp

vectors, labels = np.random.default_rng(0).normal(size=(50, 32)).astype(np.float32), np.arange(50) % 10
options = dict(distance="{distance}")

def milliseconds():
    start = perf_counter()
    tp.evaluate(vectors, labels, **options)
    return 1000 * (perf_counter() - start)

print(milliseconds(), median(milliseconds() for _ in range(99)))
"""

DISTANCES = ("cosine", "euclidean", "cityblock")


def printed(code: str) -> list[float]:
    """What `code` prints in a fresh process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def imports() -> dict[str, float]:
    """Median milliseconds of an import, by module; in turns, so that a busy moment meets both."""
    modules = ("numpy", "tieproof")
    rounds = [[printed(IMPORT.format(module=module))[0] for module in modules] for _ in range(PROCESSES)]
    return {
        module: statistics.median(times) for module, times in zip(modules, zip(*rounds, strict=True), strict=True)
    }


def evaluations(distance: str) -> dict[str, float]:
    """Median milliseconds of the first evaluation in a process, and of the same again."""
    rounds = [printed(EVALUATION.format(distance=distance)) for _ in range(PROCESSES)]
    first, again = (statistics.median(times) for times in zip(*rounds, strict=True))
    return {"first": first, "again": again}


def rows(start: dict[str, float], small: dict[str, dict[str, float]]) -> Iterator[tuple[str, float, float | None]]:
    """What was measured, its milliseconds, and how many it may be."""
    for module, time in start.items():
        yield f"import {module}", time, None
    yield "  more than numpy", start["tieproof"] - start["numpy"], MOST_IMPORT
    for distance, times in small.items():
        yield f"50 items, {distance}, first evaluation", times["first"], MOST_FIRST
        yield f"50 items, {distance}, again", times["again"], MOST_AGAIN


def render(measured: Measured) -> str:
    found = list(rows(measured["import"], measured["50 items"]))
    body = [(name, f"{time:.1f}", "" if most is None else at_most(time, most)) for name, time, most in found]
    targets = [(name.strip(), time, most) for name, time, most in found if most is not None]
    return table("starting, in fresh processes", ("", "ms", "at most"), body) + missed(targets) + where(measured)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measured = {
        "import": imports(),
        "50 items": {distance: evaluations(distance) for distance in DISTANCES},
        "setting": setting(),
    }
    print(render(measured), end="")
    keep(__file__, measured)


if __name__ == "__main__":
    main()
