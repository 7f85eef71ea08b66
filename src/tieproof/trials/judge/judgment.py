"""`Judgment`: a judge's findings on a system: scores, refused answers, changed answers, and gaps in the sandbox."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof import Estimate, Interval, Result, __version__, load
from tieproof.errors import InputError
from tieproof.kit import EXTENSION, Array, Shown, Table, aligned, atomic_write, check, count, fits
from tieproof.measures import Measure
from tieproof.trials.competition.settings import DISQUALIFIED
from tieproof.trials.judge.answers import Assembled, Repeats
from tieproof.trials.judge.items import Contest
from tieproof.trials.judge.systems import Seal


@dataclass(frozen=True)
class OverRuns:
    """The lower bounds over all runs of a system; a single run says nothing about others."""

    runs: int  # the number of runs
    smallest: float  # smallest, largest: the smallest and the largest lower bound
    largest: float
    # The standard deviation of the lower bounds, with runs - 1 degrees of freedom; None for a single run.
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


def cells_of(score: Score) -> tuple[str, str, str]:
    """The lower bound, the interval over queries and the range over runs, as tables show them."""
    queries = f"{score.queries.low:.4f}-{score.queries.high:.4f}" if score.queries else ""
    runs = f"{score.runs.smallest:.4f}-{score.runs.largest:.4f}" if score.runs.runs > 1 else ""
    return f"{score.lower:.4f}", queries, runs


def score_of(results: Sequence[Result], measure: str | Measure) -> Score:
    """The score of a system over all its runs."""
    lowers = [result[measure].lower for result in results]
    mean = math.fsum(lowers) / len(lowers)
    std = None
    if len(lowers) > 1:
        std = math.sqrt(math.fsum((lower - mean) ** 2 for lower in lowers) / (len(lowers) - 1))
    whole = over_runs(results)
    several = np.count_nonzero(~np.isnan(whole.per_query(measure).lower)) > 1
    queries = whole.interval(measure) if several else None
    return Score(whole[measure].lower, whole[measure], queries, OverRuns(len(lowers), min(lowers), max(lowers), std))


def over_runs(results: Sequence[Result]) -> Result:
    """A result whose queries score their mean over all runs; ties of different runs are broken independently."""
    if len(results) == 1:
        return results[0]
    first = results[0].evaluated
    places = aligned({f"run {number}": result for number, result in enumerate(results, 1)}).values()
    per_query = {}
    for measure in first.per_query:
        runs = zip(results, places, strict=True)
        values = np.stack([result.evaluated.per_query[measure][:, place] for result, place in runs])
        sums = np.array([math.fsum(row) for row in values.reshape(len(results), -1).T.tolist()])
        per_query[measure] = sums.reshape(values.shape[1:]) / len(results)
        per_query[measure][3] /= len(results)
    return Result(first._replace(per_query=per_query))


@dataclass(frozen=True)
class Judgment(Shown):
    """A judge's findings on a system; `judge` of `tieproof.trials.judge` returns it.

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
    rules : the rules of the competition, by their names in its file
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
    rules: Mapping[str, Any] = field(default_factory=dict)

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

    def _table(self) -> Table:
        header = ("measure", "lower", "ties", "queries 95%", "runs")
        rows = []
        for measure in self.measures:
            score = self[measure]
            lower, queries, runs = cells_of(score)
            rows.append((measure, lower, f"{score.ties.lower:.4f}-{score.ties.upper:.4f}", queries, runs))
        return Table(header, [rows], [*_sentences(self)], header[1:])


_MEANING = (
    "Systems are ranked by 'lower', for which every tie is broken against the system. 'ties' is the range over all "
    "orderings of tied items, 'queries' the confidence interval over the choice of queries (BCa bootstrap of the "
    "lower bounds), and 'runs' the range of the lower bounds over the runs."
)


def _sentences(judgment: Judgment) -> Iterator[str]:
    """Sentences on what was judged, and on what qualifies the score."""
    yield from _about_answers(judgment)
    yield f"Sealed by {judgment.seal.by}." if judgment.seal.by != "nothing" else "Not sealed."
    yield from judgment.seal.not_sealed
    runs, questions = count(len(judgment.results), "run"), count(judgment.questions, "question")
    yield f"{judgment.name} in '{judgment.title}': {runs} with {questions} each. {_MEANING}"
    yield f"Files written: {judgment.log}, {', '.join(judgment.records)}."


def _about_answers(judgment: Judgment) -> Iterator[str]:
    """Sentences on refused answers, and on answers that differed when asked again, for each run."""
    if judgment.said:
        yield f"The system's message at its first failure: {judgment.said}"
    if judgment.disqualified:
        yield "By the rules of the competition, the system has no rank, because an answer was refused."
    for number, (refused, repeats) in enumerate(zip(judgment.refused, judgment.repeats, strict=True), 1):
        which = f"Run {number}: " if len(judgment.results) > 1 else ""
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
    if not any(judgment.refused):
        yield "No answer was refused."


