"""The kernels of digests at every processor level, compared with Python's integers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import digests as reference
from tieproof.inputs import identities
from tieproof.inputs.documents import documents_of

Rows = npt.NDArray[Any]


def numbers(width: int) -> Rows:
    """Zeros of either sign, subnormals, extremes and usual numbers."""
    random = np.random.default_rng(width)
    hard = np.array([0.0, -0.0, 5e-324, -2.2e-308, 1.7e308, -1.0, 0.1, 3.0])
    return np.where(random.random((6, width)) < 0.5, random.choice(hard, (6, width)), random.normal(size=(6, width)))


def integers(width: int) -> Rows:
    """Integers that float64 rounds, and others."""
    random = np.random.default_rng(width)
    hard = np.array([2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 0, 7])
    return np.where(
        random.random((6, width)) < 0.5, random.choice(hard, (6, width)), random.integers(-9, 9, (6, width))
    )


def large(width: int) -> Rows:
    """Integers up to the largest of 64 bits."""
    return np.random.default_rng(width).integers(0, 2**64, (6, width), dtype=np.uint64, endpoint=False)


KINDS: dict[str, Callable[[int], Rows]] = {
    "float64": numbers,
    "float32": lambda width: np.clip(numbers(width), -3e38, 3e38).astype(np.float32),
    "int64": integers,
    "uint64": large,
    "int32": lambda width: integers(width).astype(np.int32),
    "int8": lambda width: integers(width).astype(np.int8),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 17])
def test_rows(level: str, kind: str, width: int) -> None:
    rows = KINDS[kind](width)
    labels = np.random.default_rng(0).integers(0, 2**64, len(rows), dtype=np.uint64, endpoint=False)
    found = np.empty((len(rows), 2), dtype=np.uint64)
    at(level, identities.digest_rows)(rows, identities.keys_of(width), labels, found)
    expected = [reference.row_digest(row, label) for row, label in zip(rows.tolist(), labels.tolist(), strict=True)]
    assert found.tolist() == list(map(list, expected))


@pytest.mark.parametrize("level", LEVELS)
def test_keys(level: str) -> None:
    found = np.empty(33, dtype=np.uint64)
    at(level, identities.fill_keys)(found)
    assert found.tolist() == reference.keys(33)


STRINGS = ["", "a", "of eight", "cat", "Zürich", "\U0001f600 smile", "a longer name than the others"]


@pytest.mark.parametrize("level", LEVELS)
def test_strings(level: str) -> None:
    letters = np.array(STRINGS).view(np.uint32).reshape(len(STRINGS), -1)
    found = np.empty(len(STRINGS), dtype=np.uint64)
    at(level, identities.digest_strings)(letters, found)
    assert found.tolist() == [reference.string_word(list(map(ord, each))) for each in STRINGS]


@pytest.mark.parametrize("level", LEVELS)
def test_ids(level: str) -> None:
    ids = [each.encode() for each in STRINGS]
    found = np.empty(len(ids), dtype=np.uint64)
    at(level, identities.digest_ids)(documents_of(ids, np.arange(len(ids))), found)
    assert found.tolist() == [reference.id_word(each) for each in ids]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("width", [1, 2, 5])
def test_sums_of_digests(level: str, width: int) -> None:
    random = np.random.default_rng(width)
    place = random.integers(0, 3, 20)
    words = random.integers(0, 2**64, (20, width), dtype=np.uint64, endpoint=False)
    words[0] = 0
    sums = random.integers(0, 2**64, (3, 2), dtype=np.uint64, endpoint=False)
    expected = sums.tolist()
    for query, row in zip(place.tolist(), words.tolist(), strict=True):
        found = reference.words_digest(row)
        expected[query] = [(mine + more) % 2**64 for mine, more in zip(expected[query], found, strict=True)]
    at(level, identities.add_digests)(place, words, sums)
    assert sums.tolist() == expected


def summed(sums: list[list[int]], query: int, word: int) -> None:
    sums[query] = [(mine + more) % 2**64 for mine, more in zip(sums[query], reference.summand(word), strict=True)]


@pytest.mark.parametrize("level", LEVELS)
def test_scores(level: str) -> None:
    query, length, score = np.array([2, 0, 2]), np.array([3, 1, 4]), numbers(8)[0]
    sums = np.full((3, 2), 5, dtype=np.uint64)
    expected = sums.tolist()
    for at_query, number in zip(np.repeat(query, length).tolist(), score.tolist(), strict=True):
        summed(expected, at_query, reference.word_of(number))
    at(level, identities.digest_scores)(query, length, score, sums)
    assert sums.tolist() == expected


@pytest.mark.parametrize("level", LEVELS)
def test_ties(level: str) -> None:
    random = np.random.default_rng(3)
    place, query = np.array([4, 0, 3]), np.sort(random.integers(0, 3, 12))
    letters = random.integers(0, 2**40, (4, 12))
    sums = np.full((5, 2), 2**64 - 1, dtype=np.uint64)
    expected = sums.tolist()
    for at_query, *tie in zip(query.tolist(), *letters.tolist(), strict=True):
        summed(expected, int(place[at_query]), reference.tie_word(*tie))
    at(level, identities.digest_ties)(place, query, letters[0], letters[1], letters[2], letters[3], sums)
    assert sums.tolist() == expected
