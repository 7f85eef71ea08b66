"""`leaderboard`: rank the systems whose records are in a folder, by lower bounds and verdicts."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.comparison.compare import compare
from tieproof.comparison.result import Comparison
from tieproof.errors import InputError
from tieproof.evaluation.intervals import check_confidence
from tieproof.evaluation.result import Result
from tieproof.evaluation.scoring import parse_measures
from tieproof.judge.journal import LOG_ENDING, read_judgment
from tieproof.judge.judgment import Judgment, Score, over_runs, score_of
from tieproof.measures import Measure
from tieproof.records.record import EXTENSION, load
from tieproof.records.verification import Verification
from tieproof.records.verify import verified_by_name

VERIFIED, DIFFERS, NOT_VERIFIED, EVALUATED = "verified", "differs", "not verified", "evaluated"


@dataclass(frozen=True)
class Standing:
    """A system's rank and scores.

    rank : 1 + the number of systems that are ahead of this one; None if the rules give it no rank, or its record
        differs from its data
    name : the name of the system
    scores : the score in each measure
    ahead_of, behind : the systems that are significantly worse or better, by the verdicts on the lower bounds of the
        ranking measure
    judgment : the judge's findings; None for a record that no judge made
    record : "verified" if the data was evaluated again and every bit agrees; "differs" if it does not; "not verified"
        if the scores are those that the record states; "evaluated" for results that were not read from records
    remarks : what a verification found, in words
    """

    rank: int | None
    name: str
    scores: Mapping[str, Score]
    ahead_of: tuple[str, ...]
    behind: tuple[str, ...]
    judgment: Judgment | None
    record: str
    remarks: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Short notes that a reader of the score has to know."""
        return self.remarks if self.judgment is None else (*notes_of(self.judgment), *self.remarks)


