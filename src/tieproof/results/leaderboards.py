"""`Leaderboard`: systems sorted by their lower bounds, with ranks that follow the verdicts on every two systems."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tieproof.results.comparison import Comparison
from tieproof.results.judgments import Judgment, Score

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
        from tieproof.views.pages.leaderboard import report

        return report(self, path)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.views.text.leaderboard import render

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
