"""competition.toml: the one file of a competition, for platforms and for the judge; it is checked as a whole.

docs/guides/competitions.md describes it. The tables [platform] and [judge] have the keys that only one of them reads.
"""

import difflib
import errno
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

from tieproof.errors import InputError
from tieproof.inputs.options import parse_memory
from tieproof.kit import our_name, parse_scores

When = datetime | date

# What a system answers: a vector for an item, a distance for a pair of items, or scored documents for a query.
EMBEDDINGS, DISTANCES, RUN = TASKS = ("embeddings", "distances", "run")
# The consequence of a refused answer. worst: its item has the worst place in every ranking; last: the last place;
# disqualified: the same as worst, and the system gets no rank.
WORST, LAST, DISQUALIFIED = REFUSED = ("worst", "last", "disqualified")


class Key(NamedTuple):
    """The values that a key may have."""

    expected: str  # the expected value, in words
    types: tuple[type, ...]  # the types of the value
    default: Any = None  # the value if the key is missing; ... if the key is required
    allows: Callable[[Any], bool] = lambda value: True  # whether a value of these types is allowed
    take: Callable[[Any], Any] = lambda value: value  # converts an allowed value; InputError if that is impossible


def _text(default: Any = None) -> Key:
    return Key("a text", (str,), default, lambda value: bool(value.strip()))


def _whole(default: Any, least: int = 1) -> Key:
    return Key(f"a whole number of at least {least}", (int,), default, lambda value: value >= least)


def _seconds(default: Any) -> Key:
    return Key("a number of seconds above 0", (int, float), default, lambda value: 0 < value < float("inf"), float)


def _choice(names: tuple[str, ...], default: str) -> Key:
    return Key(f"one of {', '.join(names)}", (str,), default, lambda value: value in names)


def _in_utc(when: When) -> datetime:
    """A date (its midnight) or a time in UTC; a time without a zone is read as UTC, as the platforms do."""
    moment = when if isinstance(when, datetime) else datetime.combine(when, time())
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


GIB = 2**30
PICTURES = (".png", ".jpg", ".jpeg")

File = Annotated[Path | None, _text()._replace(take=Path)]  # by a path relative to the folder of competition.toml
_PICTURE = Key("a picture: .png, .jpg, .jpeg", (str,), None, lambda name: Path(name).suffix.lower() in PICTURES, Path)
Moment = Annotated[datetime | None, Key("a date or a time", (datetime, date), None, take=_in_utc)]
Measures = Annotated[
    tuple[str, ...],
    Key(
        "a list such as ['AP', 'P@1']",
        (list,),
        ("AP",),
        lambda given: bool(given) and all(isinstance(measure, str) for measure in given),
        lambda given: tuple(map(str, parse_scores(given))),
    ),
]

DATA = ("items", "labels", "gallery", "gallery_labels", "qrels")  # the keys of a phase that name its test set


class Phase(NamedTuple):
    """A test set and, on a platform, the time during which submissions to it are accepted."""

    name: Annotated[str, _text(...)]
    items: File  # items, labels: the items, and their labels, which only the organizer knows
    labels: File
    gallery: File  # gallery, gallery_labels: the gallery that the items query; None if the items query each other
    gallery_labels: File
    qrels: File  # the judgments for the task "run", instead of labels
    start: Moment  # start, end: times in UTC
    end: Moment
    baseline: File  # a submission of the organizer; None for random numbers

    @property
    def data(self) -> Iterator[Path]:
        """All files and folders of the test set."""
        return (place for name in DATA if (place := getattr(self, name)) is not None)


class Platform(NamedTuple):
    """What a platform shows and allows."""

    description: Annotated[str, _text("")]
    organizer: Annotated[str, _text("")]
    contact: Annotated[str, _text("")]
    # The container image in which the scoring program runs, if the platform needs one.
    image: Annotated[str, _text("")]
    logo: Annotated[Path | None, _PICTURE]
    terms: File
    submissions: Annotated[int, _whole(100)]  # submissions, submissions_per_day: the limits for one participant
    submissions_per_day: Annotated[int, _whole(5)]
    seconds: Annotated[int, _whole(600)]  # the time limit for scoring one submission
    megabytes: Annotated[int, _whole(100)]  # the size limit of one submission
    digits: Annotated[int, _whole(4)]  # the decimal digits to which scores are rounded before anybody sees them


