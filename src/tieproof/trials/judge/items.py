"""`Contest`, the phase of a competition in which systems are judged, and its hidden items and labels."""

import hashlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers import entries_of, read_labels
from tieproof.inputs.readers.location import split
from tieproof.kit import Array
from tieproof.trials.competition.settings import DISTANCES, RUN, Competition, Phase
from tieproof.trials.competition.truth import GROUP, LABEL, Truth, rows_in
from tieproof.trials.competition.truth import read_labels as read_table

_LEAST_SEED = 16  # the fewest characters of a seed that cannot be guessed


class Contest(NamedTuple):
    """A phase of a competition, with the files that a judge needs; `contest_of` makes it."""

    competition: Competition
    phase: Phase
    items: Path
    labels: Path
    seed: Path

    @property
    def dimensions(self) -> int:
        """The most numbers of an answer."""
        return 1 if self.gives_distances else self.competition.dimensions

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
        of = self.competition
        rules = of.judge._replace(seed=None, runs=0)
        decided = (of.title, of.task, of.measures, of.distance, of.dimensions, self.phase.name)
        return hashlib.sha256(repr((*decided, *rules)).encode()).hexdigest()

    def read_seed(self) -> bytes:
        """The organizer's secret."""
        try:
            secret = self.seed.read_bytes().strip()
        except OSError as error:
            raise InputError(
                f"The seed {self.seed} cannot be read ({error.strerror}). Make one and keep it: "
                'python -c "import secrets; print(secrets.token_hex(32))" > seed.txt'
            ) from None
        if len(secret) < _LEAST_SEED:
            raise InputError(
                f"The seed in {self.seed} has {len(secret)} characters, which can be guessed. Give {_LEAST_SEED} or "
                "more, as secrets.token_hex(32) of Python does."
            )
        return secret


def contest_of(competition: Competition, name: str | None) -> Contest:
    """The phase with a name, or the only phase; InputError if a judge cannot run it."""
    path = competition.path
    if competition.task == RUN:
        raise InputError(
            f"{path} has the task {RUN}, but a judge asks systems for embeddings or distances. Let participants hand "
            "in runs on a platform: tieproof competition new.",
            "competition",
        )
    named = [phase for phase in competition.phases if name in (None, phase.name)]
    if len(named) != 1:
        known = ", ".join(phase.name for phase in competition.phases)
        which = "several phases" if name is None else f"no phase '{name}'"
        raise InputError(f"{path} has {which}. Give the name of the phase to judge: {known}.", "phase")
    (phase,) = named
    number = competition.phases.index(phase) + 1
    for key in ("items", "labels", *(["gallery"] if phase.gallery_labels else [])):
        if getattr(phase, key) is None:
            raise InputError(f"{path} lacks the key phases[{number}].{key}. Give its file; the judge needs it.", key)
    if competition.judge.seed is None:
        raise InputError(
            f"{path} lacks the key judge.seed. Give a file with a secret that only the organizer knows.", "seed"
        )
    assert phase.items is not None
    assert phase.labels is not None
    return Contest(competition, phase, phase.items, phase.labels, competition.judge.seed)


# The extensions of files with all items: one item per line, per row of an array, or per row of a table with ids.
# Otherwise items are a folder with one file for each.
TEXTS, ROWS, TABLE = ".txt", ".npy", ".csv"


class Sequestered(NamedTuple):
    """Items that a system is asked about, the queries first."""

    suffixes: tuple[str, ...]  # the extensions of their files
    content: Callable[[int], bytes]  # returns the bytes of the item at an index
    labels: Array  # those of the queries
    gallery_labels: Array | None = None  # None if all items query each other
    groups: Mapping[str, Array] = {}  # keyword arguments of `evaluate`; empty without groups

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.suffixes)

    @property
    def digest(self) -> str:
        """A digest of the items in their order, without labels."""
        whole = hashlib.sha256()
        for at, suffix in enumerate(self.suffixes):
            whole.update(hashlib.sha256(self.content(at)).digest() + suffix.encode() + b"\0")
        return whole.hexdigest()


def read_sequestered(contest: Contest) -> Sequestered:
    """The items and labels of a phase; InputError if they do not match."""
    phase, queries = contest.phase, _read_items(contest.items, contest.labels)
    if contest.gives_distances and queries.groups:
        raise InputError(
            f"{contest.labels} has a column group, but groups are only for embeddings. Leave it out.", "labels"
        )
    if phase.gallery is None or phase.gallery_labels is None:
        return queries
    gallery = _read_items(phase.gallery, phase.gallery_labels)
    if queries.groups.keys() != gallery.groups.keys():
        raise InputError(
            f"Only one of {contest.labels} and {phase.gallery_labels} has groups; give both a column group."
        )

    def content(at: int) -> bytes:
        return queries.content(at) if at < queries.size else gallery.content(at - queries.size)

    groups = {**queries.groups, **{f"gallery_{name}": each for name, each in gallery.groups.items()}}
    return Sequestered(queries.suffixes + gallery.suffixes, content, queries.labels, gallery.labels, groups)


