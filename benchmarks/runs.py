"""What a run of a million lines costs: reading the files, and everything from the files to the result.

    python benchmarks/runs.py

A thousand queries with a thousand documents each, scores with three decimals (many ties), forty judgments a query.
The table is printed, and its numbers are written to runs.json.
"""

import gzip
import json
import os
import platform
import resource
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from tieproof.files import atomic_write
from tieproof.readers import trec
from tieproof.runs import evaluate_run

QUERIES, DEPTH, COLLECTION, JUDGMENTS = 1000, 1000, 100_000, 40
REPETITIONS = 5
"""Of which the median counts."""

MOST_SECONDS = 5.0


def generate(folder: Path) -> tuple[Path, Path, Path]:
    """Write qrels, a run, and the run packed."""
    random = np.random.default_rng(0)
    qrels, run, packed = folder / "qrels.txt", folder / "run.txt", folder / "run.txt.gz"
    with qrels.open("w") as judgments, run.open("w") as ranking:
        for query in range(QUERIES):
            documents = random.choice(COLLECTION, DEPTH, replace=False)
            scores = np.sort(random.gamma(2.0, 3.0, DEPTH).round(3))[::-1]
            judged = np.unique(np.concatenate([documents[:JUDGMENTS:2], random.choice(COLLECTION, JUDGMENTS // 2)]))
            ranking.writelines(
                f"{query} Q0 document-{document:07d} {rank} {score} system\n"
                for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
            )
            judgments.writelines(
                f"{query} 0 document-{document:07d} {grade}\n"
                for document, grade in zip(judged, random.integers(0, 4, len(judged)), strict=True)
            )
    packed.write_bytes(gzip.compress(run.read_bytes(), compresslevel=1))
    return qrels, run, packed


def seconds(function: Callable[[], object]) -> float:
    """The median of some calls."""
    times = []
    for _ in range(REPETITIONS):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return statistics.median(times)


def measure() -> dict[str, float]:
    """Seconds by what was done."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, run, packed = generate(Path(folder))
        evaluate_run(qrels, run)  # tables of weights are made once
        return {
            "read the run": seconds(lambda: trec.read(run, trec.RUN, trec.numbering(), trec.numbering())),
            "read the run, gzip": seconds(lambda: trec.read(packed, trec.RUN, trec.numbering(), trec.numbering())),
            "files to result": seconds(lambda: evaluate_run(qrels, run)),
            "files to result, truncated": seconds(lambda: evaluate_run(qrels, run, truncated=True)),
        }


def main() -> None:
    found = measure()
    print(f"{QUERIES * DEPTH:,} lines, {QUERIES:,} queries, the default measures\n")
    print(f"{'':32}{'seconds':>10}{'at most':>10}")
    for name, time in found.items():
        print(f"{name:32}{time:10.2f}{MOST_SECONDS:10.1f}")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory {megabytes:.0f} MB")
    setting = {
        "lines": QUERIES * DEPTH,
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    with atomic_write(Path(__file__).with_suffix(".json")) as file:
        result = {"setting": setting, "seconds": found, "at_most": MOST_SECONDS, "peak_megabytes": megabytes}
        file.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