@dataclass(frozen=True)
class Leaderboard:
    """Systems in the order of their ranks; `leaderboard` of `tieproof.judge` returns it.

    standings : all systems by rank; within a rank the larger lower bound comes first; systems without a rank are last
    measure : the measure by whose lower bound the systems are ranked
    comparison : every two systems compared by their lower bounds; None for a single system
    confidence : 1 - confidence is the significance level of the comparison

    >>> import tieproof as tp
    >>> from tieproof.judge import leaderboard
    >>> relevance = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 4
    >>> board = leaderboard({
    ...     "good": tp.evaluate_scores(relevance, relevance),
    ...     "bad": tp.evaluate_scores([[-x for x in row] for row in relevance], relevance),
    ... })
    >>> [(standing.rank, standing.name) for standing in board.standings]
    [(1, 'good'), (2, 'bad')]
    """

    standings: tuple[Standing, ...]
    measure: str
    comparison: Comparison | None
    confidence: float

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of all measures."""
        return tuple(self.standings[0].scores)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings, lists and dictionaries."""
        return {
            "measure": self.measure,
            "bound": "lower",
            "confidence": self.confidence,
            "standings": [
                {
                    "rank": each.rank,
                    "name": each.name,
                    "scores": {measure: asdict(score) for measure, score in each.scores.items()},
                    "ahead_of": list(each.ahead_of),
                    "behind": list(each.behind),
                    "notes": list(each.notes),
                    "record": each.record,
                }
                for each in self.standings
            ],
            "differences": [] if self.comparison is None else self.comparison.to_dict()["differences"],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report (extra `report`) as one .html file that needs no network to be viewed."""
        from tieproof.judge.leaderboard_tables import report

        return report(self, path)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.judge.leaderboard_tables import render

        return render(self)


def notes_of(judgment: Judgment) -> tuple[str, ...]:
    """Notes on refused answers, changed answers, a missing sandbox, and disqualification."""
    refused = sum(sum(each.values()) for each in judgment.refused)
    asked, differ = (sum(getattr(each, what) for each in judgment.repeats) for what in ("asked", "differ"))
    found = []
    if judgment.disqualified:
        found.append("disqualified")
    if refused:
        found.append(f"{refused:,} of {judgment.questions * len(judgment.results):,} answers refused")
    if differ:
        largest = max(each.largest for each in judgment.repeats)
        found.append(
            f"{differ:,} of {asked:,} answers changed when asked again, by up to {largest:.0e} of their length"
        )
    if judgment.seal.by == "nothing":
        found.append("not sealed")
    return tuple(found)


class Entrant(NamedTuple):
    """A system on the leaderboard: the results of its runs by the names of their records, and its judgment if judged.

    record, remarks : as in `Standing`
    """

    runs: Mapping[str, Result]
    judgment: Judgment | None = None
    record: str = NOT_VERIFIED
    remarks: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of all runs."""
        return tuple(self.runs.values())

    @property
    def is_ranked(self) -> bool:
        """Whether neither the rules of the competition nor a verification deny the system a rank."""
        return self.record != DIFFERS and not (self.judgment is not None and self.judgment.disqualified)


def leaderboard(
    systems: str | os.PathLike[str] | Mapping[str, Result],
    *,
    measures: Sequence[str | Measure] | None = None,
    confidence: float = 0.95,
    verify: Mapping[str, Mapping[str, Any]] | None = None,
) -> Leaderboard:
    """Rank systems by their lower bounds; systems share a rank if equally many systems are ahead of them.

    A system's rank is 1 + the number of systems that are ahead of it. A system is ahead of another if `tp.compare`
    finds the difference of their lower bounds significant over the queries, corrected for all pairs. Every tie is
    broken against either system, so that ties never pay.

    Parameters
    ----------
    systems : a folder with logs and records of `judge`, and any other records, or {name: result}
        Several runs of a system are replaced by their mean for each query.
    measures :
        The measures to show; systems are ranked by the first one. Default: the measures of the records.
    confidence : float
        1 - confidence is the significance level of all differences together.
    verify : {name: {argument: value}}
        The data of each record, by the name of its file without the extension, or of each result: by the names of the
        arguments of its function, such as `embeddings` and `labels`, or `qrels` and `run`. It is evaluated again, as
        `tp.verify` does. A system whose record differs gets no rank; other records are marked as not verified.

    Returns
    -------
    Leaderboard

    Raises
    ------
    InputError
        The folder has no records, records have different queries or labels, a file is not a record, or `verify`
        names another record.

    """
    check_confidence("confidence", confidence)
    found = entrants_of(systems)
    if not found:
        raise InputError(
            f"{systems} contains no record ({EXTENSION}). Give a folder with records, as tieproof judge writes them.",
            "systems",
        )
    found = checked(found, verify or {})
    ranked = {name: each for name, each in found.items() if each.is_ranked}
    names = [str(measure) for measure in parse_measures(measures)] if measures is not None else measures_of(found)
    comparison = None
    if len(ranked) > 1:
        lowest = {name: at_lower(over_runs(each.results)) for name, each in ranked.items()}
        comparison = compare(lowest, measures=names, confidence=confidence)
    standings = [standing(name, found, comparison, names) for name in found]
    standings.sort(key=lambda each: (each.rank is None, each.rank or 0, -each.scores[names[0]].lower, each.name))
    return Leaderboard(tuple(standings), names[0], comparison, confidence)


def measures_of(found: Mapping[str, Entrant]) -> list[str]:
    """The measures of the first system; the comparison checks that the other systems have them, too."""
    return [*next(iter(found.values())).results[0].measures]


def entrants_of(systems: str | os.PathLike[str] | Mapping[str, Result]) -> dict[str, Entrant]:
    """The systems, by name."""
    if isinstance(systems, Mapping):
        return {name: Entrant({name: result}) for name, result in systems.items()}
    folder = Path(systems)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the folder with the records.", "systems")
    found = {}
    for log in sorted(folder.glob(f"*{LOG_ENDING}")):
        judgment = read_judgment(log)
        if judgment.name in found:
            raise InputError(f"{log} and another log are both for '{judgment.name}'; remove one of them.", "systems")
        names = (record.removesuffix(EXTENSION) for record in judgment.records)
        found[judgment.name] = Entrant(dict(zip(names, judgment.results, strict=True)), judgment)
    of_runs = {record for each in found.values() if each.judgment for record in each.judgment.records}
    for record in sorted(folder.glob(f"*{EXTENSION}")):
        if record.name not in of_runs:
            if record.stem in found:
                raise InputError(f"{record} and a log are both for '{record.stem}'; rename one of them.", "systems")
            found[record.stem] = Entrant({record.stem: load(record)})
    return found


def checked(found: Mapping[str, Entrant], data: Mapping[str, Mapping[str, Any]]) -> dict[str, Entrant]:
    """The systems with what is known about their records; results that were verified are those of the data."""
    known = [name for each in found.values() for name in each.runs]
    for name in data:
        if name not in known:
            raise InputError(f"verify has data for '{name}', but the records are {', '.join(known)}.", "verify")
    return {name: of_data(each, data) for name, each in found.items()}


def of_data(entrant: Entrant, data: Mapping[str, Mapping[str, Any]]) -> Entrant:
    """A system whose runs were evaluated again, where there is data."""
    runs, remarks = dict(entrant.runs), []
    of_records = [name for name in runs if runs[name].evaluated.origin.version is not None]
    record = VERIFIED if data.keys() >= runs.keys() else NOT_VERIFIED if of_records else EVALUATED
    for name in data.keys() & runs.keys():
        try:
            verification, again = verified_by_name(runs[name], data[name])
        except InputError as error:
            raise InputError(f"The data of '{name}': {error}", "verify") from error
        if not verification.agrees:
            return entrant._replace(record=DIFFERS, remarks=(differing(name, verification),))
        runs[name] = again
        if not verification.same_order:
            remarks.append(f"{name} has another order or other names of queries than the data, which counts here")
    return entrant._replace(runs=runs, record=record, remarks=tuple(remarks))


def differing(name: str, verification: Verification) -> str:
    """What a verification found, in short."""
    return f"{name} does not agree with its data: {verification.differences[0].removesuffix('.')}"


def at_lower(result: Result) -> Result:
    """The result with every query's lower bound as its lower, expected and upper value."""
    found = result.evaluated
    values = {measure: np.stack([rows[0]] * 3 + [rows[3] * 0]) for measure, rows in found.per_query.items()}
    return Result(found._replace(per_query=values))


def standing(
    name: str, found: Mapping[str, Entrant], comparison: Comparison | None, measures: Sequence[str]
) -> Standing:
    """The standing of one system."""
    entrant = found[name]
    better: dict[str, str | None] = {}
    if comparison is not None and name in comparison.systems:
        others = [other for other in comparison.systems if other != name]
        better = {other: comparison[name, other, measures[0]].verdict.better for other in others}
    ahead_of = tuple(other for other, ahead in better.items() if ahead == name)
    behind = tuple(other for other, ahead in better.items() if ahead == other)
    rank = 1 + len(behind) if entrant.is_ranked else None
    scores = {measure: score_of(entrant.results, measure) for measure in measures}
    return Standing(rank, name, scores, ahead_of, behind, entrant.judgment, entrant.record, entrant.remarks)
