"""`Contest`: the phase of a competition in which systems are judged, checked for that."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.settings import DISTANCES, RUN, Competition, Phase
from tieproof.errors import InputError

LEAST_SEED = 16
"""Letters of a seed that nobody guesses."""


class Limits(NamedTuple):
    """What a system may take; what each is stands at `Judging` in competition/settings.py."""

    seconds: float
    total_seconds: float | None
    memory: int
    output: int
    dimensions: int


class Contest(NamedTuple):
    """A phase of a competition, with the files that a judge needs; `contest` makes it."""

    competition: Competition
    phase: Phase
    items: Path
    labels: Path
    seed: Path

    @property
    def limits(self) -> Limits:
        """What a system may take."""
        given = self.competition.judge
        dimensions = 1 if self.gives_distances else self.competition.dimensions
        return Limits(given.seconds, given.total_seconds, given.memory, given.output, dimensions)

    @property
    def gives_distances(self) -> bool:
        """Whether a system is asked for numbers of pairs, and not for vectors of items."""
        return self.competition.task == DISTANCES

    @property
    def secrets(self) -> tuple[Path, ...]:
        """What no system may see: the competition itself, the test sets of all its phases, and the seed."""
        data = [place for phase in self.competition.phases for place in phase.data]
        return tuple(place.resolve() for place in (self.competition.path, *data, self.seed))

    @property
    def digest(self) -> str:
        """Of all that decides what is asked and how it is scored, but for the data."""
        found = self.competition
        rules = found.judge._replace(seed=None, runs=0)
        decided = (found.title, found.task, found.measures, found.distance, found.dimensions, self.phase.name)
        return hashlib.sha256(repr((*decided, *rules)).encode()).hexdigest()

    def read_seed(self) -> bytes:
        """The organiser's secret."""
        try:
            secret = self.seed.read_bytes().strip()
        except OSError as error:
            raise InputError(
                f"The seed {self.seed} cannot be read ({error.strerror}). Make one and keep it: "
                'python -c "import secrets; print(secrets.token_hex(32))" > seed.txt'
            ) from None
        if len(secret) < LEAST_SEED:
            raise InputError(
                f"The seed in {self.seed} has {len(secret)} letters, which can be guessed. It needs {LEAST_SEED} or "
                "more: secrets.token_hex(32) of Python makes one."
            )
        return secret


def contest(competition: Competition, name: str | None) -> Contest:
    """The phase of this name, or the only one; InputError where a judge cannot hold it."""
    found, path = competition, competition.path
    if found.task == RUN:
        raise InputError(
            f"{path} has the task {RUN}, and a judge asks systems for embeddings or distances. Runs are handed in on "
            "a platform: tieproof competition new.",
            "competition",
        )
    named = [phase for phase in found.phases if name in (None, phase.name)]
    if len(named) != 1:
        known = ", ".join(phase.name for phase in found.phases)
        which = "several phases" if name is None else f"no phase '{name}'"
        raise InputError(f"{path} has {which}. Name the one that is judged: {known}.", "phase")
    (phase,) = named
    number = found.phases.index(phase) + 1
    for key in ("items", "labels", *(["gallery"] if phase.gallery_labels else [])):
        if getattr(phase, key) is None:
            raise InputError(f"{path} lacks the key phases[{number}].{key}. Give the file of it, for the judge.", key)
    if found.judge.seed is None:
        raise InputError(
            f"{path} lacks the key judge.seed. Give the file of a secret that the organiser keeps.", "seed"
        )
    assert phase.items is not None
    assert phase.labels is not None
    return Contest(found, phase, phase.items, phase.labels, found.judge.seed)
