"""`Contest`: the phase of a competition in which systems are judged, after it has been checked."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.settings import DISTANCES, RUN, Competition, Phase
from tieproof.errors import InputError

LEAST_SEED = 16
"""The fewest characters of a seed that cannot be guessed."""


class Limits(NamedTuple):
    """The resources that a system may use; `Judging` in competition/settings.py explains each of them."""

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
        """The resources that a system may use."""
        given = self.competition.judge
        dimensions = 1 if self.gives_distances else self.competition.dimensions
        return Limits(given.seconds, given.total_seconds, given.memory, given.output, dimensions)

    @property
    def gives_distances(self) -> bool:
        """Whether systems answer with a distance for each pair instead of a vector for each item."""
        return self.competition.task == DISTANCES

    @property
    def secrets(self) -> tuple[Path, ...]:
        """The files that no system may read: the competition's file, the test sets of all phases, and the seed."""
        data = [place for phase in self.competition.phases for place in phase.data]
        return tuple(place.resolve() for place in (self.competition.path, *data, self.seed))

    @property
    def digest(self) -> str:
        """A digest of everything except the data that decides what is asked and how it is scored."""
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
                f"The seed in {self.seed} has {len(secret)} characters, which can be guessed. Give {LEAST_SEED} or "
                "more, as secrets.token_hex(32) of Python does."
            )
        return secret


def contest(competition: Competition, name: str | None) -> Contest:
    """The phase with a name, or the only phase; InputError if a judge cannot run it."""
    found, path = competition, competition.path
    if found.task == RUN:
        raise InputError(
            f"{path} has the task {RUN}, but a judge asks systems for embeddings or distances. Let participants hand "
            "in runs on a platform: tieproof competition new.",
            "competition",
        )
    named = [phase for phase in found.phases if name in (None, phase.name)]
    if len(named) != 1:
        known = ", ".join(phase.name for phase in found.phases)
        which = "several phases" if name is None else f"no phase '{name}'"
        raise InputError(f"{path} has {which}. Give the name of the phase to judge: {known}.", "phase")
    (phase,) = named
    number = found.phases.index(phase) + 1
    for key in ("items", "labels", *(["gallery"] if phase.gallery_labels else [])):
        if getattr(phase, key) is None:
            raise InputError(f"{path} lacks the key phases[{number}].{key}. Give its file; the judge needs it.", key)
    if found.judge.seed is None:
        raise InputError(
            f"{path} lacks the key judge.seed. Give a file with a secret that only the organiser knows.", "seed"
        )
    assert phase.items is not None
    assert phase.labels is not None
    return Contest(found, phase, phase.items, phase.labels, found.judge.seed)
