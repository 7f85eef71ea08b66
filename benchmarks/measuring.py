"""Common functions of the benchmarks: data, clocks, tables and files. This file is not a benchmark itself."""

import argparse
import io
import json
import os
import platform
import re
import statistics
import subprocess
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import rich.box
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_info

import tieproof as tp
from tieproof.inputs.options import parse_threads
from tieproof.whole_files import atomic_write

Array = npt.NDArray[Any]
Measured = dict[str, Any]
Call = Callable[[], object]

RUNS, PATIENCE = 3, 12.0
"""The number of runs, whose median counts; no run is started that would end after this many seconds, so that all
benchmarks together end in time."""

QUICK_RUNS, QUICK = 9, 3.0
"""The number of runs if they end within this many seconds: busy moments of the machine are longer than one run."""

WIDTH = 118


@dataclass(frozen=True)
class Case:
    """An evaluation with a reference, and the largest ratio of their times.

    prepare : makes the data, calls once, and returns the reference and the evaluation
    """

    name: str
    beside: str
    at_most: float
    prepare: Callable[[], tuple[Call, Call]]


def white(count: int, dimensions: int) -> Array:
    """Random float32 embeddings without structure."""
    return np.random.default_rng(1).standard_normal((count, dimensions), dtype=np.float32)


def clustered(count: int, dimensions: int, classes: int) -> tuple[Array, Array]:
    """Float32 embeddings, which are class centers with noise, and their labels."""
    random = np.random.default_rng(0)
    labels = random.integers(0, classes, size=count)
    embeddings = random.standard_normal((count, dimensions), dtype=np.float32)
    embeddings *= 2
    embeddings += random.standard_normal((classes, dimensions), dtype=np.float32)[labels]
    return embeddings, labels


def product(queries: Array, gallery: Array) -> None:
    """Compute the matrix product of all rows with all rows, in blocks."""
    for start in range(0, len(queries), 2000):
        queries[start : start + 2000] @ gallery.T


def evaluation(rows: int = 1500, **arguments: Any) -> Call:
    """`evaluate` with these arguments, called once beforehand on a few rows with as many relevant items per query."""
    relevant = len(arguments["labels"]) / len(np.unique(arguments["labels"]))
    part = dict(arguments)
    for vectors, labels in (("embeddings", "labels"), ("gallery", "gallery_labels")):
        if vectors in arguments:
            part[vectors] = arguments[vectors][:rows]
            part[labels] = np.arange(len(part[vectors])) % max(2, int(rows / relevant))
    tp.evaluate(**part)
    return lambda: tp.evaluate(**arguments)


def seconds(call: Call) -> float:
    """Wall time of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def processor_seconds(call: Call) -> float:
    """Processor time of a call, summed over all threads of this process; about the same on a busy machine."""
    start = time.process_time()
    call()
    return time.process_time() - start


def take_turns(calls: Mapping[str, Call], clock: Callable[[Call], float] = seconds) -> dict[str, list[float]]:
    """Seconds of each run of each call; calls take turns, so that a busy moment affects all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for runs in range(QUICK_RUNS):
        for name, call in calls.items():
            spent = times[name]
            if not spent or sum(spent) + spent[-1] <= (PATIENCE if runs < RUNS else QUICK):
                spent.append(clock(call))
    return times


def compare(cases: Iterable[Case]) -> list[Measured]:
    """A row for each case: medians, their ratio, and the number of runs."""
    rows = []
    for case in cases:
        reference, evaluate = case.prepare()
        times = take_turns({"reference": reference, "evaluate": evaluate})
        medians = {name: statistics.median(spent) for name, spent in times.items()}
        row = {"case": case.name, "beside": case.beside, **medians}
        row |= {"ratio": medians["evaluate"] / medians["reference"], "at_most": case.at_most}
        rows.append(row | {"runs": len(times["evaluate"])})
    return rows


def render_ratios(title: str, rows: Iterable[Measured]) -> str:
    """The table of the figures that `compare` returned."""
    rows = list(rows)
    return table(
        title,
        ("case", "compared with", "its s", "evaluate, s", "ratio", "at most", "runs"),
        [
            (
                row["case"],
                row["beside"],
                *(f"{row[key]:.2f}" for key in ("reference", "evaluate", "ratio")),
                at_most(row["ratio"], row["at_most"]),
                str(row["runs"]),
            )
            for row in rows
        ],
        words=2,
    ) + missed((row["case"], row["ratio"], row["at_most"]) for row in rows)