_FORMAT, _VERSION = "tieproof judgment", 1
LOG_ENDING = ".judgment.json"
_LIMITS = ("seconds", "total_seconds", "memory", "output")

_LOG = {
    **dict.fromkeys(("format", "name", "competition", "said", "sealed_by"), str),
    "version": int,
    "questions": int,
    "disqualified": bool,
    "not_sealed": list[str],
    "rules": dict[str, Any],
    "runs": list[dict[str, Any]],
}
# The types of what is read of a log, and of each of its runs.
_RUN = {"record": str, "refused": dict[str, list[Any]], "asked_twice": Repeats}


class Run(NamedTuple):
    """One run of a system."""

    result: Result
    assembled: Assembled  # the answers, the refusals, and the questions that were asked twice
    answers: Array  # all embeddings, or all distances
    said: str  # the message of the system's first error, if there was one


def write_judgment(
    contest: Contest, name: str, spelled: str, seal: Seal, runs: Sequence[Run], plan: Mapping[str, Any], folder: Path
) -> Judgment:
    """Write all files of a judgment, the log last; each file is written whole or not at all."""
    competition, judging = contest.competition, contest.competition.judge
    names = [f"{name}.run-{number}" for number in range(1, len(runs) + 1)]
    for stem, run in zip(names, runs, strict=True):
        with atomic_write(folder / f"{stem}.npy") as unfinished:
            np.save(unfinished, run.answers)
        run.result.save(folder / f"{stem}{EXTENSION}")
    limits = {name: getattr(judging, name) for name in _LIMITS} | {"dimensions": contest.dimensions}
    log: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "tieproof": __version__,
        "system": spelled,
        "rules": {
            "phase": contest.phase.name,
            "task": competition.task,
            "measures": list(competition.measures),
            "distance": competition.distance,
            "symmetric": judging.symmetric,
            "batch": judging.batch,
            "repeats": judging.repeats,
            "limits": limits,
            "refused": judging.refused,
        },
        "digests": dict(plan),
        "name": name,
        "competition": competition.title,
        "scores": {},
        "runs": [
            {
                "record": f"{stem}{EXTENSION}",
                "refused": {reason: [*map(list, asked)] for reason, asked in run.assembled.refused.items()},
                "asked_twice": asdict(run.assembled.repeats),
                "answers": f"{stem}.npy",
                "unknown_names": run.assembled.unknown,
            }
            for stem, run in zip(names, runs, strict=True)
        ],
        "questions": len(runs[0].assembled.answers) + sum(map(len, runs[0].assembled.refused.values())),
        "said": next((run.said for run in runs if run.said), ""),
        "disqualified": judging.refused == DISQUALIFIED and any(run.assembled.refused for run in runs),
        "sealed_by": seal.by,
        "not_sealed": list(seal.not_sealed),
        "log": f"{name}{LOG_ENDING}",
    }
    judgment = _told_by(log, log["log"], [run.result for run in runs])
    log["scores"] = judgment.to_dict()["scores"]
    with atomic_write(folder / judgment.log) as unfinished:
        unfinished.write_text(json.dumps(log, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return judgment


def read_judgment(log: Path) -> Judgment:
    """The judgment of a log, with results from the records in the same folder; InputError if anything is invalid."""
    check(log)
    try:
        given = json.loads(log.read_text(encoding="utf-8"))
        fitting = fits(given, _LOG) and all(fits(run, _RUN) for run in given["runs"])
        if not fitting or (given["format"], given["version"]) != (_FORMAT, _VERSION):
            raise ValueError("another format, or fields of other types")
        records = [run["record"] for run in given["runs"]]
        if not records or any(Path(record).name != record for record in records):
            raise ValueError("a record elsewhere")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{log} is not a log of tieproof judge ({type(error).__name__}: {error}). Remove it, or judge again."
        ) from None
    return _told_by(given, log.name, [load(log.with_name(record)) for record in records])


def _told_by(log: Mapping[str, Any], file: str, results: Sequence[Result]) -> Judgment:
    """The judgment that the log in a file tells of, with the results of its runs."""
    runs = log["runs"]
    return Judgment(
        name=log["name"],
        title=log["competition"],
        results=tuple(results),
        refused=tuple({reason: len(items) for reason, items in run["refused"].items()} for run in runs),
        repeats=tuple(Repeats(**run["asked_twice"]) for run in runs),
        questions=log["questions"],
        said=log["said"],
        disqualified=log["disqualified"],
        seal=Seal(log["sealed_by"], tuple(log["not_sealed"])),
        records=tuple(run["record"] for run in runs),
        log=file,
        rules=log["rules"],
    )
