"""competition.toml: the one small file that a competition is made of, checked before anything is written."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.calls.scoring import parse_measures
from tieproof.competition.scoring import TASKS, Scoring
from tieproof.distances import DISTANCES, our_name
from tieproof.errors import InputError
from tieproof.inputs.options import check_choice
from tieproof.inputs.readers.location import check

When = datetime | date


class Key(NamedTuple):
    """A key of the file: what its value is, in words and as types, and its default; None where it must be there."""

    words: str
    types: tuple[type, ...]
    default: Any = None


TEXT, NUMBER, WHEN = (
    ("a text", (str,)),
    ("a whole number of at least 1", (int,)),
    ("a date or a time", (datetime, date)),
)

COMPETITION: dict[str, Key] = {
    "title": Key(*TEXT),
    "task": Key(*TEXT),
    "measures": Key("a list of texts", (list,), ["AP"]),
    "distance": Key(*TEXT, "cosine"),
    "description": Key(*TEXT, ""),
    "organizer": Key(*TEXT, ""),
    "contact": Key(*TEXT, ""),
    "image": Key(*TEXT, ""),
    "logo": Key(*TEXT, ""),
    "terms": Key(*TEXT, ""),
    "limits": Key("a table", (dict,), {}),
    "phases": Key("a list of tables", (list,)),
}
LIMITS: dict[str, Key] = {
    "submissions": Key(*NUMBER, 100),
    "submissions_per_day": Key(*NUMBER, 5),
    "seconds": Key(*NUMBER, 600),
    "megabytes": Key(*NUMBER, 100),
    "dimensions": Key(*NUMBER, 4096),
}
PHASES: dict[str, Key] = {
    "name": Key(*TEXT),
    "start": Key(*WHEN),
    "end": Key(*WHEN),
    "truth": Key(*TEXT),
    "items": Key(*TEXT, ""),
    "baseline": Key(*TEXT, ""),
}

PICTURES = (".png", ".jpg", ".jpeg")

LONGEST_TITLE = 100
"""Letters that EvalAI has room for; the others have more."""


class Phase(NamedTuple):
    """A time during which submissions are taken, and the data that they are scored on.

    start, end : in UTC
    truth : labels.csv or qrels, which only the organiser has
    items : the file or folder that participants get; None where they have it already
    baseline : a submission of the organiser; None: random numbers
    """

    name: str
    start: datetime
    end: datetime
    truth: Path
    items: Path | None
    baseline: Path | None


class Settings(NamedTuple):
    """A competition, as its file says; every path in it is there.

    image : the container image that the scoring program runs in, where the platform asks for one
    submissions, submissions_per_day, seconds : what a participant may, and what scoring may take
    """

    title: str
    description: str
    organizer: str
    contact: str
    image: str
    logo: Path | None
    terms: Path | None
    scoring: Scoring
    submissions: int
    submissions_per_day: int
    seconds: int
    phases: tuple[Phase, ...]


def read_settings(path: Path) -> Settings:
    """Read the file of a competition; paths in it begin where it lies.

    Raises InputError where a key is unknown, missing, or not what it should be, and where a file is not there.
    """
    check(path)
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML: {error}. Correct it there.") from error
    given = taken(found, COMPETITION, str(path))
    limits = taken(given["limits"], LIMITS, f"[limits] of {path}")
    check_task(given, str(path))
    scoring = Scoring(
        given["task"],
        tuple(str(measure) for measure in parse_measures(given["measures"])),
        our_name(given["distance"]),
        limits["megabytes"],
        limits["dimensions"],
    )
    logo = there(given["logo"], path)
    if logo is not None and logo.suffix.lower() not in PICTURES:
        raise InputError(f"{path} has the logo {logo.name}. Give a picture: {', '.join(PICTURES)}.", "logo")
    phases = tuple(phase_of(table, number, path) for number, table in enumerate(given["phases"], 1))
    check_phases(phases, path)
    return Settings(
        title=given["title"],
        description=given["description"],
        organizer=given["organizer"],
        contact=given["contact"],
        image=given["image"],
        logo=logo,
        terms=there(given["terms"], path),
        scoring=scoring,
        submissions=limits["submissions"],
        submissions_per_day=limits["submissions_per_day"],
        seconds=limits["seconds"],
        phases=phases,
    )


def taken(found: Mapping[str, Any], keys: Mapping[str, Key], where: str) -> dict[str, Any]:
    """The values of all keys; refused where one is unknown, missing, or of another type."""
    for name in found:
        if name not in keys:
            near = "".join(f" Did you mean {each}?" for each in difflib.get_close_matches(name, keys, 1))
            raise InputError(f"{where} has the key {name}, which is not known.{near} Known: {', '.join(keys)}.", name)
    given: dict[str, Any] = {}
    for name, key in keys.items():
        value = found.get(name, key.default)
        if value is None:
            raise InputError(f"{where} lacks the key {name}. Give {key.words}.", name)
        if not isinstance(value, key.types) or isinstance(value, bool) or (type(value) is int and value < 1):
            raise InputError(f"{where} has {name} = {value!r}. Give {key.words}.", name)
        if key.default is None and not value:
            raise InputError(f"{where} has nothing as {name}. Give {key.words}.", name)
        given[name] = value
    return given


def check_task(given: Mapping[str, Any], where: str) -> None:
    """Refuse a title without room, an unknown task, and measures or a distance that there are not."""
    check_choice("task", given["task"], TASKS)
    if len(given["title"]) > LONGEST_TITLE:
        raise InputError(
            f"{where} has a title of {len(given['title'])} letters. Give at most {LONGEST_TITLE}.", "title"
        )
    if not given["measures"] or not all(isinstance(measure, str) for measure in given["measures"]):
        raise InputError(
            f"{where} has measures = {given['measures']!r}. Give a list such as ['AP', 'P@1'].", "measures"
        )
    if DISTANCES[our_name(given["distance"])].bits:
        raise InputError(
            f"{where} has the distance {given['distance']}, of packed bits. Let participants hand in 0 and 1 as "
            "numbers, under cityblock, which counts the same.",
            "distance",
        )


def phase_of(table: Any, number: int, path: Path) -> Phase:
    """A phase of the file."""
    where = f"[[phases]] number {number} of {path}"
    if not isinstance(table, dict):
        raise InputError(f"{where} is {table!r}. Give a table with {', '.join(PHASES)}.", "phases")
    given = taken(table, PHASES, where)
    truth = placed(given["truth"], path)
    items, baseline = there(given["items"], path), there(given["baseline"], path)
    if items is not None and truth.resolve().is_relative_to(items.resolve()):
        raise InputError(f"{where} hands out {given['items']}, and the truth lies in it. Put them apart.", "items")
    return Phase(given["name"], in_utc(given["start"]), in_utc(given["end"]), truth, items, baseline)


def there(name: str, path: Path) -> Path | None:
    """The path of a file or folder that the file of the competition names; None where it names none."""
    return placed(name, path) if name else None


def placed(name: str, path: Path) -> Path:
    """The path of a file or folder that the file of the competition names."""
    place = path.parent / name
    if not place.exists():
        raise InputError(f"{path} names {name}, which is not beside it. Give a path that begins in its folder.")
    return place


def in_utc(when: When) -> datetime:
    """A date begins at midnight; a time without a zone is UTC, as the platforms take it.

    >>> in_utc(date(2027, 1, 10)).isoformat()
    '2027-01-10T00:00:00+00:00'
    """
    moment = when if isinstance(when, datetime) else datetime.combine(when, time())
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def check_phases(phases: tuple[Phase, ...], path: Path) -> None:
    """Refuse phases that end before they start, overlap, or share a name."""
    for phase in phases:
        if phase.end <= phase.start:
            raise InputError(
                f"{path} has the phase {phase.name}, which ends before it starts. Give a later end.", "end"
            )
    for before, after in pairwise(phases):
        if after.start <= before.end:
            raise InputError(
                f"{path} has the phase {after.name}, which starts before {before.name} is over. "
                "Let one begin after the other ends.",
                "start",
            )
    if len({slug(phase.name) for phase in phases}) < len(phases):
        raise InputError(f"{path} has two phases of one name. Give each its own letters or digits.", "name")


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
