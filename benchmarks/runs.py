"""The cost of a run of a million lines, compared with pytrec_eval and ranx (in memory) and trec_eval (files).

    python benchmarks/runs.py

The run has a thousand queries with a thousand documents each, scores with three decimals (many ties), and forty
judgments per query. From files to the table, both programs run as commands. trec_eval, a program in C
(https://github.com/usnistgov/trec_eval, built by its `make`), is measured if it is on the PATH. pytrec_eval
computes the values of each query for the same measures. Objects of ranx are evaluated by tieproof, compared with the
same data in dictionaries. The table is printed, and its numbers are written to runs.json.
"""

import argparse
import gzip
import importlib.util
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from measuring import Call, Case, Measured, at_most, compare, missed, report, seconds, table, where
from tieproof.evaluation.runs import evaluate_run
from tieproof.inputs.readers import trec

QUERIES, DEPTH, COLLECTION, JUDGMENTS = 1000, 1000, 100_000, 40
REPETITIONS = 5
"""The number of runs, whose median counts."""

AT_MOST_OF_PYTREC_EVAL, AT_MOST_OF_OBJECTS, AT_MOST_OF_TREC_EVAL = 0.4, 1.2, 0.5

OURS = ["AP", "nDCG", "P@10", "R@100", "RR"]
THEIRS = ["map", "ndcg", "P.10", "recall.100", "recip_rank"]
"""The measures that both compute, under the names of trec_eval."""


def generate(folder: Path, queries: int) -> tuple[Path, Path, Path]:
    """Write qrels, a run, and the run packed by gzip."""
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


def as_dictionary(path: Path, value: int, kind: type) -> dict[str, dict[str, Any]]:
    """{query: {document: value}} of a file whose values are in this column."""
    found: dict[str, dict[str, Any]] = {}
    with path.open() as file:
        for line in file:
            cells = line.split()
            found.setdefault(cells[0], {})[cells[2]] = kind(cells[value])
    return found


def beside_peers(qrels: Path, run: Path) -> Iterator[Case]:
    """The comparisons with the programs on this machine."""
    if importlib.util.find_spec("pytrec_eval"):
        yield Case(
            "dictionaries to means", "pytrec_eval", AT_MOST_OF_PYTREC_EVAL, lambda: from_dictionaries(qrels, run)
        )
    if importlib.util.find_spec("ranx"):
        yield Case("objects of ranx to means", "dictionaries", AT_MOST_OF_OBJECTS, lambda: from_objects(qrels, run))
    program = shutil.which("trec_eval")
    if program:
        yield Case(
            "files to table, command line", "trec_eval", AT_MOST_OF_TREC_EVAL, lambda: commands(program, qrels, run)
        )


def from_dictionaries(qrels: Path, run: Path) -> tuple[Call, Call]:
    """Both evaluations of existing dictionaries."""
    import pytrec_eval

    judged, ranked = as_dictionary(qrels, 3, int), as_dictionary(run, 4, float)
    theirs = {name.replace(".", "_") for name in THEIRS}
    evaluate_run(judged, ranked, measures=OURS)  # the tables of weights are computed once
    return (
        lambda: pytrec_eval.RelevanceEvaluator(judged, theirs).evaluate(ranked),
        lambda: evaluate_run(judged, ranked, measures=OURS),
    )


def from_objects(qrels: Path, run: Path) -> tuple[Call, Call]:
    """Our evaluation of the dictionaries that objects of ranx were made of, and of these objects."""
    import ranx

    judged, ranked = as_dictionary(qrels, 3, int), as_dictionary(run, 4, float)
    objects = ranx.Qrels(judged), ranx.Run(ranked)
    evaluate_run(*objects, measures=OURS)  # the functions of ranx are compiled once
    return (lambda: evaluate_run(judged, ranked, measures=OURS), lambda: evaluate_run(*objects, measures=OURS))


def commands(program: str, qrels: Path, run: Path) -> tuple[Call, Call]:
    """Both commands as processes, from start to end."""

    def started(*words: str | Path) -> Call:
        return lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

    theirs = [word for name in THEIRS for word in ("-m", name)]
    ours = [word for name in OURS for word in ("-m", name)]
    return started(program, *theirs, qrels, run), started(sys.executable, "-m", "tieproof", "run", qrels, run, *ours)


def median(call: Call) -> float:
    """The median of some runs, in seconds."""
    return statistics.median(seconds(call) for _ in range(REPETITIONS))


def measure() -> Measured:
    """The seconds of each step, and of other programs for the same work."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, run, packed = generate(Path(folder), QUERIES)
        evaluate_run(qrels, run)  # the tables of weights are computed once
        alone = {
            "read the run": median(lambda: trec.read(run, trec.RUN, trec.numbering())),
            "read the run, gzip": median(lambda: trec.read(packed, trec.RUN, trec.numbering())),
            "files to result": median(lambda: evaluate_run(qrels, run)),
            "files to result, truncated": median(lambda: evaluate_run(qrels, run, truncated=True)),
        }
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"seconds": alone, "peak_megabytes": peak, "cases": compare(beside_peers(qrels, run))}


def render(measured: Measured) -> str:
    title = f"{measured['setting']['lines']:,} lines, {QUERIES:,} queries, all default measures"
    alone = table(title, ("", "seconds"), [(name, f"{spent:.2f}") for name, spent in measured["seconds"].items()])
    rows = [
        (
            case["case"],
            case["beside"],
            *(f"{case[which]:.2f}" for which in ("reference", "evaluate", "ratio")),
            at_most(case["ratio"], case["at_most"]),
        )
        for case in measured["cases"]
    ]
    columns = ("", "compared with", "its seconds", "tieproof", "ratio", "at most")
    beside = table(f"Compared with other programs, {', '.join(OURS)}", columns, rows)
    targets = [(case["case"], case["ratio"], case["at_most"]) for case in measured["cases"]]
    peak = f"peak memory of the process {measured['peak_megabytes']:.0f} MB\n"
    return alone + beside + missed(targets) + peak + where(measured)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measured = {"setting": {"lines": QUERIES * DEPTH}, **measure()}
    report(__file__, render, measured)


if __name__ == "__main__":
    main()
