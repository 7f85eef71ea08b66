"""Attacks on what a scoring program shows about the truth: guessing offline, and hill climbing on scores.

The attacker knows everything except which of two truths is the real one; they differ in an exchange of labels. The
starting kit gives the program to everybody, so the attacker can compute what it shows for either truth. Whatever
differs tells which guess is right. The guess replaces the truth only in the temporary folders of a trial.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.kit import Array, count
from tieproof.trials.audit.luck import rounding
from tieproof.trials.competition.inspection.attacks import FileAttack, Material, Secret, WriteSubmission
from tieproof.trials.competition.inspection.judging import Scored, TaskTrial
from tieproof.trials.competition.truth import GALLERY, GROUP, ID, LABEL, QUERY, ROLE, table
from tieproof.trials.findings import Finding, Verdict, told

LISTED, TRIED = 10, 100  # documents that a run lists for each query, and queries for which a pair is searched
USAGE = "Usage"  # the column of Kaggle's solution with the part that a row belongs to, which is the name of the task
CLIMBS = 8  # the most submissions by which hill climbing tries to tell one label


@dataclass(frozen=True)
class Game:
    """A submission, and a guess: the rows of another truth."""

    hand_in: WriteSubmission
    secret: Secret
    guess: list[list[str]]
    asks: str  # the question that the guess answers, in words
    kind: str  # what the truth holds: "label" or "judgment"
    secrets: int  # the number of them
    answers: int  # the number of distinct labels, or of judgments of a document

    def __call__(self, folder: Path) -> None:
        """Write the submission."""
        self.hand_in(folder)

    def suppose(self, folder: Path) -> None:
        """Replace the truth in a folder by the guess."""
        comma = self.secret.place.suffix.lower() == ".csv"
        text = table(self.guess) if comma else "".join(" ".join(row) + "\n" for row in self.guess)
        (folder / self.secret.place).write_text(text, encoding="utf-8")


class GuessedItem(NamedTuple):
    """An item: its row in a submission, its row in the file of the truth, and what that file tells about it."""

    at: int
    row: int
    label: str
    group: str
    role: str


def _items_of(material: Material) -> list[GuessedItem]:
    """The items of a sample in random order, if the truth is a table with id and label, or has one label per line."""
    form, rows = material.form, material.secret.rows
    header = rows[0] if rows else []
    named = {ID, LABEL} <= set(header)
    if form.is_run or len(set(map(len, rows))) != 1 or not (named or len(header) == 1):
        return []
    cells = [dict(zip(header, row, strict=True)) if named else {LABEL: row[0]} for row in rows]
    known = {cell[ID]: at for at, cell in enumerate(cells)} if named else {}
    places = [known.get(name, 0) for name in form.ids] if form.names_rows else range(named, len(rows))
    items = [
        GuessedItem(at, row, cells[row][LABEL], cells[row].get(GROUP, ""), cells[row].get(ROLE, ""))
        for at, row in enumerate(places)
        if (row or not named) and cells[row].get(USAGE, material.task) == material.task
    ]
    return [items[at] for at in material.random.permutation(len(items))] if len(places) == len(form.ids) else []


def _pair_of(items: Sequence[GuessedItem], same: bool) -> tuple[GuessedItem, GuessedItem] | None:
    """A query, and an item of its gallery, that share a label or do not."""
    for query in [item for item in items if item.role in ("", QUERY)][:TRIED]:
        for item in items[::-1]:
            counted = item is not query and item.role in ("", GALLERY) and not query.group == item.group != ""
            if counted and (query.label == item.label) is same:
                return query, item
    return None


def _two_pairs(material: Material) -> Game | None:
    """Two pairs of equal vectors, of which the first shares a label; the guess is that the second does instead."""
    if material.form.is_run:
        return _two_queries(material)
    items = _items_of(material)
    alike = _pair_of(items, same=True)
    other = alike and _pair_of([item for item in items if item not in alike], same=False)
    if not alike or not other:
        return None
    # All other items have one vector, so the guess only exchanges values of single queries, and no mean changes.
    rows = np.zeros((len(material.form.ids), max(material.form.rows.shape[1], 3)))
    rows[:, 0] = 1
    for direction, pair in enumerate((alike, other), 1):
        for item in pair:
            rows[item.at, [0, direction]] = 0, 1
    return _game_of_vectors(material, items, rows, (alike[0], other[0]), (alike[1], other[1]))


def _one_pair(material: Material) -> Game | None:
    """Random vectors, of which two that share a label are equal; the guess is that they share none."""
    if material.form.is_run:
        return _one_document(material)
    items = _items_of(material)
    alike = _pair_of(items, same=True)
    other = alike and _pair_of([alike[0], *(item for item in items if item not in alike)], same=False)
    if not alike or not other:
        return None
    rows = material.random.normal(size=material.form.rows.shape)
    rows[alike[1].at] = rows[alike[0].at]
    return _game_of_vectors(material, items, rows, (alike[1], other[1]))


def _game_of_vectors(
    material: Material, items: Sequence[GuessedItem], submitted: Array, *pairs: tuple[GuessedItem, GuessedItem]
) -> Game:
    """The game of a submission; in the guess, the items of each pair have exchanged their labels and groups."""
    rows = material.secret.rows
    guess, header = [[*row] for row in rows], rows[0]
    columns = [header.index(name) for name in (LABEL, GROUP) if name in header] or [0]
    for one, other in pairs:
        for at in columns:
            guess[one.row][at], guess[other.row][at] = rows[other.row][at], rows[one.row][at]
    labels = len({item.label for item in items})
    hand_in = material.form.handing_in(material.form.ids, submitted)
    return Game(hand_in, material.secret, guess, "whether two items share a label", "label", len(items), labels)


def _relevant_in(secret: Secret) -> dict[str, list[str]]:
    """The relevant documents of each query, if the truth is a table of judgments (qrels)."""
    relevant: dict[str, list[str]] = {}
    for row in secret.rows if {len(row) for row in secret.rows} == {4} else ():
        if row[3].isdigit() and int(row[3]):
            relevant.setdefault(row[0], []).append(row[2])
    return relevant


def _two_queries(material: Material) -> Game | None:
    """One list of documents for all queries, which begins with those of one query; the guess is another query."""
    relevant = _relevant_in(material.secret)
    if len(relevant) < 2:
        return None
    one, other = material.random.permutation(sorted(relevant)).tolist()[:2]
    ranked = list(dict.fromkeys([*relevant[one], *chain(*relevant.values())]))[:LISTED]
    scores = {(query, document): -float(rank) for query in relevant for rank, document in enumerate(ranked)}
    swap = {one: other, other: one}
    return _game_of_run(material, scores, lambda query, document: (swap.get(query, query), document))


def _one_document(material: Material) -> Game | None:
    """Random scores, but a relevant document is first for a query; the guess is that another one is relevant."""
    relevant = _relevant_in(material.secret)
    if len(relevant) < 2:
        return None
    asked, other = material.random.permutation(sorted(relevant)).tolist()[:2]
    first = relevant[asked][0]
    stranger = next((each for each in relevant[other] if each not in relevant[asked]), f"{first}-other")
    pool = list(dict.fromkeys([first, stranger, *chain(*relevant.values())]))[:LISTED]
    scores = {(query, document): float(material.random.random()) for query in relevant for document in pool}
    scores[asked, first] = 2.0
    swap = {(asked, first): (asked, stranger), (asked, stranger): (asked, first)}
    return _game_of_run(material, scores, lambda *judged: swap.get(judged, judged))


Pair = tuple[str, str]  # a query and a document


def _game_of_run(material: Material, scores: dict[Pair, float], swap: Callable[[str, str], Pair]) -> Game:
    """The game of a run; the guess swaps queries or documents of the judgments."""
    guess = [[*row] for row in material.secret.rows]
    for row in guess:
        row[0], row[2] = swap(row[0], row[2])
    form = material.form._replace(ids=tuple(f"{query} {document}" for query, document in scores))
    hand_in = form.handing_in(form.ids, np.array(list(scores.values()))[:, None])
    return Game(hand_in, material.secret, guess, "whether a document is relevant", "judgment", len(guess), 2)


def _judge_guessing(trial: TaskTrial, attack: FileAttack, game: WriteSubmission) -> Finding:
    """The finding on offline guessing, which gains if something shown depends on the guess though no score does."""
    assert isinstance(game, Game)
    outcomes = [trial.scorer(game, prepare) for prepare in (None, game.suppose, None, game.suppose)]
    for each in outcomes:
        if each.problem is not None:
            return trial.without_score(attack, each)
    real, guess = outcomes[:2]
    scores = [*real.numbers.values(), *guess.numbers.values()] if real.numbers != guess.numbers else []
    told = [word for word in differences([each.shown for each in outcomes]) if not _is_one_of(word, scores)]
    if not told:
        return trial.finding(attack, Verdict.HELD, real.score, f"{attack.does}: only scores tell guesses apart.")
    detail = (
        f"{attack.does}: participants see '{told[0]}', which other labels with the same scores would change. Whoever "
        "can recompute it learns labels by guessing, without another submission. Show rounded scores only."
    )
    return trial.finding(attack, Verdict.EXPLOITABLE, real.score, detail)


def differences(shown: Sequence[str]) -> list[str]:
    """The words that depend on the guess alone, of the text for the truth, the guess, and both of them again."""
    words = zip(*(re.findall(r"[\w.+-]+", text) for text in shown), strict=False)
    return [real for real, guess, again, guess_again in words if real == again != guess == guess_again]


def _is_one_of(word: str, scores: Sequence[float]) -> bool:
    with suppress(ValueError):
        value = float(word)
        return any(abs(value - score) <= 0.5 * 10.0 ** -_digits_of(value) + rounding(score) for score in scores)
    return False


def _digits_of(value: float) -> int:
    """The number of decimal digits of a number."""
    return max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent)) if math.isfinite(value) else 0


def _judge_climbing(trial: TaskTrial, attack: FileAttack, game: WriteSubmission) -> Finding:
    """The finding on hill climbing, which gains if the allowed submissions reveal all labels, one after another."""
    assert isinstance(game, Game)
    limit = trial.scorer.task.submissions
    outcomes: list[Scored] = []
    needed = None
    for number in range(1, 1 + min(CLIMBS, limit or CLIMBS)):
        again = attack.submission(trial.material(attack.name, number))
        assert isinstance(again, Game)
        real, guess = trial.scorer(again), trial.scorer(again, again.suppose)
        for each in (real, guess):
            if each.problem is not None:
                return trial.without_score(attack, each)
        outcomes += [real, guess]
        if real.numbers != guess.numbers:
            needed = number
            break
    # Each submission that answers the question is compared with an item of every other label.
    cost = (needed or 0) * max(1, game.answers - 1)
    revealed = min(game.secrets, limit // cost) if cost and limit else 0
    verdict = Verdict.EXPLOITABLE if revealed == game.secrets else Verdict.HELD
    detail = " ".join(_climb_in_words(game, outcomes, needed, limit, cost, revealed))
    return trial.finding(attack, verdict, outcomes[0].score, detail)


def _climb_in_words(
    game: Game, outcomes: Sequence[Scored], needed: int | None, limit: int | None, cost: int, revealed: int
) -> Iterator[str]:
    """What a submission reveals at least, and what any attack can learn at most.

    needed : the number of submissions that answered the question; None if none of those tried did
    limit : the most submissions of a participant; None if the bundle does not say
    cost, revealed : how many submissions reveal one label, and how many labels the allowed ones reveal
    """
    numbers = len(outcomes[0].numbers)
    digits = max(_digits_of(number) for each in outcomes for number in each.numbers.values())
    yield f"Participants see {count(numbers, 'number')} of {count(digits, 'digit')} for a submission."
    if needed is None:
        yield f"{count(len(outcomes) // 2, 'submission')} did not tell {game.asks}."
    else:
        told = f"{count(needed, 'submission')} told {game.asks}, so about {cost:,} reveal one {game.kind}"
        every = f"{revealed:,} of {count(game.secrets, game.kind)}"
        yield f"{told}, and the {limit:,} allowed ones {every}." if limit else f"{told}."
    bits, all_bits = numbers * math.log2(10**digits + 1), game.secrets * math.log2(max(2, game.answers))
    yield f"No attack learns more than {bits:,.0f} bits from a submission; the truth has at most {all_bits:,.0f}."
    if limit is None:
        yield "The bundle does not limit the number of submissions: enter a limit on the platform."
    elif bits * limit < all_bits:
        yield f"So {limit:,} submissions cannot reveal all of it."
    else:
        yield "To reveal less, allow fewer submissions, show fewer digits or numbers, or use more items."


# The functions that judge attacks that are scored for the truth and for a guess, by their kinds.
GAMES = {"guessing": _judge_guessing, "climbing": _judge_climbing}
MAKERS = {"offline guessing": _two_pairs, "hill climbing": _one_pair}
ATTACKS = [FileAttack(name, make, **told(name, "check")) for name, make in MAKERS.items()]