class Judging(NamedTuple):
    """How the judge runs systems, and the resources that they may use."""

    seed: File  # the file with the organizer's secret, from which random names and orders are drawn
    runs: Annotated[int, _whole(1)]  # how often each system is run, because its answers may be random
    batch: Annotated[int, _whole(1000)]  # the number of items or pairs that a system is given at a time
    repeats: Annotated[int, _whole(20, least=0)]  # the number of items or pairs that a system is asked about twice
    # Whether each pair of items is asked for once, for both directions.
    symmetric: Annotated[bool, Key("true or false", (bool,), False)]
    # The consequence of a refused answer, "worst", "last" or "disqualified".
    refused: Annotated[str, _choice(REFUSED, WORST)]
    seconds: Annotated[float, _seconds(600.0)]  # the time limit for one batch
    # The time limit for one run, after which answers are late; None for no limit.
    total_seconds: Annotated[float | None, _seconds(None)]
    # memory, output: the most bytes of memory of one process, and of its printed output and of the files in its
    # folder.
    memory: Annotated[int, Key("a size such as '4GiB'", (str, int), 4 * GIB, take=parse_memory)]
    output: Annotated[int, Key("a size such as '1GiB'", (str, int), GIB, take=parse_memory)]


class Competition(NamedTuple):
    """The settings that an organizer fixes before a competition.

    title : the title of the competition
    task : "embeddings", "distances" or "run"
    measures : the names of the measures; systems are ranked by the lower bound of the first one
    distance : the distance between embeddings; None if the task is not "embeddings"
    dimensions : the most dimensions of an embedding
    phases : the phases, in order of time
    platform, judge : settings that only `new` reads, and settings that only the judge reads
    path : the path of the file
    """

    title: Annotated[str, _text(...)]
    task: Annotated[str, _choice(TASKS, EMBEDDINGS)]
    measures: Measures
    distance: Annotated[str | None, Key("the name of a distance, such as 'cosine'", (str,), None, take=our_name)]
    dimensions: Annotated[int, _whole(4096)]
    phases: Annotated[tuple[Phase, ...], Key("a table [[phases]] for each", (list,), ...)]
    platform: Annotated[Platform, Key("a table", (dict,), {})]
    judge: Annotated[Judging, Key("a table", (dict,), {})]
    path: Path

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Competition":
        """Read a competition from its file; paths in the file are relative to its folder.

        Raises InputError if the file is not TOML, or a key is unknown, missing or has an unexpected value; the error
        names the key. Whether the named files exist is not checked here.
        """
        place = Path(path)
        try:
            if place.exists() and not place.is_file():
                raise OSError(errno.EINVAL, "no regular file")
            content = tomllib.loads(place.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{place} cannot be read ({error.strerror}); give the file of a competition.") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not valid TOML: {error}. Correct it there.") from None
        given = _taken(content, "", place)
        tables = enumerate(given["phases"], 1)
        phases = tuple(Phase(**_taken(table, "phases", place, f"phases[{number}].")) for number, table in tables)
        platform = Platform(**_taken(given["platform"], "platform", place, "platform."))
        judging = Judging(**_taken(given["judge"], "judge", place, "judge."))
        if given["task"] == EMBEDDINGS:
            given["distance"] = given["distance"] or "cosine"
        competition = cls(**given | {"phases": phases, "platform": platform, "judge": judging, "path": place})
        check_all(competition, _contradictions(competition))
        return competition


