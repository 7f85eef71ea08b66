"""`leaderboard`: rank the systems whose records are in a folder, by lower bounds and verdicts, and show the ranks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof import Comparison, Result, compare, load
from tieproof.analyses.compare.same_queries import common_measures, differing_settings
from tieproof.errors import InputError
from tieproof.evaluation.intervals import check_confidence
from tieproof.evaluation.records.verify import verified_by_name
from tieproof.kit import EXTENSION, AsPage, Shown, Table, aligned, count, parse_scores
from tieproof.measures import Measure
from tieproof.show.pages.page import Axis
from tieproof.show.parts import percent
from tieproof.trials.judge.judgment import LOG_ENDING, Judgment, Score, cells_of, over_runs, read_judgment, score_of

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
    remarks : what a verification found, and the settings and rules that are not the same for all systems, in words
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
        return self.remarks if self.judgment is None else (*_notes_of(self.judgment), *self.remarks)


@dataclass(frozen=True)
class Leaderboard(Shown, AsPage):
    """Systems in the order of their ranks; `leaderboard` of `tieproof.trials.judge` returns it.

    standings : all systems by rank; within a rank the larger lower bound comes first; systems without a rank are last
    measure : the measure by whose lower bound the systems are ranked
    comparison : every two systems compared by their lower bounds; None for a single system
    confidence : 1 - confidence is the significance level of the comparison

    >>> import tieproof as tp
    >>> from tieproof.trials.judge import leaderboard
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

    def _page(self) -> tuple[str, dict[str, Any]]:
        scores = [each.scores[self.measure] for each in self.standings]
        ends = [end for score in scores for end in (score.ties.lower, score.ties.upper)]
        ends += [end for score in scores if score.queries for end in (score.queries.low, score.queries.high)]
        return "leaderboard.html", {
            "title": f"{count(len(self.standings), 'system')} by {self.measure}",
            "board": self,
            "axis": Axis.around(ends),
            "level": percent(self.confidence),
            "against": _against(self),
        }

    def _lines(self) -> list[tuple[int | None, float, str]]:
        """The rank, the lower bound and the name of each system."""
        return [(each.rank, each.scores[self.measure].lower, each.name) for each in self.standings]

    def _table(self) -> Table:
        header = ("rank", "system", "lower", "ties up to", "queries 95%", "runs", "record")
        rows = []
        for each in self.standings:
            score = each.scores[self.measure]
            lower, *uncertainties = cells_of(score)
            rank, ties = f"{each.rank or '-'}", f"{score.ties.upper:.4f}"
            rows.append((rank, each.name, lower, ties, *uncertainties, each.record))
        return Table(header, [rows], [*_sentences(self)], ("rank", *header[2:-1]))


def _notes_of(judgment: Judgment) -> Iterator[str]:
    """Notes on refused answers, changed answers, a missing sandbox, and disqualification."""
    if judgment.disqualified:
        yield "disqualified"
    if refused := sum(sum(each.values()) for each in judgment.refused):
        yield f"{refused:,} of {judgment.questions * len(judgment.results):,} answers refused"
    if differ := sum(each.differ for each in judgment.repeats):
        asked, largest = sum(each.asked for each in judgment.repeats), max(each.largest for each in judgment.repeats)
        yield f"{differ:,} of {asked:,} answers changed when asked again, by up to {largest:.0e} of their length"
    if judgment.seal.by == "nothing":
        yield "not sealed"


class _Entrant(NamedTuple):
    """A system on the leaderboard: the results of its runs by the names of their records, and its judgment."""

    runs: Mapping[str, Result]
    judgment: Judgment | None = None
    record: str = NOT_VERIFIED  # as in `Standing`
    remarks: tuple[str, ...] = ()  # as in `Standing`

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
    entrants = _entrants_of(systems)
    if not entrants:
        raise InputError(
            f"{systems} contains no record ({EXTENSION}). Give a folder with records, as tieproof judge writes them.",
            "systems",
        )
    known = [name for each in entrants.values() for name in each.runs]
    data = verify or {}
    for name in data:
        if name not in known:
            raise InputError(f"verify has data for '{name}', but the records are {', '.join(known)}.", "verify")
    entrants = _with_settings({name: _of_data(each, data) for name, each in entrants.items()})
    if measures is None:  # those of the first system; the comparison checks that the other systems have them, too
        names = [*next(iter(entrants.values())).results[0].measures]
    else:
        names = [str(measure) for measure in parse_scores(measures)]
    comparison = None
    lowest = {name: _at_lower(over_runs(each.results)) for name, each in entrants.items() if each.is_ranked}
    if len(lowest) > 1:
        aligned(lowest)  # a shown score must be over the queries that rank, so that none may be left out
        comparison = compare(lowest, measures=names, confidence=confidence)
    standings = [_standing(name, each, comparison, names) for name, each in entrants.items()]
    standings.sort(key=lambda each: (each.rank is None, each.rank or 0, -each.scores[names[0]].lower, each.name))
    return Leaderboard(tuple(standings), names[0], comparison, confidence)


