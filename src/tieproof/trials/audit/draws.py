"""One blind system on one layout: its first score, and further scores, each paired with random embeddings.

judgment.py says what they mean.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tieproof.trials.audit.cases import Case, ClassLayout
from tieproof.trials.audit.examination import Board, Examination
from tieproof.trials.audit.luck import DRAWS, LOOKS, MORE_LOOKS, SUSPICIOUS, Luck
from tieproof.trials.audit.outcomes import Outcome


class BlindTrial(NamedTuple):
    """A blind system, and how it is compared with random embeddings."""

    attack: str  # the name of the attack
    case: Callable[[Board], Case]  # makes the case that the system hands in on a board
    score: Callable[[Case], Outcome]  # calls the evaluator with a case
    # Whether the case contains no random numbers; its score then differs only if the evaluator's answers do.
    fixed: bool
    times: float = 1  # the factor of the usual number of items and queries
    draws: int = DRAWS  # the number of random embeddings that the first score is compared with
    # The numbers of further draws after which the differences are tested, if other than usual.
    looks: Sequence[int] = ()
    # Whether the trial uses boards of its own that the evaluator has never seen; each draw is then paired with
    # random embeddings on a board of the same size with other labels, which are scored first.
    own: bool = False
    # Scores what the system must also gain over: random rows of a larger size than usual, for a system that is
    # random rows of a still larger size; or the same rows without the calls before them.
    beside: Callable[[Board], Outcome] | None = None


class Drawn(NamedTuple):
    """The outcomes of a blind system and of random embeddings on the same labels, and the number of items."""

    blind: Outcome
    random: Outcome
    items: int


class DrawnTrial:
    """A trial on one layout, with its first score and all further draws."""

    def __init__(
        self, examination: Examination, trial: BlindTrial, layout: ClassLayout, lucks: Mapping[str, Luck]
    ) -> None:
        self.examination, self.trial, self.layout, self.lucks = examination, trial, layout, lucks
        size = f" with {trial.times:g} times as many items and queries" if trial.times > 1 else ""
        self.where = f"On the layout '{layout.name}'{size}"
        more = examination.options.thorough and layout.redrawn
        self.looks = trial.looks or (MORE_LOOKS if more else LOOKS)
        self.suspicious = 0.0 if more else SUSPICIOUS
        self.besides: list[Outcome] = []
        self.drawn: dict[bool, list[Drawn]] = {False: [], True: []}
        if trial.own:
            for number in range(1, self.looks[-1] + 1):
                examination.at_random(self.board(number, own=False))
            self.beside(self.looks[-1])
        self.case = trial.case(self.board(0))
        self.first = trial.score(self.case)

    def board(self, number: int, own: bool = True, same_size: bool = False) -> Board:
        """The labels of a draw; `own` to use the trial's own boards, if it has some."""
        own = own and self.trial.own
        return self.examination.board(self.layout, number, self.trial.times, own, same_size)

    def draw(self, count: int, same_size: bool = False) -> list[Drawn]:
        """The first `count` draws, each with other numbers of items and queries or, with the same, other labels."""
        drawn = self.drawn[same_size]
        while len(drawn) < count:
            number = len(drawn) + 1
            board = self.board(number, True, same_size)
            random = self.examination.at_random(self.board(number, False, same_size))
            blind = self.trial.score(self.trial.case(board))
            drawn.append(Drawn(blind, random, len(board.labels)))
        return drawn[:count]

    def beside(self, count: int) -> list[Outcome]:
        """The outcomes of what the system must also gain over, in the first `count` draws."""
        while self.trial.beside is not None and len(self.besides) < count:
            self.besides.append(self.trial.beside(self.board(len(self.besides) + 1, own=False)))
        return self.besides[:count]

    @property
    def is_settled(self) -> bool:
        """Whether scoring the same case again gives the same numbers, so that the first ones can be reported."""
        if not self.trial.fixed or self.layout.redrawn:
            return False
        return self.examination.same(self.first, self.trial.score(self.case))
