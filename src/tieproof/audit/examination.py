"""What every attack works with: calls of the evaluator, labels and cases to call it with, and the options."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from tieproof.audit.cases import DIMENSIONS, Case, Layout, groups_of
from tieproof.audit.conventions import Convention, Kind
from tieproof.audit.luck import DRAWS, Luck
from tieproof.audit.outcomes import SINGLE, Outcome
from tieproof.audit.verdicts import Finding, Verdict
from tieproof.measures import Measure
from tieproof.ties import Array, IntArray

Call = Callable[[Case, Mapping[str, Any]], Outcome]
Average = Literal["mean", "macro", "other"]
"""What a number is of the values of single queries: their mean, the mean of the classes' means, or none of these."""
AVERAGES: tuple[Average, ...] = get_args(Average)


class Dice(NamedTuple):
    """Where the numbers of a blind system come from.

    random : a generator
    kind : of the evaluator's convention
    ascending : whether smaller scores are nearer
    """

    random: np.random.Generator
    kind: Kind
    ascending: bool = False

    def plain(self, count: int, width: int) -> Array:
        """What blind systems are compared with: normal vectors, or scores between 0 and 1, (count, width)."""
        if self.kind == "scores":
            return self.random.random((count, width))
        return self.random.normal(size=(count, width)).astype(np.float32)


Rows = Callable[[Dice, int, int], Array]
"""(count, width) numbers that no input has gone into: the vectors of items, or their scores for all queries."""


class Board(NamedTuple):
    """What blind systems are tried on: labels in some order, of items and of queries, where these are others.

    key : what tells it from all other boards of the audit
    """

    key: tuple[str | int, ...]
    labels: IntArray
    query_labels: IntArray | None
    groups: IntArray | None
    query_groups: IntArray | None

    @property
    def asked(self) -> int:
        """The number of queries."""
        return len(self.labels if self.query_labels is None else self.query_labels)


@dataclass(frozen=True)
class Options:
    """What is known of the evaluator, and what the audit is made of; the function `tieproof.audit` explains each."""

    takes: str | None = None
    larger_is_better: bool = True
    limits: tuple[float, float] | None = (0.0, 1.0)
    measure: str | Measure | Mapping[str, str | Measure] | None = None
    distance: str = "cosine"
    average: Average | None = None
    pooled: bool = False
    thresholds: bool = False
    vary: Mapping[str, Sequence[Any]] | None = None
    attacks: Sequence[str] | None = None
    skip: Sequence[str] = ()
    items: int = 240
    queries: int = 240
    seed: int = 0
    time_limit: float = 30.0
    isolate: bool = False


