"""The compact form of published runs: the grades of each list in the order of its scores, and what is tied.

A folder holds one set of runs, in three files of lines with tabs:

- `judged.tsv`: a query, and one character for each judged document, its grade (`-` is negative);
- `runs.txt.xz`: a system, a query, and the grades of its list in the order of the scores. `.` is not judged, and a
  space stands between different scores; within a tie stands the order in which the original tool ranks. Where single
  precision merges scores, a fourth column has the same list with the ties of single precision;
- `published.tsv`: a system, a measure and the published number.

No document, text, id or score is in it. As every measure of a single ranking reads only grades and ties, documents
get names here: those that are judged by their grade and a number, the others by a number alone.
"""

import lzma
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

Scores = dict[str, dict[str, int]]
"""Of each query, numbers of its documents: grades, or scores of which larger is nearer."""


class Printed(NamedTuple):
    """A published number, as it is printed."""

    measure: str
    text: str


class Lists(NamedTuple):
    """The lists of one system, by query, with spaces between different scores.

    double : with the ties of the scores as they are
    single : with the ties of the scores in single precision
    """

    double: dict[str, str]
    single: dict[str, str]


def read_judged(folder: Path) -> Scores:
    """The grades of the judged documents of each query."""
    found = {}
    for line in (folder / "judged.tsv").read_text(encoding="utf-8").splitlines():
        query, grades = line.split("\t")
        found[query] = {name: -1 if name[0] == "-" else int(name[0]) for name in named(grades)}
    return found


def read_lists(folder: Path) -> dict[str, Lists]:
    """The lists of each system."""
    found: dict[str, Lists] = {}
    with lzma.open(folder / "runs.txt.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            system, query, double, *single = line.rstrip("\n").split("\t")
            lists = found.setdefault(system, Lists({}, {}))
            lists.double[query] = double
            lists.single[query] = single[0] if single else double
    return found


def read_published(folder: Path) -> dict[str, list[Printed]]:
    """The published numbers of each system."""
    found = defaultdict(list)
    for line in (folder / "published.tsv").read_text(encoding="utf-8").splitlines():
        system, measure, text = line.split("\t")
        found[system].append(Printed(measure, text))
    return dict(found)


def named(grades: str) -> Iterator[str]:
    """A name for each document of a list: its grade, and how many of this grade come before it.

    >>> list(named("1 0.0 1"))
    ['1-0', '0-0', '.-0', '0-1', '1-1']
    """
    numbers: Mapping[str, Iterator[int]] = defaultdict(count)
    return (f"{grade}-{next(numbers[grade])}" for grade in grades if grade != " ")


def with_ties(lists: Mapping[str, str]) -> Scores:
    """Scores with the ties of the lists.

    >>> with_ties({"q": "1 0. 0"})
    {'q': {'1-0': 0, '0-0': -1, '.-0': -1, '0-1': -2}}
    """
    return {query: dict(zip(named(text), places_of_ties(text), strict=True)) for query, text in lists.items()}


def places_of_ties(text: str) -> list[int]:
    """A score for each document of a list, the same for those that are tied."""
    return [-place for place, tie in enumerate(text.split(" ")) for _ in tie]


def in_order(lists: Mapping[str, str]) -> Scores:
    """Scores without ties, in the order in which the original tool ranks.

    >>> in_order({"q": "1 0."})
    {'q': {'1-0': 0, '0-0': -1, '.-0': -2}}
    """
    return {query: {name: -place for place, name in enumerate(named(text))} for query, text in lists.items()}


def tied_share(lists: Mapping[str, str]) -> float:
    """The share of the documents in the lists that are tied with another one.

    >>> tied_share({"q": "1 0.", "r": "0"})
    0.5
    """
    sizes = [len(tie) for text in lists.values() for tie in text.split(" ")]
    return sum(size for size in sizes if size > 1) / sum(sizes)
