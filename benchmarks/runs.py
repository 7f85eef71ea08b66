"""What a run of a million lines costs: reading the files, and everything from the files to the result.

    python benchmarks/runs.py

A thousand queries with a thousand documents each, scores with three decimals (many ties), forty judgments a query.
The table is printed, and its numbers are written to runs.json.
"""

import argparse
import gzip
import resource
import statistics
import tempfile
from pathlib import Path

import numpy as np

from measuring import Call, Measured, at_most, keep, missed, seconds, setting, table, where
from tieproof.calls.runs import evaluate_run
from tieproof.inputs.readers import trec

QUERIES, DEPTH, COLLECTION, JUDGMENTS = 1000, 1000, 100_000, 40
REPETITIONS = 5
"""Of which the median counts."""

MOST_SECONDS = 5.0


def generate(folder: Path, queries: int) -> tuple[Path, Path, Path]:
    """Write qrels, a run, and the run packed."""
    random = np.random.default_rng(0)
    qrels, run, packed = folder / "qrels.txt", folder / "run.txt", folder / "run.txt.gz"
    with qrels.open("w") as judgments, run.open("w") as ranking:
        for query in range(queries):
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


def median(call: Call) -> float:
    """The median of some runs, in seconds."""
    return statistics.median(seconds(call) for _ in range(REPETITIONS))


def measure() -> dict[str, float]:
    """Seconds by what was done."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, run, packed = generate(Path(folder), QUERIES)
        evaluate_run(qrels, run)  # tables of weights are made once
        return {
            "read the run": median(lambda: trec.read(run, trec.RUN, trec.numbering())),
            "read the run, gzip": median(lambda: trec.read(packed, trec.RUN, trec.numbering())),
            "files to result": median(lambda: evaluate_run(qrels, run)),
            "files to result, truncated": median(lambda: evaluate_run(qrels, run, truncated=True)),
        }


def render(measured: Measured) -> str:
    targets = [(name, spent, measured["at_most"]) for name, spent in measured["seconds"].items()]
    rows = [(name, f"{spent:.2f}", at_most(spent, target)) for name, spent, target in targets]
    title = f"{measured['setting']['lines']:,} lines, {QUERIES:,} queries, all default measures"
    peak = f"peak memory of the process {measured['peak_megabytes']:.0f} MB\n"
    return table(title, ("", "seconds", "at most"), rows) + missed(targets) + peak + where(measured)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measured = {
        "setting": {"lines": QUERIES * DEPTH, **setting()},
        "seconds": measure(),
        "at_most": MOST_SECONDS,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(render(measured), end="")
    keep(__file__, measured)


if __name__ == "__main__":
    main()
