"""competition.toml: the one file of a competition, which platforms and the judge read, checked as a whole.

docs/competition_file.md describes it. A table for each side has what only that side reads.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.calls.scoring import parse_measures
from tieproof.competition.keys import Key, UnexpectedError, choice, seconds, taken, text, whole
from tieproof.distances import our_name
from tieproof.errors import InputError
from tieproof.inputs.options import parse_memory

When = datetime | date

EMBEDDINGS, DISTANCES, RUN = TASKS = ("embeddings", "distances", "run")
"""What is answered: a vector for an item, a number for two items, or documents with scores for a query."""

LAST, DISQUALIFIED = REFUSED = ("last", "disqualified")
"""What a refused answer costs: its item is last; or the system has no rank at all."""


def as_measures(given: list[Any]) -> tuple[str, ...]:
    """The names of measures, of which there is at least one."""
    if not given or not all(isinstance(measure, str) for measure in given):
        raise UnexpectedError
    return tuple(str(measure) for measure in parse_measures(given))


def as_picture(name: str) -> str:
    """The name of a file that platforms take as a picture."""
    if Path(name).suffix.lower() not in (".png", ".jpg", ".jpeg"):
        raise UnexpectedError
    return name


def in_utc(when: When) -> datetime:
    """A date begins at midnight; a time without a zone is UTC, as the platforms take it.

    >>> in_utc(date(2027, 1, 10)).isoformat()
    '2027-01-10T00:00:00+00:00'
    """
    moment = when if isinstance(when, datetime) else datetime.combine(when, time())
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


MOMENT = Key("a date or a time", (datetime, date), None, in_utc)
GIB = 2**30

COMPETITION: dict[str, Key] = {
    "title": text(...),
    "task": choice(TASKS, EMBEDDINGS),
    "measures": Key("a list such as ['AP', 'P@1']", (list,), ("AP",), as_measures),
    "distance": Key("the name of a distance, such as 'cosine'", (str,), None, our_name),
    "dimensions": whole(4096),
    "phases": Key("a table [[phases]] for each", (list,), ...),
    "platform": Key("a table", (dict,), {}),
    "judge": Key("a table", (dict,), {}),
}
PHASES: dict[str, Key] = {
    "name": text(...),
    "items": text(),
    "labels": text(),
    "gallery": text(),
    "gallery_labels": text(),
    "qrels": text(),
    "start": MOMENT,
    "end": MOMENT,
    "baseline": text(),
}
PLATFORM: dict[str, Key] = {
    "description": text(""),
    "organizer": text(""),
    "contact": text(""),
    "image": text(""),
    "logo": Key("a picture: .png, .jpg, .jpeg", (str,), None, as_picture),
    "terms": text(),
    "submissions": whole(100),
    "submissions_per_day": whole(5),
    "seconds": whole(600),
    "megabytes": whole(100),
}
JUDGE: dict[str, Key] = {
    "seed": text(),
    "runs": whole(1),
    "batch": whole(1000),
    "repeats": whole(20, least=0),
    "symmetric": Key("true or false", (bool,), False),
    "refused": choice(REFUSED, LAST),
    "seconds": seconds(600.0),
    "total_seconds": seconds(None),
    "memory": Key("a size such as '4GiB'", (str, int), 4 * GIB, parse_memory),
    "output": Key("a size such as '1GiB'", (str, int), GIB, parse_memory),
}
TABLES: dict[str, dict[str, Key]] = {"": COMPETITION, "phases": PHASES, "platform": PLATFORM, "judge": JUDGE}
"""All that may stand in the file."""

DATA = ("items", "labels", "gallery", "gallery_labels", "qrels")
FILES = {"phases": (*DATA, "baseline"), "platform": ("logo", "terms"), "judge": ("seed",)}
"""The keys of each table that name a file or folder, by a path that begins in the folder of competition.toml."""


class Phase(NamedTuple):
    """A test set, and on a platform the time during which submissions to it are taken.

    items, labels : the items, and what only the organiser knows of them
    gallery, gallery_labels : what the items query; None: they query each other
    qrels : of a run, in place of labels
    start, end : in UTC
    baseline : a submission of the organiser; None: random numbers
    """

    name: str
    items: Path | None
    labels: Path | None
    gallery: Path | None
    gallery_labels: Path | None
    qrels: Path | None
    start: datetime | None
    end: datetime | None
    baseline: Path | None

    @property
    def data(self) -> Iterator[Path]:
        """All files and folders of the test set."""
        return (place for name in DATA if (place := getattr(self, name)) is not None)


class Platform(NamedTuple):
    """What a platform shows and allows; `image` is what the scoring program runs in, where the platform asks for one.

    submissions, submissions_per_day : of a participant
    seconds : of scoring
    megabytes : of a submission
    """

    description: str
    organizer: str
    contact: str
    image: str
    logo: Path | None
    terms: Path | None
    submissions: int
    submissions_per_day: int
    seconds: int
    megabytes: int


class Judging(NamedTuple):
    """How systems are run, and what they may take.

    seed : the file with the organiser's secret, from which names and orders are drawn
    runs : how often a system is run, since it may be random
    batch : how many items, or pairs, it is given at a time
    repeats : how many it is asked about twice
    symmetric : whether the distance of two items is asked for once, for both directions
    refused : what an answer costs that is refused: "last" or "disqualified"
    seconds : of one batch
    total_seconds : of one run; what is not answered by then is late. None: no limit
    memory, output : bytes of one process; of what it prints and of what it leaves in its folder
    """

    seed: Path | None
    runs: int
    batch: int
    repeats: int
    symmetric: bool
    refused: str
    seconds: float
    total_seconds: float | None
    memory: int
    output: int


class Competition(NamedTuple):
    """What an organiser fixes before a competition.

    title : in words
    task : "embeddings", "distances" or "run"
    measures : their names; the first one ranks, by its lower bound
    distance : between embeddings; None where nobody hands in embeddings
    dimensions : what an embedding may have at most
    phases : one after the other
    platform, judge : what only `new` reads, and what only a judge does
    path : of the file
    """

    title: str
    task: str
    measures: tuple[str, ...]
    distance: str | None
    dimensions: int
    phases: tuple[Phase, ...]
    platform: Platform
    judge: Judging
    path: Path

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Competition":
        """Read a competition from its file; paths in it begin in its folder.

        Raises InputError where it is no TOML, or a key is unknown, missing, or not what was expected: by its name.
        Whether files are there is found out by who reads them.
        """
        place = Path(path)
        try:
            found = tomllib.loads(place.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{place} cannot be read ({error.strerror}); give the file of a competition.") from None
        except ValueError as error:
            raise InputError(f"{place} is no TOML: {error}. Correct it there.") from None
        given = taken(found, COMPETITION, str(place))
        phases = tuple(phase_of(table, number, place) for number, table in enumerate(given["phases"], 1))
        platform = Platform(**placed(taken(given["platform"], PLATFORM, str(place), "platform."), "platform", place))
        judging = Judging(**placed(taken(given["judge"], JUDGE, str(place), "judge."), "judge", place))
        if given["task"] == EMBEDDINGS:
            given["distance"] = given["distance"] or "cosine"
        competition = cls(**given | {"phases": phases, "platform": platform, "judge": judging, "path": place})
        check_together(competition)
        return competition


def phase_of(table: Any, number: int, path: Path) -> Phase:
    """A phase of the file."""
    if not isinstance(table, dict):
        raise InputError(f"{path} has phases[{number}] = {table!r}. Give a table with {', '.join(PHASES)}.", "phases")
    return Phase(**placed(taken(table, PHASES, str(path), f"phases[{number}]."), "phases", path))


def placed(given: dict[str, Any], table: str, path: Path) -> dict[str, Any]:
    """Values with the paths among them as they are seen from here."""
    return given | {name: given[name] and path.parent / given[name] for name in FILES[table]}


def check_together(found: Competition) -> None:
    """Refuse what only the whole tells to be wrong."""
    if not found.phases:
        raise InputError(f"{found.path} has phases = []. Give a table [[phases]] for each.", "phases")
    if found.task != EMBEDDINGS and found.distance is not None:
        raise InputError(
            f"{found.path} has the task {found.task} and a distance, which is one between embeddings. Leave it out.",
            "distance",
        )
    for number, phase in enumerate(found.phases, 1):
        check_data(found, phase, f"{found.path} has phases[{number}]")
    if found.judge.symmetric and (found.task != DISTANCES or any(phase.gallery_labels for phase in found.phases)):
        raise InputError(
            f"{found.path} has judge.symmetric, which belongs to the task distances of items that query each other. "
            "Leave it out.",
            "symmetric",
        )
    check_times(found.phases, found.path)
    if len({slug(phase.name) for phase in found.phases}) < len(found.phases):
        raise InputError(f"{found.path} has two phases of one name. Give each its own letters or digits.", "name")


def check_data(found: Competition, phase: Phase, where: str) -> None:
    """Refuse a phase whose files do not make a test set of this task."""
    truth, other = ("qrels", "labels") if found.task == RUN else ("labels", "qrels")
    if getattr(phase, truth) is None:
        raise InputError(f"{where} without {truth}. Give the file of the truth, for the task {found.task}.", truth)
    for name in (other, "gallery", "gallery_labels") if found.task == RUN else (other,):
        if getattr(phase, name) is not None:
            raise InputError(f"{where}.{name}, and the task {found.task} has none. Leave it out.", name)
    if phase.gallery is not None and phase.gallery_labels is None:
        raise InputError(f"{where}.gallery without gallery_labels. Give both, or neither.", "gallery_labels")


def check_times(phases: Sequence[Phase], path: Path) -> None:
    """Refuse phases that end before they start, or overlap."""
    timed = [phase for phase in phases if phase.start and phase.end]
    for phase in timed:
        if phase.end <= phase.start:  # type: ignore[operator]
            raise InputError(
                f"{path} has the phase {phase.name}, which ends before it starts. Give a later end.", "end"
            )
    for before, after in pairwise(timed):
        if after.start <= before.end:  # type: ignore[operator]
            raise InputError(
                f"{path} has the phase {after.name}, which starts before {before.name} is over. "
                "Let one begin after the other ends.",
                "start",
            )


def slug(name: str) -> str:
    """A name as part of a path, or a codename.

    >>> slug("Final phase (2)")
    'final_phase_2'
    """
    found = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not found:
        raise InputError(
            f"The phase '{name}' has no letter or digit of ASCII in its name. Give it one, for files.", "name"
        )
    return found
