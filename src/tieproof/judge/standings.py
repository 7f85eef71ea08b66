"""`leaderboard`: rank the systems whose records are in a folder."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.calls.compare import compare
from tieproof.calls.scoring import parse_measures
from tieproof.calls.verify import verified_by_name
from tieproof.errors import InputError
from tieproof.judge.logs import LOG_ENDING, read_judgment
from tieproof.measures import Measure
from tieproof.results.comparison import Comparison
from tieproof.results.intervals import check_confidence
from tieproof.results.judgments import Judgment, over_runs, score_of
from tieproof.results.leaderboards import DIFFERS, EVALUATED, NOT_VERIFIED, VERIFIED, Leaderboard, Standing
from tieproof.results.records import EXTENSION, load
from tieproof.results.results import Result
from tieproof.results.verification import Verification


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
