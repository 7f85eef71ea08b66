"""`Judgment`: a judge's findings on a system: scores, refused answers, changed answers, and gaps in the sandbox."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from tieproof.evaluation.intervals import Interval
from tieproof.evaluation.result import Result
from tieproof.measures import Measure
from tieproof.show.parts import NARROWEST, WIDTH, Row, count, paragraph, table
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


HEADER = ("measure", "lower", "ties", "queries 95%", "runs")
RIGHT = HEADER[1:]

MEANING = (
    "Systems are ranked by 'lower', for which every tie is broken against the system. 'ties' is the range over all "
    "orderings of tied items, 'queries' the confidence interval over the choice of queries (BCa bootstrap of the "
    "lower bounds), and 'runs' the range of the lower bounds over the runs."
)


def render(found: Judgment, width: int | None = None, color: bool = False) -> str:
    """The table, then sentences on refused answers, changed answers, and what was not sealed.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal
    """
    width = max(width or WIDTH, NARROWEST)
    rows = [row(measure, found[measure]) for measure in found.measures]
    paragraphs = [paragraph(text, width) for text in sentences(found)]
    return "\n".join([table(HEADER, [rows], width, color, RIGHT), "", *paragraphs])


def row(measure: str, score: Score) -> Row:
    """The numbers of one measure."""
    queries = f"{score.queries.low:.4f}-{score.queries.high:.4f}" if score.queries else ""
    runs = f"{score.runs.smallest:.4f}-{score.runs.largest:.4f}" if score.runs.runs > 1 else ""
    return measure, f"{score.lower:.4f}", f"{score.ties.lower:.4f}-{score.ties.upper:.4f}", queries, runs


def sentences(found: Judgment) -> Iterator[str]:
    """Sentences on what was judged, and on what qualifies the score."""
    runs = count(len(found.results), "run")
    yield f"{found.name} in '{found.title}': {runs} with {count(found.questions, 'question')} each. {MEANING}"
    yield from about_answers(found)
    yield f"Sealed by {found.seal.by}." if found.seal.by != "nothing" else "Not sealed."
    yield from found.seal.not_sealed
    yield f"Files written: {found.log}, {', '.join(found.records)}."


def about_answers(found: Judgment) -> Iterator[str]:
    """Sentences on refused answers, and on answers that differed when asked again, for each run."""
    for number, (refused, repeats) in enumerate(zip(found.refused, found.repeats, strict=True), 1):
        which = f"Run {number}: " if len(found.results) > 1 else ""
        if refused:
            reasons = ", ".join(f"{many:,} {reason}" for reason, many in refused.items())
            verb = "was" if sum(refused.values()) == 1 else "were"
            yield (
                f"{which}{count(sum(refused.values()), 'answer')} {verb} refused ({reasons}). Items with refused "
                "answers have the worst place in every ranking, unless the competition ranks them last."
            )
        if repeats.differ:
            yield (
                f"{which}{repeats.differ:,} of {count(repeats.asked, 'question')} that were asked twice had another "
                f"answer the second time; the largest difference was {repeats.largest:.2g} of the answer's length. "
                "The answers depend on the order, the batch, the names or chance."
            )
    if not any(found.refused):
        yield "No answer was refused."
    if found.said:
        yield f"The system's message at its first failure: {found.said}"
    if found.disqualified:
        yield "By the rules of the competition, the system has no rank, because an answer was refused."
