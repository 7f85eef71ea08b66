"""Attacks on what a scoring program shows about the truth: guessing offline, and hill climbing on scores.

The attacker knows everything except which of two truths is the real one. The starting kit gives the program to
everybody, so the attacker can compute what it shows for either truth. Whatever differs tells which guess is right.
The guess replaces the truth only in the temporary folders of a trial (`games.py`).
"""

import csv
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.competition.inspection.attacks import FileAttack, Material, Secret, register
from tieproof.competition.inspection.blind_systems import write
from tieproof.competition.inspection.games import Game
from tieproof.competition.truth import GALLERY, GROUP, ID, LABEL, QUERY, ROLE
from tieproof.ties import Array

LISTED, TRIED = 10, 100
"""The number of documents that a run lists for each query, and of queries for which a pair is searched."""

USAGE = "Usage"
"""The column of Kaggle's solution with the part that a row belongs to, which is the name of the task."""


class Item(NamedTuple):
    """An item: its row in a submission, its row in the file of the truth, and what that file tells about it."""

    at: int
    row: int
    label: str
    group: str
    role: str


def secret_in(folder: Path) -> Secret | None:
    """The only table in the folder of the truth: a .csv, or a .txt with cells separated by spaces."""
    found = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in (".csv", ".txt")]
    if len(found) != 1:
        return None
    lines = [line for line in found[0].read_text(encoding="utf-8-sig", errors="replace").splitlines() if line.strip()]
    try:
        rows = list(csv.reader(lines)) if found[0].suffix.lower() == ".csv" else [line.split() for line in lines]
    except csv.Error:
        return None
    return Secret(found[0].relative_to(folder), rows)


def items_of(material: Material) -> list[Item]:
    """The items of a sample in random order, if the truth is a table with id and label, or has one label per line."""
    mould, rows = material.mould, material.secret.rows if material.secret else []
    header = rows[0] if rows else []
    named = {ID, LABEL} <= set(header)
    if mould.is_run or len(set(map(len, rows))) != 1 or not (named or len(header) == 1):
        return []
    cells = [dict(zip(header, row, strict=True)) if named else {LABEL: row[0]} for row in rows]
    known = {cell[ID]: at for at, cell in enumerate(cells)} if named else {}
    places = [known.get(name, 0) for name in mould.ids] if mould.names_rows else range(named, len(rows))
    found = [
        Item(at, row, cells[row][LABEL], cells[row].get(GROUP, ""), cells[row].get(ROLE, ""))
        for at, row in enumerate(places)
        if (row or not named) and cells[row].get(USAGE, material.task) == material.task
    ]
    return [found[at] for at in material.random.permutation(len(found))] if len(places) == len(mould.ids) else []


def pair_of(items: Sequence[Item], same: bool) -> tuple[Item, Item] | None:
    """A query, and an item of its gallery, that share a label or do not."""
    for query in [item for item in items if item.role in ("", QUERY)][:TRIED]:
        for item in items[::-1]:
            counted = item is not query and item.role in ("", GALLERY) and not query.group == item.group != ""
            if counted and (query.label == item.label) is same:
                return query, item
    return None


def exchanged(secret: Secret, *pairs: tuple[Item, Item]) -> list[list[str]]:
    """The truth in which the items of each pair have exchanged their labels and groups."""
    rows, header = [[*row] for row in secret.rows], secret.rows[0]
    columns = [header.index(name) for name in (LABEL, GROUP) if name in header] or [0]
    for one, other in pairs:
        for at in columns:
            rows[one.row][at], rows[other.row][at] = secret.rows[other.row][at], secret.rows[one.row][at]
    return rows


def two_pairs(material: Material) -> Game | None:
    """Two pairs of equal vectors, of which the first shares a label; the guess is that the second does instead.

    All other items have one vector. So the guess only exchanges values of single queries, and no mean changes.
    """
    if material.mould.is_run:
        return two_queries(material)
    items = items_of(material)
    alike = pair_of(items, same=True)
    other = alike and pair_of([item for item in items if item not in alike], same=False)
    if not alike or not other or not material.secret:
        return None
    rows = np.zeros((len(material.mould.ids), max(material.mould.rows.shape[1], 3)))
    rows[:, 0] = 1
    for direction, pair in enumerate((alike, other), 1):
        for item in pair:
            rows[item.at, [0, direction]] = 0, 1
    guess = exchanged(material.secret, (alike[0], other[0]), (alike[1], other[1]))
    return game_of(material, items, rows, guess)


