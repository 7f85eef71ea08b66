"""What every attack works with: calls of the evaluator, cases to call it with, and the options of the audit."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tieproof.audit.cases import DIMENSIONS, ITEMS, QUERIES, Case, Layout
from tieproof.audit.conventions import Convention, Kind
from tieproof.audit.luck import DRAWS, Luck
from tieproof.audit.outcomes import SINGLE, Outcome
from tieproof.audit.verdicts import Finding, Verdict
from tieproof.measures import Measure
from tieproof.ties import Array

Call = Callable[[Case, Mapping[str, Any]], Outcome]


class Dice(NamedTuple):
    """Where the numbers of a blind system come from.

    random : a generator
    kind : of the evaluator's convention
    """

    random: np.random.Generator
    kind: Kind

    def plain(self, count: int, width: int) -> Array:
        """What blind systems are compared with: normal vectors, or scores between 0 and 1, (count, width)."""
        if self.kind == "scores":
            return self.random.random((count, width))
        return self.random.normal(size=(count, width)).astype(np.float32)


Rows = Callable[[Dice, int, int], Array]
"""(count, width) numbers that no input has gone into: the vectors of items, or their scores for all queries."""


@dataclass(frozen=True)
class Options:
    """What is known of the evaluator, and what the audit is made of; the function `tieproof.audit` explains each."""

    takes: str | None = None
    larger_is_better: bool = True
    limits: tuple[float, float] | None = (0.0, 1.0)
    measure: str | Measure | Mapping[str, str | Measure] | None = None
    distance: str = "cosine"
    vary: Mapping[str, Sequence[Any]] | None = None
    attacks: Sequence[str] | None = None
    seed: int = 0
    time_limit: float = 30.0
    isolate: bool = False


@dataclass
class Examination:
    """An audit on its way.

    baselines : the scores of random embeddings by layout and measure; a layout that failed has its outcome
    """

    convention: Convention
    options: Options
    call: Call
    baselines: dict[str, dict[str, Luck] | Outcome] = field(default_factory=dict)

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

    def blind_case(self, layout: Layout, rows: Rows, random: np.random.Generator) -> Case:
        """Rows for items (and queries) whose labels are laid out like that."""
        labels = layout.labels(ITEMS, random)
        kind = self.convention.kind
        dice = Dice(random, kind)
        if kind == "leave-one-out":
            return Case(rows(dice, ITEMS, DIMENSIONS), labels)
        query_labels = layout.labels(QUERIES, random)
        if kind == "scores":
            return Case(rows(dice, ITEMS, QUERIES), labels, query_labels=query_labels)
        both = rows(dice, ITEMS + QUERIES, DIMENSIONS)
        return Case(both[:ITEMS], labels, both[ITEMS:], query_labels)

    def baseline(self, layout: Layout) -> dict[str, Luck] | Outcome:
        """The scores of random rows on a layout, by measure; or the outcome of the call that failed."""
        if layout.name not in self.baselines:
            self.baselines[layout.name] = self.measure_luck(layout)
        return self.baselines[layout.name]

    def measure_luck(self, layout: Layout) -> dict[str, Luck] | Outcome:
        """Many draws of random rows."""
        values: dict[str, list[float]] = {}
        for draw in range(DRAWS):
            case = self.blind_case(layout, Dice.plain, self.random("random", layout.name, draw))
            outcome = self.score(case)
            if outcome.problem:
                return outcome
            for name, value in outcome.values.items():
                values.setdefault(name, []).append(value)
        return {name: Luck.of(found) for name, found in values.items()}

    def failed(self, attack: str, outcome: Outcome, where: str) -> list[Finding]:
        """Findings of a call that gave no number, one for each measure."""
        verdict = Verdict(outcome.problem or Verdict.CRASHED)
        return [
            Finding(attack, measure, verdict, detail=f"{where}: {outcome.message.rstrip('.')}.")
            for measure in self.measures
        ]
