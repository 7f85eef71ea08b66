"""What an attack is, and what every attack uses: the options, calls of the evaluator, and the data for them."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from tieproof.kit import Array, IntArray
from tieproof.measures import Measure
from tieproof.trials.audit.cases import CLASSES, DIMENSIONS, Case, ClassLayout, groups_of
from tieproof.trials.audit.conventions import Convention
from tieproof.trials.audit.luck import DRAWS, LEVEL, LOOKS, MORE_LOOKS, Luck, differ, step_of
from tieproof.trials.audit.outcomes import SINGLE, Outcome
from tieproof.trials.audit.systems import BlindSystem, Dice
from tieproof.trials.findings import Finding, Verdict

Call = Callable[[Case, Mapping[str, Any]], Outcome]
Average = Literal["mean", "macro", "other"]
"""How a number is computed from the values of single queries: as their mean, the mean of class means, or neither."""
AVERAGES: tuple[Average, ...] = get_args(Average)


class Board(NamedTuple):
    """The labels that blind systems are tried on: those of the items and, if queries are separate, of the queries."""

    key: tuple[str | int, ...]  # identifies the board among all boards of the audit
    labels: IntArray
    query_labels: IntArray | None
    groups: IntArray | None = None
    query_groups: IntArray | None = None

    @property
    def asked(self) -> int:
        """The number of queries."""
        return len(self.labels if self.query_labels is None else self.query_labels)


@dataclass(frozen=True)
class Options:
    """The parameters of `tieproof.audit`, whose docstring explains each of them."""

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
    thorough: bool = False


# The attack to which every change of a number is put down that comes without any change of the data.
AGAIN = "calling again"

CODES: Array = np.array(
    [[(1, -0.5)[(place & label).bit_count() % 2] for place in range(DIMENSIONS)] for label in range(1, CLASSES + 1)],
    dtype=np.float32,
)
"""A vector for each class, as long and as far from all others, whose signs alone tell classes (of Hadamard)."""

MOST_NUMBERS = 200  # the most numbers of each measure that are kept in order to see to which step they are rounded
REPEATED_CRASHES = 3  # the number of crashes that are repeated, to see whether the evaluator crashes again


@dataclass
class Examination:
    """The state of a running audit."""

    convention: Convention
    options: Options
    call: Call  # calls the evaluator
    # Calls the evaluator in a process that has not called it before; None if there can be no such process.
    anew: Call | None = None
    takes_other_sizes: bool = True  # whether the evaluator accepts other numbers of items than the usual one
    trials: int = 1  # how many scores are tested for being an exploit: one for each attack on each layout
    # The scores of random embeddings for each measure, by layout and factor of the number of items; the outcome
    # instead, if a call on that layout failed.
    baselines: dict[tuple[str, float], dict[str, Luck] | Outcome] = field(default_factory=dict)
    # The outcomes of random embeddings, by the key of their board.
    beside: dict[tuple[str | int, ...], Outcome] = field(default_factory=dict)
    # The outcomes of easy queries, of hard ones and of both, which show whether a number is a mean.
    parts: list[Outcome] = field(default_factory=list)
    # Cases that were scored at the beginning, which must score the same at the end.
    begun: list[tuple[Case, Outcome]] = field(default_factory=list)
    # Different numbers that the evaluator has given so far, by measure.
    numbers: dict[str, set[float]] = field(default_factory=dict)
    crashes: int = 0  # how many calls have crashed
    is_steady: bool = True  # whether every answer that was asked for again was given again

    @property
    def level(self) -> float:
        """The largest probability of a single test: there are two for each look, at other sizes and at the same."""
        looks = MORE_LOOKS if self.options.thorough else LOOKS
        return LEVEL / (self.trials * len(self.measures) * 2 * len(looks))

    @property
    def sign(self) -> int:
        """1 if larger is better, otherwise -1."""
        return 1 if self.options.larger_is_better else -1

    @property
    def measures(self) -> list[str]:
        """The names of the numbers that the evaluator has given so far."""
        names = [name for lucks in self.baselines.values() if isinstance(lucks, dict) for name in lucks]
        if self.convention.kind == "recall":
            names = [*self.numbers]
        return list(dict.fromkeys(names)) or [SINGLE]

    def score(self, case: Case, **settings: Any) -> Outcome:
        """Call the evaluator once, or once more to see whether a crash repeats itself."""
        outcome = self.call(case, settings)
        if outcome.problem == "crashed" and self.crashes < REPEATED_CRASHES:
            self.crashes += 1
            self.is_steady &= self.call(case, settings).problem == "crashed"
        for name, value in outcome.values.items():
            if len(known := self.numbers.setdefault(name, set())) < MOST_NUMBERS:
                known.add(value)
        return outcome

    def step(self, measure: str) -> float:
        """The step to which the evaluator seems to round its numbers."""
        return step_of(self.numbers.get(measure, ()))

    def differ(self, measure: str, one: float, other: float) -> bool:
        """Whether two numbers of a measure differ by more than rounding."""
        return differ(one, other) and differ(one, other, self.step(measure))

    def same(self, one: Outcome, other: Outcome) -> bool:
        """Whether a second outcome has the numbers of the first one, but for rounding."""
        return not any(self.differ(name, value, other.value(name)) for name, value in one.values.items())

    def random(self, *key: str | int) -> np.random.Generator:
        """The random generator of a key; it is the same in every audit with the same seed."""
        words = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in key]
        return np.random.default_rng([self.options.seed, *words])

    def board(
        self, layout: ClassLayout, number: int = 0, times: float = 1, own: bool = False, same_size: bool = False
    ) -> Board:
        """The labels of a layout; every `number` other than 0 has other numbers of items and of queries.

        times : the factor of the usual number of items and queries
        own : whether the board has labels of its own, which the evaluator has never seen, and the same sizes
        same_size : whether the board has the usual numbers of items and queries, and other labels instead
        """
        key = (layout.name, str(times), number, own, same_size)
        random = self.random("labels", *key)
        items, queries = (int(times * size) for size in (self.options.items, self.options.queries))
        if number and self.takes_other_sizes and not same_size:
            least, most = (0.5, 1.5) if times == 1 else (1.0, 1.09)
            items, queries = _resized(items, number, least, most), _resized(queries, number + 1, least, most)
        labels = layout.labels(items, random)
        query_labels = None if self.convention.kind == "leave-one-out" else layout.labels(queries, random)
        if same_size:
            labels = layout.others(labels, random)
            query_labels = None if query_labels is None else layout.others(query_labels, random)
        grouped = self.convention.grouped
        return Board(
            key,
            labels,
            query_labels,
            groups_of(labels, random) if grouped else None,
            groups_of(query_labels, random) if grouped and query_labels is not None else None,
        )

    def blind_case(self, board: Board, system: BlindSystem, random: np.random.Generator) -> Case:
        """The case of a blind system: its rows for the items (and queries) of a board."""
        count, asked = len(board.labels), board.asked
        dice = Dice(random, self.convention.kind, count, self.convention.ascending)
        if self.convention.kind == "leave-one-out":
            return Case(system(dice, count, DIMENSIONS), board.labels, groups=board.groups)
        if self.convention.kind == "scores":
            return Case(system(dice, count, asked), board.labels, None, board.query_labels)
        both = system(dice, count + asked, DIMENSIONS)
        return Case(both[:count], board.labels, both[count:], board.query_labels, board.groups, board.query_groups)

    def dealt(self, board: Board, system: BlindSystem, *key: str | int) -> Case:
        """The case of a blind system on a board, with random numbers of the board and of a key."""
        return self.blind_case(board, system, self.random(*key, *board.key))

    def random_case(self, board: Board, draw: int = 0) -> Case:
        """Random embeddings on a board."""
        return self.blind_case(board, Dice.plain, self.random("random", *board.key, draw))

    def perfect_case(self, case: Case) -> Case:
        """A case with the same labels, from a system that knows them."""
        known = CODES
        if case.query_labels is None:
            return replace(case, items=known[case.labels])
        if case.queries is not None:
            return replace(case, items=known[case.labels], queries=known[case.query_labels])
        same = (case.labels[:, None] == case.query_labels).astype(np.float64)
        return replace(case, items=1 - same if self.convention.ascending else same, listed=None)

    def baseline(self, layout: ClassLayout, times: float = 1, draws: int = DRAWS) -> dict[str, Luck] | Outcome:
        """The scores of random rows on a layout, by measure, or the outcome of the call that failed."""
        key = layout.name, times
        if key not in self.baselines:
            self.baselines[key] = self._drawn_at_random(self.board(layout, 0, times), draws)
        return self.baselines[key]

    def _drawn_at_random(self, board: Board, draws: int) -> dict[str, Luck] | Outcome:
        values: dict[str, list[float]] = {}
        for draw in range(draws):
            outcome = self.score(self.random_case(board, draw))
            if outcome.problem:
                return outcome
            for name, value in outcome.values.items():
                values.setdefault(name, []).append(value)
        return {name: Luck.of(scores) for name, scores in values.items()}

    def at_random(self, board: Board) -> Outcome:
        """The outcome of random embeddings on a board."""
        if board.key not in self.beside:
            self.beside[board.key] = self.score(self.random_case(board))
        return self.beside[board.key]

    def failed(self, attack: str, outcome: Outcome, where: str) -> list[Finding]:
        """The findings on a call that gave no number, one for each measure."""
        verdict = Verdict(outcome.problem or Verdict.CRASHED)
        return [
            Finding(attack, measure, verdict, detail=f"{where}: {outcome.message.rstrip('.')}.")
            for measure in self.measures
        ]


def _resized(count: int, number: int, least: float = 0.5, most: float = 1.5) -> int:
    """A size from `least` to `most` times the count; different numbers give different sizes, spread evenly.

    >>> [_resized(240, number) for number in range(1, 6)]
    [268, 176, 324, 233, 141]
    """
    return int(count * (least + (most - least) * (number * 0.6180339887498949 % 1)))


AttackKind = Literal["blind", "order", "must not matter", "good system", "truth", "recall"]

WHERE: dict[str, Callable[[Convention, Options], bool]] = {
    "everywhere": lambda convention, options: True,
    "vectors": lambda convention, options: convention.kind != "scores",
    "queries": lambda convention, options: convention.kind != "leave-one-out",
    "arrays": lambda convention, options: not convention.written,
    "written": lambda convention, options: convention.written,
    "files": lambda convention, options: convention.files,
    "means": lambda convention, options: (
        convention.kind != "leave-one-out" and not options.pooled and options.average in (None, "mean")
    ),
    "no thresholds": lambda convention, options: not options.thresholds,
    "logits": lambda convention, options: (
        convention.kind == "scores" and not convention.ascending and not options.thresholds
    ),
    "measure": lambda convention, options: options.measure is not None,
    "vary": lambda convention, options: bool(options.vary),
    "isolate": lambda convention, options: options.isolate,
}
"""Where attacks apply, by the names that attacks.toml has for it."""


class Attack(NamedTuple):
    """One way to test an evaluator; all fields after `run` but `rows` are the columns that attacks.toml explains.

    name : as reports and options spell it
    kind : the question: does a blind system gain, does the order of the data matter, does anything else matter that
        must not, does a good system gain, is the number within the true interval, or is a recall right
    run : computes the findings from this attack and an audit, at least one for each measure
    rows : the rows that a blind system hands in
    """

    name: str
    kind: AttackKind
    run: Callable[["Attack", Examination], Iterator[Finding]]
    does: str
    why: str
    source: str = ""
    only: str = "everywhere"
    thorough: bool = False
    rows: BlindSystem | None = None
    fixed: bool = False
    wide: bool = False
    layouts: str = "order"
    times: float = 1
    unless: str = ""
    verdict: str = Verdict.CHANGES
    lasting: bool = False
    data: str = "usual"
    empty: bool = False
