"""The truth, which only the organizer has: a table of ids and labels, or judgments (qrels)."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from tieproof.errors import InputError
from tieproof.inputs.readers import trec
from tieproof.kit import check, reading
from tieproof.trials.competition.submissions import repeated

# The columns of a table. Items with both the query's label and its group, such as its camera, are excluded; the role
# tells which items are queries and which are the gallery. The columns group and role are optional.
ID, LABEL, GROUP, ROLE = COLUMNS = ("id", "label", "group", "role")
QUERY, GALLERY = ROLES = ("query", "gallery")

Columns = Mapping[str, Sequence[str]]


class Truth(NamedTuple):
    """The test items with their labels."""

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[str, ...] = ()  # the group of each item; () if only the query itself is excluded
    roles: tuple[str, ...] = ()  # "query" or "gallery" for each item; () if all items query each other

    @classmethod
    def of(cls, columns: Columns, name: str = "The truth") -> "Truth":
        """The items of a table; InputError if an id occurs twice, or a cell is empty."""
        ids = columns[ID]
        if not ids:
            raise InputError(f"{name} has no items. Give a row with id and label for each item.")
        for column in COLUMNS:
            if "" in columns.get(column, ()):
                raise InputError(f"{name} has a row with an empty {column}. Give every item its {column}.")
        if twice := repeated(ids):
            raise InputError(f"{name} has the id '{twice[0]}' more than once. Give every item one row.")
        roles = columns.get(ROLE, ())
        if roles and set(roles) != set(ROLES):
            raise InputError(
                f"{name} has the roles {', '.join(sorted(set(roles)))}. It must have {' and '.join(ROLES)}."
            )
        return cls(*(tuple(columns.get(column, ())) for column in COLUMNS))

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns that the table has, by name."""
        return {name: values for name, values in zip(COLUMNS, self, strict=True) if values}

    def in_order(self) -> "Truth":
        """The items sorted by id, so that their order tells nothing more than the ids."""
        order = sorted(range(len(self.ids)), key=self.ids.__getitem__)
        return Truth(*(tuple(values[at] for at in order) if values else () for values in self))

    def to_csv(self) -> str:
        """The table as text."""
        return table([tuple(self.columns), *zip(*self.columns.values(), strict=True)])


def read_labels(path: Path) -> Truth:
    """Read a table with the columns `id`, `label` and optionally `group`, in its order; ignore other columns."""
    return Truth.of(_columns_in(path, (ID, LABEL, GROUP)), str(path))


def read_truth(path: Path) -> Truth:
    """Read what `Truth.to_csv` wrote, sorted by id."""
    return Truth.of(_columns_in(path, COLUMNS), str(path)).in_order()


def with_gallery(queries: Truth, gallery: Truth, name: str) -> Truth:
    """The truth of queries and of the gallery that they search, in one table."""
    if bool(queries.groups) != bool(gallery.groups):
        raise InputError(f"{name} has groups of the queries or of the gallery only. Give both a column {GROUP}.")
    roles = (QUERY,) * len(queries.ids) + (GALLERY,) * len(gallery.ids)
    both = Truth(*(own + others for own, others in zip(queries, gallery, strict=True)))
    return Truth.of(both.columns | {ROLE: roles}, name)


def _columns_in(path: Path, names: Sequence[str]) -> Columns:
    """The named columns, as far as the table has them; it must have ids and labels."""
    check(path)
    header, *rows = [[cell.strip() for cell in row] for row in rows_in(path, "a table of ids and labels")] or [[]]
    if not {ID, LABEL} <= set(header):
        raise InputError(f"{path} has the columns {', '.join(header)}; a table of the truth needs id and label.")
    if any(len(row) != len(header) for row in rows):
        raise InputError(f"{path} has rows of different lengths. Give every row as many cells as the first one.")
    return {name: [row[header.index(name)] for row in rows] for name in names if name in header}


def rows_in(path: Path, what: str = "a table") -> list[list[str]]:
    """The rows of a .csv, without empty ones."""
    with reading(path, f"{what} in UTF-8 text (.csv)"), path.open(encoding="utf-8-sig", newline="") as file:
        return [row for row in csv.reader(file) if row]


def read_judgments(path: Path) -> dict[str, dict[str, int]]:
    """The grades of a qrels file as {query: {document: grade}}."""
    numbers = trec.numbering()
    documents, grades, *_ = trec.read(path, trec.QRELS, numbers)
    names = [name.decode() for name in numbers]
    judgments: dict[str, dict[str, int]] = {name: {} for name in names}
    for row, grade in enumerate(grades.tolist()):
        judgments[names[documents.query[row]]][documents.id(row).decode()] = int(grade)
    return judgments


def table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as text in .csv."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
