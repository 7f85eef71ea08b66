"""A competition for a platform: each phase has times, a truth, and the files that participants get."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tieproof.distances import DISTANCES as KNOWN
from tieproof.errors import InputError
from tieproof.trials.competition import settings
from tieproof.trials.competition.scoring import Scoring, Task
from tieproof.trials.competition.settings import Competition, Phase, Platform
from tieproof.trials.competition.truth import Truth, read_judgments, read_labels, with_gallery
from tieproof.trials.sandbox.folders import below

LONGEST_TITLE = 100  # the most characters of a title on EvalAI; the other platforms allow more


class HostedPhase(NamedTuple):
    """A time during which submissions are accepted, and the data that they are scored on."""

    name: str
    codename: str  # the name as it is used in paths
    start: datetime  # in UTC
    end: datetime  # in UTC
    truth: Truth | None  # the table that the scoring program reads, sorted by id; None for runs
    qrels: Path | None  # the judgments of runs
    public: tuple[Path, ...]  # the files and folders that participants get
    baseline: Path | None  # a submission of the organizer; None for random numbers

    @property
    def content(self) -> bytes:
        """The content of the truth's file."""
        return self.truth.to_csv().encode() if self.truth else self.judged.read_bytes()

    @property
    def judged(self) -> Path:
        """The qrels of a run."""
        assert self.qrels is not None
        return self.qrels

    @property
    def ids(self) -> list[str]:
        """The ids of all items, or of the queries of a run, sorted."""
        return list(self.truth.ids) if self.truth else sorted(read_judgments(self.judged))


class Hosted(NamedTuple):
    """A competition for a platform, all of whose files exist."""

    title: str
    platform: Platform
    scoring: Scoring
    phases: tuple[HostedPhase, ...]


def hosted(competition: Competition) -> Hosted:
    """The competition for a platform; InputError if only a judge can run it, or something is missing."""
    settings.check_all(competition, _unhostable(competition))
    phases = tuple(map(_phase_of, competition.phases))
    if len({bool(phase.truth and phase.truth.groups) for phase in phases}) > 1:
        raise InputError(
            f"{competition.path} has groups only in some phases. Give all phases groups, or none.", "labels"
        )
    platform = competition.platform
    task: Task = "run" if competition.task == settings.RUN else "embeddings"
    limits = platform.megabytes, competition.dimensions, platform.digits
    scoring = Scoring(task, competition.measures, competition.distance or "cosine", *limits)
    return Hosted(competition.title, platform, scoring, phases)


def _unhostable(competition: Competition) -> Iterator[settings.Contradiction]:
    """What keeps a competition from a platform: its settings, a file that is missing, or one that would be told."""
    platform, distance, phases = competition.platform, competition.distance, competition.phases
    if competition.task == settings.DISTANCES:
        yield "task", f"has the task {settings.DISTANCES}, for which systems must be run. Use tieproof judge for it."
    if (length := len(competition.title)) > LONGEST_TITLE:
        yield "title", f"has a title of {length} characters. Give at most {LONGEST_TITLE}."
    if distance is not None and KNOWN[distance].bits:
        advice = "Let participants hand in 0 and 1 as numbers and use cityblock, which gives the same distances."
        yield "distance", f"has the distance {distance}, which needs packed bits. {advice}"
    if len({phase.gallery_labels is None for phase in phases}) > 1:
        yield "gallery_labels", "has a gallery only in some phases. Give all phases one, or none."
    named = [platform.logo, platform.terms, *(place for phase in phases for place in (*phase.data, phase.baseline))]
    for place in named:
        if place is not None and not place.exists():
            advice = f"Give a path relative to the folder of {competition.path}."
            yield None, f"names {place}, which does not exist. {advice}"
    secrets = [competition.path, competition.judge.seed]
    secrets += [place for phase in phases for place in (phase.labels, phase.gallery_labels, phase.qrels)]
    hidden = {place.resolve() for place in secrets if place is not None}
    for number, phase in enumerate(phases, 1):
        for name in ("start", "end"):
            if getattr(phase, name) is None:
                yield name, f"lacks the key phases[{number}].{name}. Give a date or a time; platforms need it."
        public = _public(phase)
        if len({place.name for place in public}) < len(public):
            yield "gallery", f"has items and a gallery that are both called {public[0].name}. Rename one of them."
        given = ((place, inner) for place in public for inner in (place, *(below(place) if place.is_dir() else ())))
        for place, inner in given:
            if inner.resolve() in hidden:
                secret = f"{inner} in it is secret. Move the secret file to another folder."
                yield "items", f"gives participants {place}, but {secret}"


def _public(phase: Phase) -> tuple[Path, ...]:
    return tuple(place for place in (phase.items, phase.gallery) if place is not None)


def _phase_of(phase: Phase) -> HostedPhase:
    """A phase whose files exist."""
    truth = None if phase.labels is None else read_labels(phase.labels)
    if truth and phase.gallery_labels is not None:
        truth = with_gallery(truth, read_labels(phase.gallery_labels), f"The phase {phase.name}")
    same = {name: value for name, value in phase._asdict().items() if name in HostedPhase._fields}
    return HostedPhase(
        **same, codename=settings.slug(phase.name), truth=truth and truth.in_order(), public=_public(phase)
    )
