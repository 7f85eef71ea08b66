"""What starting costs: the import, and the compilation in the first evaluation ever.

    python benchmarks/startup.py

Everything is measured in fresh processes. Targets: `import tieproof` takes at most 0.3 s more than `import numpy`,
and kernels compile for at most 5 s in all. The table is printed, and its numbers are written to startup.json.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numba

from measuring import Measured, at_most, keep, missed, setting, table, where

IMPORTS, COMPILATIONS = 9, 3
"""Repetitions, of which the median counts."""

PATIENCE = 25.0
"""Seconds of compilation after which it is not repeated."""

MOST_IMPORT, MOST_COMPILATION = 0.3, 5.0

IMPORT = """
from time import perf_counter
start = perf_counter()
import {module}
print(perf_counter() - start)
"""

EVALUATION = """
from time import perf_counter
import numpy as np
import tieproof as tp
from tieproof.distances import DISTANCES

rng = np.random.default_rng(0)
labels = np.arange(300) % 60
start = perf_counter()
for dtype in {types}:
    vectors = (100 * rng.normal(size=(300, 32))).clip(-99, 99).astype(dtype)
    for distance in {distances}:
        given = vectors > 0 if DISTANCES[distance].bits else vectors
        tp.evaluate(given, labels, distance=distance)
        tp.evaluate(given[:100], labels[:100], gallery=given, gallery_labels=labels, distance=distance)
print(perf_counter() - start)
"""

CASES = {
    "cosine, float32": {"types": "[np.float32]", "distances": "['cosine']"},
    "all distances, float32": {"types": "[np.float32]", "distances": "DISTANCES"},
    "all distances, all types": {"types": "[np.float16, np.float32, np.float64, np.int8]", "distances": "DISTANCES"},
}


def seconds(code: str, cache: str | None = None) -> float:
    """What `code` prints in a fresh process."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def imports() -> dict[str, float]:
    """Median seconds of an import, by module; in turns, so that a busy moment meets both."""
    modules = ("numpy", "tieproof")
    rounds = [[seconds(IMPORT.format(module=module)) for module in modules] for _ in range(IMPORTS)]
    return {
        module: statistics.median(times) for module, times in zip(modules, zip(*rounds, strict=True), strict=True)
    }


def evaluations(case: dict[str, str]) -> dict[str, float]:
    """Median seconds of the first evaluation in a process, without and with compiled kernels on the disk."""
    code = EVALUATION.format(**case)
    cold: list[float] = []
    warm: list[float] = []
    while not cold or (len(cold) < COMPILATIONS and sum(cold) + cold[-1] <= PATIENCE):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(seconds(code, cache))
            warm.append(seconds(code, cache))
    return {"cold": statistics.median(cold), "warm": statistics.median(warm)}


def rows(start: dict[str, float], first: dict[str, dict[str, float]]) -> Iterator[tuple[str, float, float | None]]:
    """What was measured, its seconds, and how many it may be."""
    for module, time in start.items():
        yield f"import {module}", time, None
    yield "  more than numpy", start["tieproof"] - start["numpy"], MOST_IMPORT
    for name, times in first.items():
        yield f"first evaluation, {name}, cold cache", times["cold"], None
        yield f"first evaluation, {name}, warm cache", times["warm"], None
        yield f"  compilation, {name}", times["cold"] - times["warm"], MOST_COMPILATION


def render(measured: Measured) -> str:
    found = list(rows(measured["import"], measured["first evaluation"]))
    body = [(name, f"{time:.3f}", "" if most is None else at_most(time, most)) for name, time, most in found]
    targets = [(name.strip(), time, most) for name, time, most in found if most is not None]
    return table("starting, in fresh processes", ("", "seconds", "at most"), body) + missed(targets) + where(measured)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measured = {
        "import": imports(),
        "first evaluation": {name: evaluations(case) for name, case in CASES.items()},
        "setting": setting() | {"numba": numba.__version__},
    }
    print(render(measured), end="")
    keep(__file__, measured)


if __name__ == "__main__":
    main()
