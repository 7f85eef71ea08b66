"""`Judgment`: a judge's findings on a system: scores, refused answers, changed answers, and gaps in the sandbox.

A score is uncertain for four reasons, each with its own name: `ties`, the order of tied items; `queries`, the choice
of queries; `runs`, the system's own randomness; and `refused`, items that were scored without an answer.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from tieproof.measures import Measure
from tieproof.results.intervals import Interval
from tieproof.results.results import Result
from tieproof.ties import Estimate


class Seal(NamedTuple):
    """The sandbox that keeps a system away from everything but its items.

    by : "bubblewrap, limits by cgroup", "bubblewrap, limits by process", "podman", "docker" or "nothing"
    not_sealed : what the system could do nevertheless, in sentences
    """

    by: str
    not_sealed: tuple[str, ...]


@dataclass(frozen=True)
class Repeats:
    """The items, or pairs, that the system was asked about twice, under other names and in another batch.

    asked : how many items or pairs were asked about twice and have two valid answers
    differ : how many of them got another answer the second time
    largest : the largest difference divided by the length of the first answer; 0 if none differs
    """

    asked: int
    differ: int
    largest: float


@dataclass(frozen=True)
class OverRuns:
    """The lower bounds over all runs of a system; a single run says nothing about others.

    runs : the number of runs
    smallest, largest : the smallest and the largest lower bound
    std : the standard deviation of the lower bounds, with runs - 1 degrees of freedom; None for a single run
    """

    runs: int
    smallest: float
    largest: float
    std: float | None


@dataclass(frozen=True)
class Score:
    """A system's score in one measure.

    lower : the mean of the runs' lower bounds, by which systems are ranked
    ties : lower, expected and upper value over the orderings of tied items, each the mean over runs
    queries : the confidence interval of `lower` over the choice of queries; None for a single query
    runs : how much the lower bound differs between runs
    """

    lower: float
    ties: Estimate[float]
    queries: Interval | None
    runs: OverRuns


@dataclass(frozen=True)
class Judgment:
    """A judge's findings on a system; `judge` of `tieproof.judge` returns it.

    name : the name of the system
    title : the title of the competition
    results : the `Result` of each run
    refused : for each run, how many answers were refused, by the reason
    repeats : for each run, the answers that were asked for twice
    questions : how many answers were asked for in a run, without the repeated ones
    said : the last lines that the system wrote to stderr where it first failed; "" if it did not fail
    disqualified : whether the rules give the system no rank because an answer was refused
    seal : the sandbox that the system ran in, and its gaps
    records : the files of the results
    log : the file that logs the whole judgment
    """

    name: str
    title: str
    results: tuple[Result, ...]
    refused: tuple[Mapping[str, int], ...]
    repeats: tuple[Repeats, ...]
    questions: int
    said: str
    disqualified: bool
    seal: Seal
    records: tuple[str, ...]
    log: str

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures; systems are ranked by the first one."""
        return self.results[0].measures

    def __getitem__(self, measure: str | Measure) -> Score:
        """The score in a measure; an unknown measure raises InputError that lists the known ones."""
        return score_of(self.results, measure)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings, lists and dictionaries."""
        return {
            "name": self.name,
            "competition": self.title,
            "scores": {measure: asdict(self[measure]) for measure in self.measures},
            "runs": [
                {"record": record, "refused": dict(refused), "asked_twice": asdict(repeats)}
                for record, refused, repeats in zip(self.records, self.refused, self.repeats, strict=True)
            ],
            "questions": self.questions,
            "said": self.said,
            "disqualified": self.disqualified,
            "sealed_by": self.seal.by,
            "not_sealed": list(self.seal.not_sealed),
            "log": self.log,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.views.text.judgment import render

        return render(self)


def score_of(results: Sequence[Result], measure: str | Measure) -> Score:
    """The score of a system over all its runs."""
    lowers = [result[measure].lower for result in results]
    mean = math.fsum(lowers) / len(lowers)
    std = None
    if len(lowers) > 1:
        std = math.sqrt(math.fsum((lower - mean) ** 2 for lower in lowers) / (len(lowers) - 1))
    whole = over_runs(results)
    several = np.count_nonzero(~np.isnan(whole.per_query(measure).lower)) > 1
    return Score(
        whole[measure].lower,
        whole[measure],
        whole.interval(measure) if several else None,
        OverRuns(len(lowers), min(lowers), max(lowers), std),
    )


def over_runs(results: Sequence[Result]) -> Result:
    """A result whose queries score their mean over all runs; ties of different runs are broken independently."""
    if len(results) == 1:
        return results[0]
    found = results[0].evaluated
    per_query = {}
    for measure in found.per_query:
        values = np.stack([result.evaluated.per_query[measure] for result in results])
        rows = values.reshape(len(results), -1).T.tolist()
        sums = np.array([math.fsum(row) for row in rows]).reshape(values.shape[1:])
        mean = sums / len(results)
        mean[3] /= len(results)
        per_query[measure] = mean
    return Result(found._replace(per_query=per_query))
