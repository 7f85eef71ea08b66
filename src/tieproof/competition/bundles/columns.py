"""The columns of a leaderboard: the whole interval of the first measure, and the lower bounds of the others."""

from typing import NamedTuple

from tieproof.competition.scoring import SHOWN, Scoring
from tieproof.errors import InputError
from tieproof.results.results import flat_name

LONGEST = 36
"""The most characters of a column's title and key on Codabench."""


class Column(NamedTuple):
    """A column: its title, and the name of its number among the numbers of a submission."""

    title: str
    key: str


def columns_of(scoring: Scoring) -> list[Column]:
    """The columns in order; submissions are ranked by the first one.

    >>> [column.key for column in columns_of(Scoring("run", ("AP", "P@1")))]
    ['ap_lower', 'ap_expected', 'ap_upper', 'p_at_1_lower']
    """
    columns = []
    for place, measure in enumerate(scoring.measures):
        for bound in SHOWN if place == 0 else SHOWN[:1]:
            column = Column(f"{measure} {bound}", f"{flat_name(measure)}_{bound}")
            if max(map(len, column)) > LONGEST:
                raise InputError(
                    f"'{column.title}' is longer than the {LONGEST} characters of a column's title or key. Give the "
                    "measure a shorter name, or leave it out.",
                    "measures",
                )
            columns.append(column)
    return columns
