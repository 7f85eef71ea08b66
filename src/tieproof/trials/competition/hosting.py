"""A competition for a platform: each phase has times, a truth, and the files that participants get."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tieproof.distances import DISTANCES as KNOWN
from tieproof.errors import InputError
from tieproof.trials.competition.scoring import Scoring
from tieproof.trials.competition.settings import DISTANCES, RUN, Competition, Phase, Platform, slug
from tieproof.trials.competition.truth import Truth, read_judgments, read_labels, with_gallery
from tieproof.trials.sandbox.trees import below

LONGEST_TITLE = 100
"""The most characters of a title on EvalAI; the other platforms allow more."""


class HostedPhase(NamedTuple):
    """A time during which submissions are accepted, and the data that they are scored on.

    codename : the name as it is used in paths
    start, end : times in UTC
    truth : the table that the scoring program reads, sorted by id; None for runs, which have `qrels` instead
    public : the files and folders that participants get
    baseline : a submission of the organizer; None for random numbers
    """

    name: str
    codename: str
    start: datetime
    end: datetime
    truth: Truth | None
    qrels: Path | None
    public: tuple[Path, ...]
    baseline: Path | None

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
    path = competition.path
    if competition.task == DISTANCES:
        raise InputError(
            f"{path} has the task {DISTANCES}, for which systems must be run. Use tieproof judge for it.", "task"
        )
    if len(competition.title) > LONGEST_TITLE:
        raise InputError(
            f"{path} has a title of {len(competition.title)} characters. Give at most {LONGEST_TITLE}.", "title"
        )
    if competition.distance is not None and KNOWN[competition.distance].bits:
        raise InputError(
            f"{path} has the distance {competition.distance}, which needs packed bits. Let participants hand in 0 "
            "and 1 as numbers and use cityblock, which gives the same distances.",
            "distance",
        )
    if len({(phase.gallery_labels is None) for phase in competition.phases}) > 1:
        raise InputError(f"{path} has a gallery only in some phases. Give all phases one, or none.", "gallery_labels")
    for place in (competition.platform.logo, competition.platform.terms):
        _check_there(place, path)
    phases = tuple(_phase_of(competition, number, phase) for number, phase in enumerate(competition.phases, 1))
    if len({bool(phase.truth and phase.truth.groups) for phase in phases}) > 1:
        raise InputError(f"{path} has groups only in some phases. Give all phases groups, or none.", "labels")
    platform = competition.platform
    scoring = Scoring(
        "run" if competition.task == RUN else "embeddings",
        competition.measures,
        competition.distance or "cosine",
        platform.megabytes,
        competition.dimensions,
        platform.digits,
    )
    return Hosted(competition.title, platform, scoring, phases)


def _phase_of(competition: Competition, number: int, phase: Phase) -> HostedPhase:
    """A phase, after checking that its files exist and that the files for participants hold no secret."""
    path = competition.path
    start, end = phase.start, phase.end
    if start is None or end is None:
        lacks = "start" if start is None else "end"
        raise InputError(
            f"{path} lacks the key phases[{number}].{lacks}. Give a date or a time; platforms need it.", lacks
        )
    for place in (*phase.data, phase.baseline):
        _check_there(place, path)
    public = tuple(place for place in (phase.items, phase.gallery) if place is not None)
    if len({place.name for place in public}) < len(public):
        raise InputError(
            f"{path} has items and a gallery that are both called {public[0].name}. Rename one of them.", "gallery"
        )
    for place in public:
        _check_tells_nothing(place, competition)
    truth = None if phase.labels is None else read_labels(phase.labels)
    if truth and phase.gallery_labels is not None:
        truth = with_gallery(truth, read_labels(phase.gallery_labels), f"The phase {phase.name}")
    truth = truth and truth.in_order()
    return HostedPhase(phase.name, slug(phase.name), start, end, truth, phase.qrels, public, phase.baseline)


def _check_there(place: Path | None, path: Path) -> None:
    if place is not None and not place.exists():
        raise InputError(f"{path} names {place}, which does not exist. Give a path relative to the folder of {path}.")


def _check_tells_nothing(public: Path, competition: Competition) -> None:
    """Raise InputError if the files for participants include a secret file, or a link to one."""
    path = competition.path
    secrets = [path, competition.judge.seed]
    secrets += [place for phase in competition.phases for place in (phase.labels, phase.gallery_labels, phase.qrels)]
    hidden = {place.resolve() for place in secrets if place is not None}
    for place in (public, *(below(public) if public.is_dir() else ())):
        if place.resolve() in hidden:
            raise InputError(
                f"{path} gives participants {public}, but {place} in it is secret. Move the secret file to "
                "another folder.",
                "items",
            )
