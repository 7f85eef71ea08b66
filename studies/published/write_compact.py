"""Writes the compact form of public runs and their judgments, both in the formats of TREC.

    python studies/published/write_compact.py qrels.txt input.*.txt --out trec-dl-2021-passage

The folder gets `judged.tsv` and `runs.txt.xz`, which `studies/published/compact.py` describes; `published.tsv`, with
the numbers of a leaderboard, is written by hand. A system has the name of its file, without the folder, `input.` and
the extensions. Within a tie, documents stand as trec_eval ranks them, in the reversed order of their ids. Lists of
topics without judgments are left out.
"""

import argparse
import gzip
import lzma
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.whole_files import atomic_write

Grades = dict[str, dict[str, str]]
"""The grade of each judged document of each topic, as one character."""


class Retrieved(NamedTuple):
    """A document that a run lists."""

    score: float
    document: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the files, and write the compact form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("qrels", type=Path, help="judgments: topic, iteration, document, grade")
    parser.add_argument("runs", type=Path, nargs="+", help="runs: topic, Q0, document, rank, score, tag; .gz too")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder to write to")
    options = parser.parse_args(arguments)
    judged = read_qrels(options.qrels)
    options.out.mkdir(parents=True, exist_ok=True)
    with atomic_write(options.out / "judged.tsv") as file:
        lines = (f"{topic}\t{''.join(sorted(grades.values(), reverse=True))}\n" for topic, grades in judged.items())
        file.write_text("".join(lines), encoding="utf-8")
    with atomic_write(options.out / "runs.txt.xz") as file, lzma.open(file, "wt", encoding="utf-8") as runs:
        for path in sorted(options.runs, key=system_of):
            runs.writelines(f"{system_of(path)}\t{line}\n" for line in compacted(read_run(path), judged))


def read_qrels(path: Path) -> Grades:
    """The grades of the judged documents, `-` for all below 0."""
    found: Grades = {}
    for topic, _, document, grade in fields_of(path):
        found.setdefault(topic, {})[document] = "-" if grade.startswith("-") else grade
    return found


def read_run(path: Path) -> dict[str, list[Retrieved]]:
    """The documents that a run lists for each topic."""
    found = defaultdict(list)
    for topic, _, document, _, score, *_ in fields_of(path):
        found[topic].append(Retrieved(float(score), document))
    return found


def fields_of(path: Path) -> Iterator[list[str]]:
    """The fields of each line of a file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from (line.split() for line in lines if line.strip())


def system_of(path: Path) -> str:
    """The name of a system.

    >>> system_of(Path("runs/input.bm25.txt")), system_of(Path("dl-19-official-input.bm25.gz"))
    ('bm25', 'bm25')
    """
    return path.name.rpartition("input.")[2].removesuffix(".gz").removesuffix(".txt")


def compacted(run: Mapping[str, Sequence[Retrieved]], judged: Grades) -> Iterator[str]:
    """The line of each topic, with a list in single precision where that has other ties."""
    for topic, grades in judged.items():
        if topic in run:
            double = ranked(run[topic], grades, float)
            single = ranked(run[topic], grades, lambda score: float(np.float32(score)))
            yield "\t".join([topic, double] if single == double else [topic, double, single])


def ranked(listed: Sequence[Retrieved], grades: Mapping[str, str], precision: Callable[[float], float]) -> str:
    """The grades of a list in the order of its scores, with spaces between different ones.

    >>> ranked([Retrieved(0.5, "a"), Retrieved(0.5, "b"), Retrieved(0.75, "c")], {"a": "1", "b": "0"}, float)
    '. 01'
    """
    order = sorted(((precision(score), document) for score, document in listed), reverse=True)
    ties = groupby(order, key=lambda each: each[0])
    return " ".join("".join(grades.get(document, ".") for _, document in tie) for _, tie in ties)


if __name__ == "__main__":
    main()