def _keys_of(table: type) -> dict[str, Key]:
    """The keys of a table: the fields of its class that are annotated with one."""
    hints = get_type_hints(table, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


_CLASSES: dict[str, type] = {"": Competition, "phases": Phase, "platform": Platform, "judge": Judging}
TABLES = {name: _keys_of(table) for name, table in _CLASSES.items()}


def _taken(content: Any, table: str, path: Path, prefix: str = "") -> dict[str, Any]:
    """The values of all keys of a table, or InputError, in whose message keys have a prefix such as `judge.`."""
    keys = TABLES[table]
    if not isinstance(content, dict):
        raise InputError(f"{path} has {prefix[:-1]} = {content!r}. Give a table with {', '.join(keys)}.", table)
    for name in content:
        if name not in keys:
            near = "".join(f" Did you mean {prefix}{each}?" for each in difflib.get_close_matches(name, keys, 1))
            raise InputError(f"{path} has the unknown key {prefix}{name}.{near} Known: {', '.join(keys)}.", name)
    values = {}
    for name, key in keys.items():
        if name not in content:
            if key.default is ...:
                raise InputError(f"{path} lacks the key {prefix}{name}. Give {key.expected}.", name)
            values[name] = key.default
            continue
        value = content[name]
        is_expected = isinstance(value, key.types) and (bool in key.types or not isinstance(value, bool))
        if not (is_expected and key.allows(value)):
            raise InputError(f"{path} has {prefix}{name} = {value!r}. Give {key.expected}.", name)
        try:
            taken = key.take(value)
        except InputError as error:
            raise InputError(f"{path} has {prefix}{name} = {value!r}: {error}", name) from None
        values[name] = path.parent / taken if isinstance(taken, Path) else taken
    return values


Contradiction = tuple[str | None, str]  # a key, and what is wrong with it, as a sentence after the path of the file


def check_all(competition: Competition, contradictions: Iterator[Contradiction]) -> None:
    """Raise InputError for the first contradiction, if there is one."""
    for key, said in contradictions:
        raise InputError(f"{competition.path} {said}", key)


def _contradictions(competition: Competition) -> Iterator[Contradiction]:
    task, phases = competition.task, competition.phases
    if not phases:
        yield "phases", "has phases = []. Give a table [[phases]] for each phase."
    if task != EMBEDDINGS and competition.distance is not None:
        yield "distance", f"has the task {task} and a distance, which applies only to embeddings. Leave it out."
    truth, *others = ("qrels", "labels", "gallery", "gallery_labels") if task == RUN else ("labels", "qrels")
    for number, phase in enumerate(phases, 1):
        where = f"has phases[{number}]"
        if getattr(phase, truth) is None:
            yield truth, f"{where} without {truth}. The task {task} needs this truth file."
        for name in [name for name in others if getattr(phase, name) is not None]:
            yield name, f"{where}.{name}, which the task {task} does not have. Leave it out."
        if phase.gallery is not None and phase.gallery_labels is None:
            yield "gallery_labels", f"{where}.gallery without gallery_labels. Give both, or neither."
    if competition.judge.symmetric and (task != DISTANCES or any(phase.gallery_labels for phase in phases)):
        yield "symmetric", "has judge.symmetric, which only the task distances without a gallery has. Leave it out."
    times = [(phase.name, phase.start, phase.end) for phase in phases if phase.start and phase.end]
    for name, start, end in times:
        if end <= start:
            yield "end", f"has the phase {name}, which ends before it starts. Give a later end."
    for (before, _, end), (name, start, _) in pairwise(times):
        if start <= end:
            over = f"which starts before {before} is over. Let it start after the other ends."
            yield "start", f"has the phase {name}, {over}"
    if len({slug(phase.name) for phase in phases}) < len(phases):
        yield "name", "has two phases whose names have the same letters and digits. Rename one of them."


def slug(name: str) -> str:
    """A name reduced to letters, digits and underscores, for paths and codenames."""
    reduced = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not reduced:
        raise InputError(
            f"The name of the phase '{name}' has no ASCII letter or digit. Add one; files are named after it.", "name"
        )
    return reduced
