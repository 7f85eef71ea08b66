"""A competition as platforms read it: with times, and for each phase a truth and what is handed out."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.scoring import Scoring
from tieproof.competition.settings import DISTANCES, RUN, Competition, Phase, Platform, slug
from tieproof.competition.truth import Truth, read_judgments, read_labels, with_gallery
from tieproof.distances import DISTANCES as KNOWN
from tieproof.errors import InputError

LONGEST_TITLE = 100
"""Letters that EvalAI has room for; the others have more."""


class HostedPhase(NamedTuple):
    """A time during which submissions are taken, and the data that they are scored on.

    codename : the name as part of a path
    start, end : in UTC
    truth : what the scoring program reads, in the order of the ids; of a run `qrels`, in its place
    public : files and folders that participants get
    baseline : a submission of the organiser; None: random numbers
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
        """The file of the truth."""
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
    """A competition for a platform; every file of it is there."""

    title: str
    platform: Platform
    scoring: Scoring
    phases: tuple[HostedPhase, ...]


def hosted(found: Competition) -> Hosted:
    """The competition for a platform; InputError where only a judge could hold it, or something lacks."""
    if found.task == DISTANCES:
        raise InputError(
            f"{found.path} has the task {DISTANCES}, for which systems are run. That is done by tieproof judge.",
            "task",
        )
    if len(found.title) > LONGEST_TITLE:
        raise InputError(
            f"{found.path} has a title of {len(found.title)} letters. Give at most {LONGEST_TITLE}.", "title"
        )
    if found.distance is not None and KNOWN[found.distance].bits:
        raise InputError(
            f"{found.path} has the distance {found.distance}, of packed bits. Let participants hand in 0 and 1 as "
            "numbers, under cityblock, which counts the same.",
            "distance",
        )
    if len({(phase.gallery_labels is None) for phase in found.phases}) > 1:
        raise InputError(
            f"{found.path} has a gallery in some phases only. Let all be scored alike.", "gallery_labels"
        )
    for place in (found.platform.logo, found.platform.terms):
        check_there(place, found.path)
    phases = tuple(phase_of(found, number, phase) for number, phase in enumerate(found.phases, 1))
    if len({bool(phase.truth and phase.truth.groups) for phase in phases}) > 1:
        raise InputError(f"{found.path} has groups in some phases only. Let all be scored alike.", "labels")
    platform = found.platform
    scoring = Scoring(
        "run" if found.task == RUN else "embeddings",
        found.measures,
        found.distance or "cosine",
        platform.megabytes,
        found.dimensions,
    )
    return Hosted(found.title, platform, scoring, phases)


def phase_of(found: Competition, number: int, phase: Phase) -> HostedPhase:
    """One phase, whose files are there, and of which nothing that is handed out holds a secret."""
    start, end = phase.start, phase.end
    if start is None or end is None:
        lacks = "start" if start is None else "end"
        raise InputError(
            f"{found.path} lacks the key phases[{number}].{lacks}. Give a date or a time, for the platform.", lacks
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
    """The table of a phase, sorted by id; None of a run."""
    if phase.labels is None:
        return None
    queries = read_labels(phase.labels)
    if phase.gallery_labels is None:
        return queries.in_order()
    both = with_gallery(queries, read_labels(phase.gallery_labels), f"The phase {phase.name}")
    return both.in_order()


def check_there(place: Path | None, path: Path) -> None:
    """Refuse a file of the competition that is not there."""
    if place is not None and not place.exists():
        raise InputError(f"{path} names {place}, which is not there. Give a path that begins in its folder.")


def check_tells_nothing(public: Path, found: Competition) -> None:
    """Refuse to hand out what participants must not have, also where a link leads to it."""
    secrets = [found.path, found.judge.seed]
    secrets += [place for phase in found.phases for place in (phase.labels, phase.gallery_labels, phase.qrels)]
    hidden = {place.resolve() for place in secrets if place is not None}
    for place in (public, *(public.rglob("*") if public.is_dir() else ())):
        if place.resolve() in hidden:
            raise InputError(
                f"{found.path} hands out {public}, in which {place} tells what only the organiser knows. Put them "
                "apart.",
                "items",
            )