def _entrants_of(systems: str | os.PathLike[str] | Mapping[str, Result]) -> dict[str, _Entrant]:
    if isinstance(systems, Mapping):
        return {name: _Entrant({name: result}) for name, result in systems.items()}
    folder = Path(systems)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the folder with the records.", "systems")
    entrants = {}
    for log in sorted(folder.glob(f"*{LOG_ENDING}")):
        judgment = read_judgment(log)
        if judgment.name in entrants:
            raise InputError(f"{log} and another log are both for '{judgment.name}'; remove one of them.", "systems")
        names = (record.removesuffix(EXTENSION) for record in judgment.records)
        entrants[judgment.name] = _Entrant(dict(zip(names, judgment.results, strict=True)), judgment)
    of_runs = {record for each in entrants.values() if each.judgment for record in each.judgment.records}
    for record in [each for each in sorted(folder.glob(f"*{EXTENSION}")) if each.name not in of_runs]:
        if record.stem in entrants:
            raise InputError(f"{record} and a log are both for '{record.stem}'; rename one of them.", "systems")
        entrants[record.stem] = _Entrant({record.stem: load(record)})
    return entrants


def _of_data(entrant: _Entrant, data: Mapping[str, Mapping[str, Any]]) -> _Entrant:
    """A system whose runs were evaluated again, where there is data; verified results are those of the data."""
    runs, remarks = dict(entrant.runs), []
    of_records = [name for name in runs if runs[name].evaluated.origin.version is not None]
    record = VERIFIED if data.keys() >= runs.keys() else NOT_VERIFIED if of_records else EVALUATED
    for name in data.keys() & runs.keys():
        try:
            verification, again = verified_by_name(runs[name], data[name])
        except InputError as error:
            raise InputError(f"The data of '{name}': {error}", "verify") from error
        if not verification.agrees:
            difference = verification.differences[0].removesuffix(".")
            return entrant._replace(record=DIFFERS, remarks=(f"{name} does not agree with its data: {difference}",))
        runs[name] = again
        if not verification.same_order:
            remarks.append(f"{name} has another order or other names of queries than the data, which counts here")
    return entrant._replace(runs=runs, record=record, remarks=tuple(remarks))


def _with_settings(entrants: Mapping[str, _Entrant]) -> dict[str, _Entrant]:
    """The systems, with remarks on settings and rules that are not the same for all; those of a system must be."""
    for each in entrants.values():
        if len(each.runs) > 1:
            aligned(each.runs)
            common_measures(each.runs, None)
    of_runs = differing_settings({name: run for each in entrants.values() for name, run in each.runs.items()})
    of_logs = {name: each.judgment.rules for name, each in entrants.items() if each.judgment}
    rules = dict.fromkeys(rule for each in of_logs.values() for rule in each)
    differ = [rule for rule in rules if len({repr(each.get(rule)) for each in of_logs.values()}) > 1]
    marked = {}
    for name, each in entrants.items():
        own = dict.fromkeys(of_runs[run] for run in each.runs if of_runs[run])
        told = [f"the rule {rule} = {of_logs[name].get(rule)}" for rule in differ if name in of_logs]
        marked[name] = each._replace(remarks=(*each.remarks, *own, *told))
    return marked


def _at_lower(result: Result) -> Result:
    """The result with every query's lower bound as its lower, expected and upper value."""
    evaluated = result.evaluated
    values = {measure: np.stack([rows[0]] * 3 + [rows[3] * 0]) for measure, rows in evaluated.per_query.items()}
    return Result(evaluated._replace(per_query=values))


def _standing(name: str, entrant: _Entrant, comparison: Comparison | None, measures: Sequence[str]) -> Standing:
    better: dict[str, str | None] = {}
    if comparison is not None and name in comparison.systems:
        others = [other for other in comparison.systems if other != name]
        better = {other: comparison[name, other, measures[0]].verdict.better for other in others}
    ahead_of = tuple(other for other, ahead in better.items() if ahead == name)
    behind = tuple(other for other, ahead in better.items() if ahead == other)
    rank = 1 + len(behind) if entrant.is_ranked else None
    scores = {measure: score_of(entrant.results, measure) for measure in measures}
    return Standing(rank, name, scores, ahead_of, behind, entrant.judgment, entrant.record, entrant.remarks)


def _sentences(board: Leaderboard) -> Iterator[str]:
    """The notes on systems, and sentences on the ranking and on shared ranks."""
    for standing in board.standings:
        if standing.notes:
            yield f"{standing.name}: {'; '.join(standing.notes)}."
    if any(standing.record == NOT_VERIFIED for standing in board.standings):
        yield "Not verified: the scores are those that a record states. --verify evaluates its data again."
    systems, level = count(len(board.standings), "system"), percent(board.confidence)
    yield (
        f"{systems} by {board.measure}, with every tie broken against each system. A rank is 1 + the number of "
        "systems that are ahead. A system is ahead if its lower bound is larger by more than the choice of queries "
        f"is likely to explain, at {level} for all pairs together (sign-flip test, Holm). Systems of equal rank are "
        "listed by their lower bounds; this order is not a ranking."
    )


def _against(board: Leaderboard) -> dict[str, dict[str, str]]:
    """The relation of each ranked system, a row of the page, to each other ranked system, a column."""
    ranked = [each for each in board.standings if each.rank is not None]
    relations = {}
    for each in ranked:
        known = dict.fromkeys(each.ahead_of, "ahead") | dict.fromkeys(each.behind, "behind") | {each.name: ""}
        relations[each.name] = {other.name: known.get(other.name, "not told apart") for other in ranked}
    return relations