def one_pair(material: Material) -> Game | None:
    """Random vectors, of which two that share a label are equal; the guess is that they share none."""
    if material.mould.is_run:
        return one_document(material)
    items = items_of(material)
    alike = pair_of(items, same=True)
    other = alike and pair_of([alike[0], *(item for item in items if item not in alike)], same=False)
    if not alike or not other or not material.secret:
        return None
    rows = material.random.normal(size=material.mould.rows.shape)
    rows[alike[1].at] = rows[alike[0].at]
    return game_of(material, items, rows, exchanged(material.secret, (alike[1], other[1])))


def game_of(material: Material, items: Sequence[Item], rows: Array, guess: list[list[str]]) -> Game:
    """The game of a submission of vectors."""
    assert material.secret is not None
    labels = len({item.label for item in items})
    asks = "whether two items share a label"
    hand_in = partial(write, material, rows)
    return Game(hand_in, material.secret, guess, asks, "label", len(items), labels)


def judged_in(secret: Secret | None) -> dict[str, list[str]]:
    """The relevant documents of each query, if the truth is a table of judgments (qrels)."""
    found: dict[str, list[str]] = {}
    for row in secret.rows if secret and {len(row) for row in secret.rows} == {4} else ():
        if row[3].isdigit() and int(row[3]):
            found.setdefault(row[0], []).append(row[2])
    return found


def two_queries(material: Material) -> Game | None:
    """One list of documents for all queries, which begins with those of one query; the guess is another query."""
    judged = judged_in(material.secret)
    if len(judged) < 2:
        return None
    one, other = material.random.permutation(sorted(judged)).tolist()[:2]
    ranked = list(dict.fromkeys([*judged[one], *chain(*judged.values())]))[:LISTED]
    scores = {(query, document): -float(rank) for query in judged for rank, document in enumerate(ranked)}
    return game_of_run(material, scores, 0, {one: other, other: one}, ())


def one_document(material: Material) -> Game | None:
    """Random scores, but a relevant document is first for a query; the guess is that another one is relevant."""
    judged = judged_in(material.secret)
    if len(judged) < 2:
        return None
    asked, other = material.random.permutation(sorted(judged)).tolist()[:2]
    relevant = judged[asked][0]
    stranger = next((each for each in judged[other] if each not in judged[asked]), f"{relevant}-other")
    pool = list(dict.fromkeys([relevant, stranger, *chain(*judged.values())]))[:LISTED]
    scores = {(query, document): float(material.random.random()) for query in judged for document in pool}
    scores[asked, relevant] = 2.0
    return game_of_run(material, scores, 2, {relevant: stranger, stranger: relevant}, (asked,))


def game_of_run(
    material: Material,
    scores: dict[tuple[str, str], float],
    column: int,
    swap: dict[str, str],
    queries: Sequence[str],
) -> Game:
    """The game of a run; the guess swaps names in a column of the judgments, of these queries or of all."""
    assert material.secret is not None
    rows = [[*row] for row in material.secret.rows]
    for row in rows:
        if row[0] in (queries or (row[0],)):
            row[column] = swap.get(row[column], row[column])
    mould = material.mould._replace(ids=tuple(f"{query} {document}" for query, document in scores))
    listed = material._replace(mould=mould)
    values = np.array(list(scores.values()))[:, None]
    asks = "whether a document is relevant"
    return Game(partial(write, listed, values), material.secret, rows, asks, "judgment", len(rows), 2)


register(
    FileAttack(
        "offline guessing",
        "guessing",
        "two pairs of equal vectors, or one list for all queries",
        "What participants see must not tell apart two truths with the same scores.",
        two_pairs,
    )
)
register(
    FileAttack(
        "hill climbing",
        "climbing",
        "random vectors or scores, and one guess at a label or a judgment",
        "The allowed submissions must not reveal all labels.",
        one_pair,
    )
)
