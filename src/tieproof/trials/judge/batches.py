"""The batches that a system is asked about: items and questions, dealt by the organizer's seed, and their files.

The same seed gives the same batches; without the seed, names and order reveal nothing. They depend neither on labels
nor on the order in which the organizer keeps the items.
"""

import contextlib
import hmac
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.trials.audit.targets import load
from tieproof.trials.judge.items import ROWS, TEXTS, Sequestered

# The content of a system's folder: its items, the same items as lines, the pairs it is asked about, its answer.
ITEMS, LINES, PAIRS, ANSWERS = "items", "lines.txt", "pairs.txt", "answers.npy"
# The fields of a command, and the file or folder that replaces each of them.
FIELDS = {"items": ITEMS, "lines": LINES, "pairs": PAIRS, "answers": ANSWERS}
_LETTERS = 16  # the number of characters of a name, which are 64 bits
_FEWEST = 2  # the fewest items of a batch of repeated items, even if other batches have a single item


class Batch(NamedTuple):
    """The items and questions that a system is given at once."""

    items: dict[str, int]  # the item of each name, sorted by name
    questions: tuple[tuple[str, ...], ...]  # the names of each question: one for an embedding, two for a distance

    @property
    def asked(self) -> list[tuple[int, ...]]:
        """The items of each question."""
        return [tuple(self.items[name] for name in names) for names in self.questions]

    def write(self, folder: Path, test_set: Sequestered) -> None:
        """Write the files for a system; their names, order and dates reveal nothing."""
        items = folder / ITEMS
        items.mkdir()
        lines = []
        for name, item in self.items.items():
            content = test_set.content(item)
            (items / f"{name}{test_set.suffixes[item]}").write_bytes(content)
            lines.append(name.encode() + b"\t" + content + b"\n")
        if len(lines) == b"".join(lines).count(b"\n"):
            (folder / LINES).write_bytes(b"".join(lines))
        (folder / PAIRS).write_text("".join(f"{','.join(names)}\n" for names in self.questions), encoding="ascii")
        for place in (*items.iterdir(), *folder.iterdir()):
            os.utime(place, (0, 0))


def work() -> None:
    """Answer all questions by a function: by one call for all items, or by one call for each pair.

    This is the process of a system that is a function. It runs like any other command, and has no more information.
    """
    name, items, pairs, answers = sys.argv[1:]
    contents = {file.stem: _content_of(file) for file in Path(items).iterdir()}
    questions = [line.split(",") for line in Path(pairs).read_text(encoding="ascii").splitlines()]
    with contextlib.redirect_stdout(sys.stderr):
        try:
            function = load(name)
        except InputError as error:
            sys.exit(str(error))
        if len(questions[0]) == 1:
            rows = [np.ravel(row) for row in function([contents[item] for (item,) in questions])]
        else:
            rows = [np.ravel(function(*(contents[item] for item in pair))) for pair in questions]
    if len(rows) == len(questions) and len({len(row) for row in rows}) == 1:
        np.save(answers, np.array(rows, dtype=np.float64))
    else:
        lines = [",".join([*names, *map(repr, row.tolist())]) for names, row in zip(questions, rows, strict=False)]
        Path(answers).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _content_of(file: Path) -> Any:
    """An item as the function gets it: a line as text, a row as an array, any other item as the path of its file."""
    if file.suffix == TEXTS:
        return file.read_text(encoding="utf-8")
    return np.load(file, allow_pickle=False) if file.suffix == ROWS else file


class Dealer:
    """Draws names and orders from the seed, for one run of one system."""

    def __init__(self, seed: bytes, *what: object) -> None:
        self.key = _keyed_digest(seed, what)

    def order(self, what: str, count: int) -> list[int]:
        """The numbers below `count` in an order that cannot be guessed without the seed."""
        return sorted(range(count), key=lambda number: _keyed_digest(self.key, (what, number)))

    def named(self, what: str, items: Sequence[int]) -> dict[str, int]:
        """A name for each item, sorted by name; an item that occurs twice has two names."""
        names = [_keyed_digest(self.key, (what, place)).hex()[:_LETTERS] for place in range(len(items))]
        return dict(sorted(zip(names, items, strict=True)))


def _keyed_digest(key: bytes, values: tuple[object, ...]) -> bytes:
    return hmac.digest(key, "\0".join(map(str, values)).encode(), "sha256")


def deal_items(dealer: Dealer, count: int, batch: int, repeats: int) -> list[Batch]:
    """Batches with every item once, and some items again in batches of another size, all in random order."""
    order, again = dealer.order("items", count), dealer.order("repeats", count)[:repeats]
    parts = [*_split(order, batch), *_split(again, max(_FEWEST, batch // 3))]
    named = [dealer.named(f"batch {number}", part) for number, part in enumerate(parts)]
    batches = [Batch(items, tuple((name,) for name in items)) for items in named]
    return [batches[number] for number in dealer.order("batches", len(batches))]


def deal_pairs(
    dealer: Dealer, queries: Sequence[int], gallery: Sequence[int], symmetric: bool, batch: int, repeats: int
) -> Iterator[Batch]:
    """Batches with every query and every other item, in blocks of at most `batch` pairs, and some pairs again.

    queries, gallery : the items that are queries, and those that they are compared with, never with themselves
    symmetric : whether each pair is asked in only one direction; queries and gallery are then the same
    """
    side = max(1, isqrt(batch))
    rows = list(_split([queries[at] for at in dealer.order("queries", len(queries))], side))
    columns = list(_split([gallery[at] for at in dealer.order("gallery", len(gallery))], side))
    if symmetric:
        columns = rows
    blocks = [(a, b) for a, b in product(range(len(rows)), range(len(columns))) if not symmetric or a <= b]
    for number in dealer.order("batches", len(blocks) + 1):
        if number == len(blocks):
            pairs = _repeated_pairs(dealer, queries, gallery, symmetric, repeats)
        else:
            a, b = blocks[number]
            pairs = [*(combinations(rows[a], 2) if symmetric and a == b else product(rows[a], columns[b]))]
        pairs = [(x, y) for x, y in pairs if x != y]
        if pairs:
            items = dealer.named(f"block {number}", sorted({item for pair in pairs for item in pair}))
            name_of = {item: name for name, item in items.items()}
            yield Batch(items, tuple(sorted((name_of[x], name_of[y]) for x, y in pairs)))


def _repeated_pairs(
    dealer: Dealer, queries: Sequence[int], gallery: Sequence[int], symmetric: bool, repeats: int
) -> list[tuple[int, int]]:
    """At most `repeats` random pairs, each with another query."""
    firsts, seconds = dealer.order("first again", len(queries)), dealer.order("second again", len(gallery))
    pairs = [(queries[first], gallery[seconds[place % len(seconds)]]) for place, first in enumerate(firsts[:repeats])]
    return list({frozenset(pair) if symmetric else pair: pair for pair in pairs}.values())


def _split(items: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Consecutive parts of a given size; the last part may be smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
