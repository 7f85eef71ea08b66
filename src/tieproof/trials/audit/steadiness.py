"""Whether an evaluator gives the same numbers again, so that a line of code reproduces them in another process."""

from tieproof.trials.audit.cases import LAYOUTS, Case
from tieproof.trials.audit.data_sets import data_case
from tieproof.trials.audit.examination import Examination
from tieproof.trials.audit.luck import LOOKS, Luck, rounding
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.systems import filled

FIRST = LAYOUTS["shuffled"]

UNSEEN = 1000  # the number of a board that no attack uses

MUCH = 5.0
"""How many standard deviations above random embeddings on other labels a system that knows the labels must score."""


class Steadiness:
    """The numbers of a few cases at the beginning of an audit, to be compared with those at its end."""

    def __init__(self, examination: Examination) -> None:
        self.examination = examination
        self.begun: list[tuple[Case, Outcome]] = []

    def begin(self) -> None:
        """Score random data, tied data and zeros."""
        examination = self.examination
        board, sorted_board = examination.board(FIRST, 1), examination.board(LAYOUTS["largest first"])
        self.begun.append((examination.random_case(board), examination.at_random(board)))
        for case in (
            data_case(examination, "tied"),
            examination.blind_case(sorted_board, filled(0.0), examination.random("steadiness")),
        ):
            self.begun.append((case, examination.score(case)))

    def is_steady(self) -> bool:
        """Whether all cases score what they scored at first, and again, and the evaluator remembers nothing."""
        return (
            self.examination.is_steady
            and all(self._same(outcome, self.examination.score(case)) for case, outcome in 2 * self.begun)
            and not self._remembers()
        )

    def _same(self, one: Outcome, other: Outcome) -> bool:
        return one.problem == other.problem and self.examination.same(one, other)

    def _remembers(self) -> bool:
        """Whether the evaluator remembers scores by their labels.

        A system that knows the labels is scored on new labels, then random embeddings on the same labels. Whoever
        remembers gives both the same number. So does an evaluator that looks only at the labels, but its number is
        then not much larger than on other labels.
        """
        examination = self.examination
        case = examination.random_case(examination.board(FIRST, UNSEEN))
        known = examination.score(examination.perfect_case(case))
        if not self._same(known, examination.score(case)):
            return False
        outcomes = [examination.at_random(examination.board(FIRST, number)) for number in range(1, LOOKS[0] + 1)]
        for name, value in known.values.items():
            luck = Luck.of([outcome.value(name) for outcome in outcomes])
            if abs(value - luck.mean) > MUCH * luck.std + rounding(luck.mean):
                return True
        return False
