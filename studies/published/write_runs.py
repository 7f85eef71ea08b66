"""Writes runs and judgments in the formats of TREC from the compact form of a set, for programs that read those.

    python studies/published/write_runs.py published/trec-dl-2021-passage --out dl21
    tieproof leaderboard dl21/qrels.txt dl21/runs -m nDCG@10 --published dl21/published.tsv

The folder gets `qrels.txt`, `published.tsv` and a file for each system in `runs`. The names of documents, the scores
and the ranks say only the grades, the order of the scores and the ties. Ties of single precision are left out.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from studies.published.compact import named, places_of_ties, read_judged, read_lists
from tieproof.whole_files import atomic_write


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the compact form, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="SET", help="folder of a set in the compact form")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder to write to")
    options = parser.parse_args(arguments)
    write_runs(options.data, options.out)


def write_runs(folder: Path, out: Path) -> None:
    """Write the judgments, the published numbers and all runs of a set."""
    (out / "runs").mkdir(parents=True, exist_ok=True)
    with atomic_write(out / "qrels.txt") as file:
        of_topic = read_judged(folder).items()
        lines = (f"{topic} 0 {name} {grade}\n" for topic, grades in of_topic for name, grade in grades.items())
        file.write_text("".join(lines), encoding="utf-8")
    if (folder / "published.tsv").exists():
        with atomic_write(out / "published.tsv") as file:
            file.write_bytes((folder / "published.tsv").read_bytes())
    for system, lists in read_lists(folder).items():
        with atomic_write(out / "runs" / f"{system}.txt") as file:
            entries = ((topic, *entry) for topic, text in lists.double.items() for entry in listed(text))
            lines = (f"{topic} Q0 {name} {rank} {score} {system}\n" for topic, name, rank, score in entries)
            file.write_text("".join(lines), encoding="utf-8")


def listed(text: str) -> Iterator[tuple[str, int, int]]:
    """The name, the rank and the score of each document of a list.

    >>> list(listed("1 0."))
    [('1-0', 1, 0), ('0-0', 2, -1), ('.-0', 3, -1)]
    """
    for rank, (name, score) in enumerate(zip(named(text), places_of_ties(text), strict=True), 1):
        yield name, rank, score


if __name__ == "__main__":
    main()
