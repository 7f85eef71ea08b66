"""The verdicts on attacks by guesses: a submission is scored by the truth and by a guess, and all shown is compared.

`guessing.py` makes the games. The attacker is as strong as can be: the two truths differ in an exchange of labels,
and everything else is known.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from tieproof.audit import Finding, Verdict
from tieproof.audit.luck import rounding
from tieproof.competition.inspection.attacks import FileAttack, Handed, Secret
from tieproof.competition.inspection.judging import PLAYED, Trial, Tried
from tieproof.competition.truth import table
from tieproof.show.parts import count

CLIMBS = 8
"""The most submissions by which hill climbing tries to tell one label."""


@dataclass(frozen=True)
class Game:
    """A submission, and a guess: the rows of another truth.

    asks : the question that the guess answers, in words
    kind : what the truth holds: "label" or "judgment"
    secrets : the number of them
    answers : the number of distinct labels, or of judgments of a document
    """

    hand_in: Handed
    secret: Secret
    guess: list[list[str]]
    asks: str
    kind: str
    secrets: int
    answers: int

    def __call__(self, folder: Path) -> None:
        """Write the submission."""
        self.hand_in(folder)

    def suppose(self, folder: Path) -> None:
        """Replace the truth in a folder by the guess."""
        comma = self.secret.place.suffix.lower() == ".csv"
        text = table(self.guess) if comma else "".join(" ".join(row) + "\n" for row in self.guess)
        (folder / self.secret.place).write_text(text, encoding="utf-8")


def judge_guessing(trial: Trial, attack: FileAttack, game: Handed) -> Finding:
    """The finding on offline guessing, which gains if something shown depends on the guess though no score does."""
    assert isinstance(game, Game)
    tried = [trial.trying(game, prepare) for prepare in (None, game.suppose, None, game.suppose)]
    for each in tried:
        if each.problem is not None:
            return trial.without_score(attack, each)
    real, guess = tried[:2]
    told = differences([each.shown for each in tried])
    if real.numbers != guess.numbers:
        scores = [*real.numbers.values(), *guess.numbers.values()]
        told = [word for word in told if not is_one_of(word, scores)]
    if not told:
        return trial.finding(attack, Verdict.HELD, real.score, f"{attack.does}: only scores tell guesses apart.")
    detail = (
        f"{attack.does}: participants see '{told[0]}', which other labels with the same scores would change. Whoever "
        "can recompute it learns labels by guessing, without another submission. Show rounded scores only."
    )
    return trial.finding(attack, Verdict.EXPLOITABLE, real.score, detail)


def differences(shown: Sequence[str]) -> list[str]:
    """The words of a text that depend on the guess and on nothing else, such as the time.

    shown : the text for the truth, for the guess, for the truth again, and for the guess again

    >>> differences(["at 1: 7f, 0.5", "at 2: 8a, 0.5", "at 3: 7f, 0.5", "at 4: 8a, 0.5"])
    ['7f']
    """
    words = zip(*(re.findall(r"[\w.+-]+", text) for text in shown), strict=False)
    return [real for real, guess, again, guess_again in words if real == again != guess == guess_again]


def is_one_of(word: str, scores: Sequence[float]) -> bool:
    """Whether a word is one of some scores, perhaps with fewer digits."""
    try:
        value = float(word)
    except ValueError:
        return False
    return any(abs(value - score) <= 0.5 * 10.0 ** -digits_of(value) + rounding(score) for score in scores)


def digits_of(value: float) -> int:
    """The number of decimal digits of a number.

    >>> digits_of(0.25), digits_of(1.0), digits_of(1e-07)
    (2, 0, 7)
    """
    if not math.isfinite(value):
        return 0
    return max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent))


def judge_climbing(trial: Trial, attack: FileAttack, game: Handed) -> Finding:
    """The finding on hill climbing, which gains if the allowed submissions reveal all labels, one after another."""
    assert isinstance(game, Game)
    limit = trial.trying.task.submissions
    seen: list[Tried] = []
    needed = None
    for number in range(1, 1 + min(CLIMBS, limit or CLIMBS)):
        again = attack.make(trial.material(attack.name, number))
        assert isinstance(again, Game)
        both = [trial.trying(again), trial.trying(again, again.suppose)]
        for each in both:
            if each.problem is not None:
                return trial.without_score(attack, each)
        seen += both
        if both[0].numbers != both[1].numbers:
            needed = number
            break
    climb = Climb(game, seen, needed, limit)
    verdict = Verdict.EXPLOITABLE if climb.revealed == game.secrets else Verdict.HELD
    return trial.finding(attack, verdict, seen[0].score, " ".join(climb.sentences()))


class Climb(NamedTuple):
    """The outcome of hill climbing.

    seen : the outcomes of all submissions, for both truths
    needed : the number of submissions that answered the question; None if none of those tried did
    limit : the most submissions of a participant; None if the bundle does not say
    """

    game: Game
    seen: Sequence[Tried]
    needed: int | None
    limit: int | None

    @property
    def revealed(self) -> int:
        """How many labels the allowed submissions reveal, if each is compared with an item of every other label."""
        cost = (self.needed or 0) * max(1, self.game.answers - 1)
        return min(self.game.secrets, self.limit // cost) if cost and self.limit else 0

    def sentences(self) -> Iterator[str]:
        """What a submission reveals at least, and what any attack can learn at most."""
        game, needed, numbers = self.game, self.needed, len(self.seen[0].numbers)
        digits = max(digits_of(number) for each in self.seen for number in each.numbers.values())
        yield f"Participants see {count(numbers, 'number')} of {count(digits, 'digit')} for a submission."
        if needed is None:
            yield f"{count(len(self.seen) // 2, 'submission')} did not tell {game.asks}."
        else:
            cost = needed * max(1, game.answers - 1)
            told = f"{count(needed, 'submission')} told {game.asks}, so about {cost:,} reveal one {game.kind}"
            every = f"{self.revealed:,} of {count(game.secrets, game.kind)}"
            yield f"{told}, and the {self.limit:,} allowed ones {every}." if self.limit else f"{told}."
        bits, all_bits = numbers * math.log2(10**digits + 1), game.secrets * math.log2(max(2, game.answers))
        yield f"No attack learns more than {bits:,.0f} bits from a submission; the truth has at most {all_bits:,.0f}."
        if self.limit is None:
            yield "The bundle does not limit the number of submissions: enter a limit on the platform."
        elif bits * self.limit < all_bits:
            yield f"So {self.limit:,} submissions cannot reveal all of it."
        else:
            yield "To reveal less, allow fewer submissions, show fewer digits or numbers, or use more items."


PLAYED |= {"guessing": judge_guessing, "climbing": judge_climbing}
