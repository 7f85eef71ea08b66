"""A competition for a platform: each phase has times, a truth, and the files that participants get."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.scoring import Scoring
from tieproof.competition.settings import DISTANCES, RUN, Competition, Phase, Platform, slug
from tieproof.competition.truth import Truth, read_judgments, read_labels, with_gallery
from tieproof.distances import DISTANCES as KNOWN
from tieproof.errors import InputError

LONGEST_TITLE = 100
"""The most characters of a title on EvalAI; the other platforms allow more."""


class HostedPhase(NamedTuple):
    """A time during which submissions are accepted, and the data that they are scored on.

    codename : the name as it is used in paths
    start, end : times in UTC
    truth : the table that the scoring program reads, sorted by id; None for runs, which have `qrels` instead
    public : the files and folders that participants get
    baseline : a submission of the organiser; None for random numbers
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


def hosted(found: Competition) -> Hosted:
    """The competition for a platform; InputError if only a judge can run it, or something is missing."""
    if found.task == DISTANCES:
        raise InputError(
            f"{found.path} has the task {DISTANCES}, for which systems must be run. Use tieproof judge for it.",
            "task",
        )
    if len(found.title) > LONGEST_TITLE:
        raise InputError(
            f"{found.path} has a title of {len(found.title)} characters. Give at most {LONGEST_TITLE}.", "title"
        )
    if found.distance is not None and KNOWN[found.distance].bits:
        raise InputError(
            f"{found.path} has the distance {found.distance}, which needs packed bits. Let participants hand in 0 "
            "and 1 as numbers and use cityblock, which gives the same distances.",
            "distance",
        )
    if len({(phase.gallery_labels is None) for phase in found.phases}) > 1:
        raise InputError(
            f"{found.path} has a gallery only in some phases. Give all phases one, or none.", "gallery_labels"
        )
    for place in (found.platform.logo, found.platform.terms):
        check_there(place, found.path)
    phases = tuple(phase_of(found, number, phase) for number, phase in enumerate(found.phases, 1))
    if len({bool(phase.truth and phase.truth.groups) for phase in phases}) > 1:
        raise InputError(f"{found.path} has groups only in some phases. Give all phases groups, or none.", "labels")
    platform = found.platform
    scoring = Scoring(
        "run" if found.task == RUN else "embeddings",
        found.measures,
        found.distance or "cosine",
        platform.megabytes,
        found.dimensions,
        platform.digits,
    )
    return Hosted(found.title, platform, scoring, phases)


def phase_of(found: Competition, number: int, phase: Phase) -> HostedPhase:
    """A phase, after checking that its files exist and that the files for participants hold no secret."""
    start, end = phase.start, phase.end
    if start is None or end is None:
        lacks = "start" if start is None else "end"
        raise InputError(
            f"{found.path} lacks the key phases[{number}].{lacks}. Give a date or a time; platforms need it.", lacks
        )
    for place in (*phase.data, phase.baseline):
        check_there(place, found.path)
    public = tuple(place for place in (phase.items, phase.gallery) if place is not None)
    if len({place.name for place in public}) < len(public):
        raise InputError(
            f"{found.path} has items and a gallery that are both called {public[0].name}. Rename one of them.",
            "gallery",
        )
    for place in public:
        check_tells_nothing(place, found)
    return HostedPhase(phase.name, slug(phase.name), start, end, truth_of(phase), phase.qrels, public, phase.baseline)


def truth_of(phase: Phase) -> Truth | None:
    """The truth of a phase, sorted by id; None for runs."""
    if phase.labels is None:
        return None
    queries = read_labels(phase.labels)
    if phase.gallery_labels is None:
        return queries.in_order()
    both = with_gallery(queries, read_labels(phase.gallery_labels), f"The phase {phase.name}")
    return both.in_order()


def check_there(place: Path | None, path: Path) -> None:
    """Raise InputError if a file of the competition does not exist."""
    if place is not None and not place.exists():
        raise InputError(f"{path} names {place}, which does not exist. Give a path relative to the folder of {path}.")


def check_tells_nothing(public: Path, found: Competition) -> None:
    """Raise InputError if the files for participants include a secret file, or a link to one."""
    secrets = [found.path, found.judge.seed]
    secrets += [place for phase in found.phases for place in (phase.labels, phase.gallery_labels, phase.qrels)]
    hidden = {place.resolve() for place in secrets if place is not None}
    for place in (public, *(public.rglob("*") if public.is_dir() else ())):
        if place.resolve() in hidden:
            raise InputError(
                f"{found.path} gives participants {public}, but {place} in it is secret. Move the secret file to "
                "another folder.",
                "items",
            )