@dataclass
class Examination:
    """An audit on its way.

    call : what calls the evaluator
    anew : the same in a process that has not called it before, where there can be one
    takes_other_sizes : whether the evaluator takes other numbers of items than the usual one
    trials : how many scores may be called an exploit: those of each attack on each layout
    baselines : the scores of random embeddings by layout, times as many items, and measure; a layout that failed has
        its outcome
    beside : the outcome of random embeddings on a board, by its key
    """

    convention: Convention
    options: Options
    call: Call
    anew: Call | None = None
    takes_other_sizes: bool = True
    trials: int = 1
    baselines: dict[tuple[str, float], dict[str, Luck] | Outcome] = field(default_factory=dict)
    beside: dict[tuple[str | int, ...], Outcome] = field(default_factory=dict)

    @property
    def sign(self) -> int:
        """1 where larger is better, else -1."""
        return 1 if self.options.larger_is_better else -1

    @property
    def measures(self) -> list[str]:
        """The names of the evaluator's numbers, as far as it has given any."""
        names = [name for lucks in self.baselines.values() if isinstance(lucks, dict) for name in lucks]
        return list(dict.fromkeys(names)) or [SINGLE]

    def score(self, case: Case, **settings: Any) -> Outcome:
        """One call of the evaluator."""
        return self.call(case, settings)

    def random(self, *key: str | int) -> np.random.Generator:
        """A generator for this key; the same in every audit with the same seed."""
        words = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in key]
        return np.random.default_rng([self.options.seed, *words])

    def board(self, layout: Layout, number: int = 0, times: float = 1, one_more: bool = False) -> Board:
        """Labels that are laid out like that; each number but 0 has other numbers of items and of queries.

        times : how many times as many items and queries as usual
        one_more : one item and query more, which makes a board that is otherwise the same
        """
        key = (layout.name, str(times), number, one_more)
        random = self.random("labels", *key)
        items, queries = (int(times * size) for size in (self.options.items, self.options.queries))
        if number and self.takes_other_sizes:
            least, most = (0.5, 1.5) if times == 1 else (1.0, 1.3)
            items, queries = resized(items, number, least, most), resized(queries, number + 1, least, most)
        items, queries = items + one_more, queries + one_more
        labels = layout.labels(items, random)
        query_labels = None if self.convention.kind == "leave-one-out" else layout.labels(queries, random)
        grouped = self.convention.grouped
        return Board(
            key,
            labels,
            query_labels,
            groups_of(labels, random) if grouped else None,
            groups_of(query_labels, random) if grouped and query_labels is not None else None,
        )

    def blind_case(self, board: Board, rows: Rows, random: np.random.Generator) -> Case:
        """Rows for the items (and queries) of a board."""
        dice = Dice(random, self.convention.kind, self.convention.ascending)
        count, asked = len(board.labels), board.asked
        if self.convention.kind == "leave-one-out":
            return Case(rows(dice, count, DIMENSIONS), board.labels, groups=board.groups)
        if self.convention.kind == "scores":
            return Case(rows(dice, count, asked), board.labels, None, board.query_labels)
        both = rows(dice, count + asked, DIMENSIONS)
        return Case(both[:count], board.labels, both[count:], board.query_labels, board.groups, board.query_groups)

    def random_case(self, board: Board, draw: int = 0) -> Case:
        """Random embeddings on a board."""
        return self.blind_case(board, Dice.plain, self.random("random", *board.key, draw))

    def baseline(self, layout: Layout, times: float = 1, draws: int = DRAWS) -> dict[str, Luck] | Outcome:
        """The scores of random rows on a layout, by measure; or the outcome of the call that failed."""
        key = layout.name, times
        if key not in self.baselines:
            self.baselines[key] = self.measure_luck(self.board(layout, 0, times), draws)
        return self.baselines[key]

    def measure_luck(self, board: Board, draws: int) -> dict[str, Luck] | Outcome:
        """Many draws of random rows."""
        values: dict[str, list[float]] = {}
        for draw in range(draws):
            outcome = self.score(self.random_case(board, draw))
            if outcome.problem:
                return outcome
            for name, value in outcome.values.items():
                values.setdefault(name, []).append(value)
        return {name: Luck.of(found) for name, found in values.items()}

    def at_random(self, board: Board) -> Outcome:
        """The outcome of random embeddings on a board."""
        if board.key not in self.beside:
            self.beside[board.key] = self.score(self.random_case(board))
        return self.beside[board.key]

    def failed(self, attack: str, outcome: Outcome, where: str) -> list[Finding]:
        """Findings of a call that gave no number, one for each measure."""
        verdict = Verdict(outcome.problem or Verdict.CRASHED)
        return [
            Finding(attack, measure, verdict, detail=f"{where}: {outcome.message.rstrip('.')}.")
            for measure in self.measures
        ]


def resized(count: int, number: int, least: float = 0.5, most: float = 1.5) -> int:
    """From `least` to `most` times as many; other numbers give other sizes, spread evenly.

    >>> [resized(240, number) for number in range(1, 6)]
    [268, 176, 324, 233, 141]
    """
    return int(count * (least + (most - least) * (number * 0.6180339887498949 % 1)))