def at_most(measured: float, target: float) -> str:
    """The cell of a target, marked if the target is missed."""
    return f"{target:.2f}{', missed' if measured > target else ''}"


def missed(rows: Iterable[tuple[str, float, float]]) -> str:
    r"""The sentence under a table of cases, figures and targets that lists missed targets; empty if there are none.

    >>> missed([("int8", 1.5, 2.0), ("zeros", 1.25, 1.0)])
    '1 of 2 targets is missed: zeros (1.25, not at most 1.00).\n'
    """
    rows = list(rows)
    found = [f"{name} ({value:.2f}, not at most {target:.2f})" for name, value, target in rows if value > target]
    if not found:
        return ""
    sentence = f"{len(found)} of {len(rows)} targets {'is' if len(found) == 1 else 'are'} missed: {'; '.join(found)}."
    return textwrap.fill(sentence, WIDTH, break_on_hyphens=False) + "\n"


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table in ASCII under its title; the first `words` columns contain words, and the others numbers."""
    drawn = Table(box=rich.box.ASCII)
    for place, heading in enumerate(headings):
        drawn.add_column(heading, justify="left" if place < words else "right")
    for row in rows:
        drawn.add_row(*row)
    with io.StringIO() as text:
        Console(width=WIDTH, file=text, color_system=None).print(drawn)
        return f"{title}\n" + "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def cores() -> int:
    """The number of processors that an evaluation uses."""
    return parse_threads(None)


def setting() -> Measured:
    """The machine, the date and the commit of a measurement."""
    return {
        "machine": platform.machine(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": blas(),
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def processor() -> str:
    """The name of the processor, with the numbers of its family and model, since a name may stand for generations."""
    with suppress(OSError):
        described = dict(re.findall(r"^(.+?)\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE))
        if {"model name", "cpu family", "model"} <= described.keys():
            return f"{described['model name']} (family {described['cpu family']}, model {described['model']})"
    return platform.processor() or platform.machine()


def blas() -> str:
    """The BLAS library of NumPy, with its version and the processor type that it detected."""
    found = [pool for pool in threadpool_info() if pool["user_api"] == "blas" and "numpy" in pool["filepath"]]
    words = (str(found[0].get(key) or "") for key in ("internal_api", "version", "architecture")) if found else ()
    return " ".join(filter(None, words)) or "unknown"


def commit() -> str:
    """The commit that is checked out, followed by a plus sign if the source of the library has been changed."""
    root = Path(__file__).parents[1]
    try:
        head, changed = (
            subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=True).stdout.strip()
            for command in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--", "src"))
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}{'+' if changed else ''}"


def where(measured: Measured) -> str:
    r"""The line under a table with the commit, machine and date of its figures; empty if these were not recorded.

    >>> where({"setting": {"commit": "a1b2c3", "processor": "Z80", "blas": "openblas 0.3", "date": "2030-01-31"}})
    'commit a1b2c3, Z80, openblas 0.3, 2030-01-31\n'
    """
    known = measured["setting"]
    if not {"commit", "processor", "blas", "date"} <= known.keys():
        return ""
    return f"commit {known['commit']}, {known['processor']}, {known['blas']}, {known['date']}\n"


def parse(
    description: str | None, sizes: Mapping[str, int], names: Sequence[str], arguments: Sequence[str] | None = None
) -> tuple[argparse.Namespace, bool]:
    """The options of a script, and whether all cases are measured at their usual sizes, so that figures are written.

    The options are one for each size, and --only for some of the cases called `names`.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for size, usual in sizes.items():
        parser.add_argument(f"--{size}", type=int, default=usual, metavar="N", help=f"usually {usual:,}")
    parser.add_argument(
        "--only", action="append", choices=names, metavar="CASE", help=f"some of: {'; '.join(names)}; may be repeated"
    )
    found = parser.parse_args(arguments)
    whole = not found.only and all(getattr(found, size) == usual for size, usual in sizes.items())
    found.only = found.only or list(names)
    return found, whole


def report(script: str, render: Callable[[Measured], str], measured: Measured, whole: bool = True) -> None:
    """Print figures, to which it adds the setting, and if `whole` write them to a file next to the script."""
    measured = {**measured, "setting": {**measured.get("setting", {}), **setting()}}
    print(render(measured), end="")
    if whole:
        with atomic_write(Path(script).with_suffix(".json")) as file:
            file.write_text(json.dumps(measured, indent=2) + "\n")
