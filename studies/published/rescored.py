"""Published numbers beside what their runs give: the interval that ties leave, and the original tool's order."""

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tieproof as tp
from studies.published.compact import Scores, in_order, read_judged, read_lists, read_published, with_ties
from studies.published.sets import NCF, SETS, UCR, Runs
from tieproof.whole_files import atomic_write

RUNS = {runs.name: runs for runs in (*SETS, UCR, NCF)}


class Number(NamedTuple):
    """A published number, and what the run gives.

    runs : the name of its set
    system, measure : whose number, and which
    published : the number as it is printed
    lower, expected, upper : over all orders of the tied documents
    in_order : with ties in the order in which the original tool ranks
    single_lower, single_upper : if scores are compared in single precision, as trec_eval does before version 10
    answered, queries : the queries that the system answered, and all that could count
    """

    runs: str
    system: str
    measure: str
    published: str
    lower: float
    expected: float
    upper: float
    in_order: float
    single_lower: float
    single_upper: float
    answered: int
    queries: int

    @property
    def value(self) -> float:
        """The published number."""
        return float(self.published)

    @property
    def digit(self) -> float:
        """One unit of the last digit to which the number was rounded.

        CLEF TAR rounds to three digits and prints 0.12 for 0.120, so that the digits of a text don't tell.
        """
        return float(10.0 ** -RUNS[self.runs].digits)

    @property
    def width(self) -> float:
        """The width of the interval."""
        return self.upper - self.lower

    @property
    def wide(self) -> bool:
        """Whether the interval is wider than the last digit that is printed."""
        return self.width > self.digit

    @property
    def reproduced(self) -> bool:
        """Whether the original tool's order gives the published number."""
        return self._rounds(self.in_order, self.in_order)

    @property
    def inside(self) -> bool:
        """Whether some order of the tied documents gives the published number."""
        return self._rounds(self.lower, self.upper)

    @property
    def inside_in_single(self) -> bool:
        """Whether some order gives it if scores are compared in single precision."""
        return self._rounds(self.single_lower, self.single_upper)

    def _rounds(self, lower: float, upper: float) -> bool:
        """Whether a value between two ends can be printed as the published number."""
        half, value = Fraction(1, 2 * 10 ** RUNS[self.runs].digits), Fraction(self.published)
        slack = Fraction(1, 10**12)  # of the float64 arithmetic of either program
        return lower - half - slack <= value <= upper + half + slack


TYPES: Sequence[Callable[[str], Any]] = [str] * 4 + [float] * 6 + [int] * 2
"""The types of the fields of a number."""


def rescore(folder: Path, runs: Runs) -> Iterator[Number]:
    """Re-score all published numbers of a set in a folder of sets."""
    if runs is UCR:
        yield from classified(folder / runs.name)
        return
    judged, lists = read_judged(folder / runs.name), read_lists(folder / runs.name)
    counted = {query for query, grades in judged.items() if runs.empty == "zero" or max(grades.values()) > 0}
    for system, printed in read_published(folder / runs.name).items():
        double, single = lists[system]
        measures = [measure for measure, _ in printed]
        tied, merged, ordered = (
            evaluate(runs, judged, scores, measures)
            for scores in (with_ties(double), with_ties(single), in_order(single))
        )
        answered = len(counted & double.keys())
        for measure, text in printed:
            yield Number(
                runs.name,
                system,
                measure,
                text,
                tied[measure].lower,
                tied[measure].expected,
                tied[measure].upper,
                ordered[measure].expected,
                merged[measure].lower,
                merged[measure].upper,
                answered,
                len(counted),
            )


def evaluate(runs: Runs, judged: Scores, scores: Scores, measures: Sequence[str]) -> tp.Result:
    """Evaluate a system as its set averages queries; lists that were cut off are taken as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.InputWarning)
        return tp.evaluate_run(judged, scores, measures=measures, empty=runs.empty, missing=runs.missing)


def classified(folder: Path) -> Iterator[Number]:
    """Classify the test part of each data set by the nearest neighbor in its training part."""
    for name, ((measure, text),) in read_published(folder).items():
        with np.load(folder / f"{name}.npz") as data:
            result = tp.evaluate(
                data["test"],
                data["test_labels"],
                gallery=data["train"],
                gallery_labels=data["train_labels"],
                distance="euclidean",
                measures=["P@1"],
            )
        queries = len(result.query_ids)
        found = result["P@1"]
        lower, expected, upper = 1 - found.upper, 1 - found.expected, 1 - found.lower
        yield Number(
            folder.name, name, measure, text, lower, expected, upper, expected, lower, upper, queries, queries
        )


def write(numbers: Iterable[Number], path: Path) -> None:
    """Write numbers to a CSV file."""
    with atomic_write(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Number._fields)
        writer.writerows(numbers)


def read(path: Path) -> list[Number]:
    """Read the numbers that `write` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return [Number._make(convert(text) for convert, text in zip(TYPES, row, strict=True)) for row in rows]
