"""The columns of a leaderboard: of the measure that ranks its whole interval, of the others the lower bound."""

from typing import NamedTuple

from tieproof.competition.scoring import SHOWN, Scoring
from tieproof.errors import InputError
from tieproof.results.results import flat_name

LONGEST = 36
"""Letters of the title and the key of a column on Codabench."""


class Column(NamedTuple):
    """A column: what it is called, and the name of its number among those of a submission."""

    title: str
    key: str


def columns_of(scoring: Scoring) -> list[Column]:
    """The columns in their order; the first one ranks.

    >>> [column.key for column in columns_of(Scoring("run", ("AP", "P@1")))]
    ['ap_lower', 'ap_expected', 'ap_upper', 'p_at_1_lower']
    """
    columns = []
    for place, measure in enumerate(scoring.measures):
        for bound in SHOWN if place == 0 else SHOWN[:1]:
            column = Column(f"{measure} {bound}", f"{flat_name(measure)}_{bound}")
            if max(map(len, column)) > LONGEST:
                raise InputError(f"'{column.title}' is too long for a column of {LONGEST} letters.", "measures")
            columns.append(column)
    return columns