def _read_items(place: Path, labels: Path) -> Sequestered:
    """The items of a folder, of a table, of the lines of a text, or of the rows of an array."""
    if place.is_dir():
        return _of_folder(place, labels)
    suffix = place.suffix.lower()
    if suffix not in (TABLE, TEXTS, ROWS) or not place.is_file():
        raise InputError(
            f"The items {place} must be a folder, or a file of lines (.txt), of rows (.npy), or of a table (.csv)."
        )
    if suffix == TABLE:
        return _of_table(place, labels)
    contents = _lines_of(place) if suffix == TEXTS else _rows_of(place)
    truth, count = read_labels(labels), len(contents)
    if truth.shape != (count,):
        raise InputError(
            f"{labels} has labels of shape {truth.shape}, but {place} has {count:,} items. Give one label for each."
        )
    to_bytes: Callable[[Any], bytes] = str.encode if suffix == TEXTS else _as_npy
    return Sequestered((suffix,) * count, lambda at: to_bytes(contents[at]), truth)


def _of_folder(place: Path, labels: Path) -> Sequestered:
    """The items of a folder, one file each, whose name without extension is its id; in the order of the labels."""
    files: dict[str, Path] = {}
    for file in sorted(file for file in place.iterdir() if not file.name.startswith(".")):
        if not file.is_file() or file.stem in files:
            what = "is not a file" if not file.is_file() else f"has the same id as {files[file.stem].name}"
            raise InputError(
                f"{file} {what}. Give each item a separate file, whose name without extension is its id."
            )
        files[file.stem] = file
    truth = _of_the_same_items(place, files, labels)
    chosen = [files[name] for name in truth.ids]
    return _labeled(tuple(file.suffix.lower() for file in chosen), lambda at: chosen[at].read_bytes(), truth, labels)


def _of_table(place: Path, labels: Path) -> Sequestered:
    """The items of a table, one row each: the id, then numbers, which become an array, or a single text."""
    header, *rows = rows_in(place) or [[]]
    if header[:1] != ["id"] or len(header) < 2 or any(len(row) != len(header) for row in rows):
        raise InputError(f"{place} must begin with the line id,… and have a cell for each column in every row.")
    cells = {row[0]: row[1:] for row in rows}
    if len(cells) < len(rows):
        raise InputError(f"{place} has an id more than once. Give every item one row.")
    truth = _of_the_same_items(place, cells, labels)
    chosen = [cells[name] for name in truth.ids]
    try:
        numbers = np.array(chosen, dtype=np.float64)
    except ValueError:
        if len(header) > 2:
            raise InputError(
                f"{place} has cells that are not numbers. Give only numbers, or a single column of texts."
            ) from None
        return _labeled((TEXTS,) * len(chosen), lambda at: chosen[at][0].encode(), truth, labels)
    return _labeled((ROWS,) * len(chosen), lambda at: _as_npy(numbers[at]), truth, labels)


def _of_the_same_items(place: Path, items: Mapping[str, object], labels: Path) -> Truth:
    """The table of labels, which must have the ids of the items."""
    truth = read_table(labels)
    for absent in sorted(items.keys() ^ set(truth.ids), key=lambda each: (each not in items, each)):
        what = f"has no label in {labels}" if absent in items else f"has a label in {labels}, but does not exist"
        raise InputError(
            f"'{absent}' of {place} {what}. Give every item one row; the id of a file is its name without extension."
        )
    return truth


def _labeled(suffixes: tuple[str, ...], content: Callable[[int], bytes], truth: Truth, labels: Path) -> Sequestered:
    """Items in the order of the truth, with labels of the type that `tieproof verify` reads from the same file."""
    groups = {"groups": read_labels(f"{labels}:{GROUP}")} if truth.groups else {}
    return Sequestered(suffixes, content, read_labels(f"{labels}:{LABEL}"), groups=groups)


def _lines_of(place: Path) -> list[str]:
    try:
        return place.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not UTF-8 text ({error.reason}); save it as UTF-8.") from None


def _rows_of(place: Path) -> Array:
    (entry,) = entries_of(split(place))
    array = np.asarray(entry.load())
    if array.ndim < 2 or array.dtype.kind not in "fiub":
        raise InputError(f"{place} must contain numbers, one row for each item, but contains {entry.holds}.")
    return array


def _as_npy(row: Array) -> bytes:
    packed = BytesIO()
    np.save(packed, np.ascontiguousarray(row), allow_pickle=False)
    return packed.getvalue()
