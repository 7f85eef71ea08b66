"""The truth, which only the organiser has: a table of ids and labels, or judgments of documents."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from tieproof.competition.submissions import repeated
from tieproof.errors import InputError
from tieproof.inputs.readers import trec
from tieproof.inputs.readers.damage import reading
from tieproof.inputs.readers.location import check

KIND = "a table of ids and labels in UTF-8 text (.csv)"
HEADER = ("id", "label")
ENCODING = "utf-8-sig"


class Labels(NamedTuple):
    """Test items, sorted by id, and the label of each."""

    ids: tuple[str, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], name: str = "The truth") -> "Labels":
        """Those of pairs in any order; InputError where an item comes twice or has neither id nor label."""
        rows = sorted(pairs)
        ids, labels = [id_ for id_, _ in rows], [label for _, label in rows]
        if not rows:
            raise InputError(f"{name} has no items. Give a row with id and label for each.")
        if "" in ids or "" in labels:
            raise InputError(f"{name} has a row without id or label. Give every item both.")
        if twice := repeated(ids):
            raise InputError(f"{name} has the id '{twice[0]}' twice. Give every item one row.")
        return cls(tuple(ids), tuple(labels))

    def to_csv(self) -> str:
        """The table as text, sorted by id: the order tells nothing that the ids do not."""
        return table([HEADER, *zip(self.ids, self.labels, strict=True)])


def read_labels(path: Path) -> Labels:
    r"""Read a table with the columns `id` and `label`; others are left alone.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "labels.csv").write_text("id,label\nb,7\na,2\n")
    ...     read_labels(Path(folder, "labels.csv"))
    Labels(ids=('a', 'b'), labels=('2', '7'))
    """
    check(path)
    with reading(path, KIND), path.open(encoding=ENCODING, newline="") as file:
        header, *rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    if not set(HEADER) <= set(header):
        raise InputError(f"{path} has the columns {', '.join(header)}; a table of the truth has id and label.")
    at = [header.index(name) for name in HEADER]
    if any(len(row) != len(header) for row in rows):
        raise InputError(f"{path} has a row of another length than its first one. Give every row as many cells.")
    return Labels.of(((row[at[0]], row[at[1]]) for row in rows), str(path))


def read_judgments(path: Path) -> dict[str, dict[str, int]]:
    """The grades of documents by query and document, as a file of qrels has them."""
    numbers = trec.numbering()
    documents, grades = trec.read(path, trec.QRELS, numbers)
    names = [name.decode() for name in numbers]
    found: dict[str, dict[str, int]] = {name: {} for name in names}
    for row, grade in enumerate(grades.tolist()):
        found[names[documents.query[row]]][documents.id(row).decode()] = int(grade)
    return found


def table(rows: Iterable[Sequence[object]]) -> str:
    r"""Rows as text in .csv.

    >>> table([("id", "label"), ("a", 1)])
    'id,label\na,1\n'
    """
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
