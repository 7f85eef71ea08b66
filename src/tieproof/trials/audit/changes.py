"""Changes that must not matter: of the data, of its order or format, or of the calls before; and the data.

A change makes a new case from a case; a function of variants makes calls after a change, which can be repeated.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tieproof.data import load_digits
from tieproof.kit import Array, IntArray
from tieproof.trials.audit.cases import CLASSES, DIMENSIONS, MEMORY, Case
from tieproof.trials.audit.examination import AGAIN, Examination
from tieproof.trials.audit.outcomes import Outcome

Random = np.random.Generator
Change = Callable[[Case, Random], Case]
Asked = tuple[str, Callable[[], Outcome]]  # a change in words, as "with permuted items", and a call after the change

Variants = Callable[[Examination, Case, Random], Iterator[Asked]]

REPEATS = 2  # the number of random changes of each kind that are tried on each data set
BYTE = 255  # the largest number that fits into a byte


def _random_vectors(random: Random, labels: IntArray) -> Array:
    """Normal vectors in overlapping classes, without ties."""
    centers = random.normal(size=(CLASSES, DIMENSIONS))
    return centers[labels] + random.normal(size=(len(labels), DIMENSIONS))


def _tied_vectors(random: Random, labels: IntArray) -> Array:
    """Vectors of three small whole numbers that tell a little about the class; many vectors are equal."""
    return random.integers(0, 3, (len(labels), 3)) + np.stack([labels % 2, labels % 3, labels % 5], axis=1) + 1


def _bytes(random: Random, labels: IntArray) -> Array:
    """Vectors of whole numbers from 0 to 255 in overlapping classes."""
    centers = random.integers(0, 156, size=(CLASSES, DIMENSIONS))
    return centers[labels] + random.integers(0, 100, size=(len(labels), DIMENSIONS))


VECTORS = {"tied": _tied_vectors, "random": _random_vectors, "whole-number": _bytes}
DATA = ("tied", "random", "digits")  # the data on which the changes that must not matter are tried
WHOLE = ("whole-number",)  # the data for changes that are exact only on whole numbers
MOST_QUERIES = 60  # the most queries, for evaluators that take queries: a change that matters shows on a few of them


def data_case(examination: Examination, name: str, sizes: tuple[int, int] | None = None) -> Case:
    """The case of data of this name, in the evaluator's convention; `sizes` for other numbers of items and queries.

    Evaluators of distances are given squared Euclidean distances d, and evaluators of scores 1 / (1 + d), which are
    equal where distances are; or, of whole numbers, d or 255 - d, where d is a whole number of 255ths of the largest.
    """
    random = examination.random("data", name)
    convention, options = examination.convention, examination.options
    count, queries = sizes or (options.items, min(options.queries, MOST_QUERIES))
    if name == "digits":  # of which there may be fewer
        vectors, labels = (each[: count + queries] for each in load_digits())
    else:
        labels = random.permutation(np.arange(count + queries) % CLASSES)
        vectors = VECTORS[name](random, labels)
    vectors, labels = vectors.astype(np.float32), labels.astype(np.int64)
    items, asked = vectors[queries:], vectors[:queries]
    case = Case(items, labels[queries:])
    if convention.kind == "gallery":
        case = replace(case, queries=asked, query_labels=labels[:queries])
    elif convention.kind == "scores":
        differences = items[:, None].astype(np.float64) - asked[None]
        distances: Array = np.einsum("ijk,ijk->ij", differences, differences)
        if name in WHOLE:
            distances = np.floor(distances * (BYTE / distances.max()))
            scores = distances if convention.ascending else BYTE - distances
        else:
            scores = distances if convention.ascending else 1 / (1 + distances)
        case = Case(scores, labels[queries:], query_labels=labels[:queries])
    return case.with_groups(random) if convention.grouped else case


def by(change: Change, what: str, times: int = REPEATS) -> Variants:
    """Variants that try a random change a few times."""

    def variants(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
        for _ in range(times):
            yield what, partial(examination.score, change(case, random))

    return variants


def permute_items(case: Case, random: Random) -> Case:
    """The same items in another order."""
    return case.take_items(random.permutation(len(case.labels)))


def permute_queries(case: Case, random: Random) -> Case:
    """The same queries in another order."""
    assert case.query_labels is not None
    return case.take_queries(random.permutation(len(case.query_labels)))


def permute_all(case: Case, random: Random) -> Case:
    """The same items and, if they are separate, queries in another order."""
    permuted = permute_items(case, random)
    return permuted if case.query_labels is None else permute_queries(permuted, random)


def rescale(case: Case, random: Random) -> Case:
    """All numbers times a power of two, which is exact."""
    factor = case.items.dtype.type(2.0 ** random.choice([-6, -3, 4, 7]))
    return case.changed(lambda rows: rows * factor)


def add_zero_columns(case: Case, random: Random) -> Case:
    """Three more dimensions, at random positions, in which every vector is zero."""
    width = case.items.shape[1]
    places = np.sort(random.integers(width + 1, size=3))
    return case.changed(lambda rows: np.insert(rows, places, 0, axis=1))


def rewrite(**writing: Any) -> Change:
    """A change of how the case is written; None is replaced by a random seed."""

    def change(case: Case, random: Random) -> Case:
        drawn: dict[str, Any] = {
            name: int(random.integers(1, 2**31)) if value is None else value for name, value in writing.items()
        }
        return replace(case, writing=case.writing._replace(**drawn))

    return change


def _relabel(case: Case, names: IntArray) -> Case:
    """Other numbers for the classes: class c is called names[c]."""
    asked = None if case.query_labels is None else names[case.query_labels]
    return replace(case, labels=names[case.labels], query_labels=asked)


# What is added to all scores, which are whole numbers from 0 to 255.
SHIFTS = {"to below 0": -1000, "so that half of them are below 0": -128, "upwards": 1000}


def shifted(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """Calls with the same number added to all scores."""
    for where, shift in SHIFTS.items():
        moved = replace(case, items=case.items + shift)
        yield f"with all scores moved {where}, by {shift:+,}", partial(examination.score, moved)


def relabeled(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """Calls with other class numbers, or with permuted class numbers if the evaluator accepts no others."""
    for _ in range(REPEATS):
        others, permuted = (_relabel(case, random.permutation(CLASSES) + first) for first in (1, 0))
        accepts = not examination.score(others).problem
        yield "with other class numbers", partial(examination.score, others if accepts else permuted)
    for what, names in LARGE_NUMBERS.items():
        if examination.score(_relabel(case, -1 - np.arange(CLASSES))).problem and names.max() > MOST_COUNTED:
            continue  # whoever counts by class numbers would need as many places
        large = _relabel(case, names)
        if not examination.score(large).problem:
            yield what, partial(examination.score, large)


MOST_COUNTED = 2**17  # the largest class number that evaluators get which refuse numbers below 0

LARGE_NUMBERS = {
    "with class numbers that are equal in a byte": 7 + 256 * np.arange(CLASSES),
    "with class numbers that are equal in two bytes, or in half precision": np.r_[
        1, 1 + 2**16, 2048, 2049, 4096, 4097, 5:9
    ],
    "with class numbers that are equal in float32, or in four bytes": np.r_[
        1, 1 + 2**32, 2, 2 + 2**31, 2**24, 2**24 + 1, 2**25, 2**25 + 1, 5:7
    ],
}
"""Pairs of class numbers on both sides of what a type can tell apart."""


def in_pairs(case: Case) -> IntArray:
    """The indices of queries in pairs of the same class; the last query of a class with an odd number is left out.

    >>> in_pairs(Case(np.eye(2), np.arange(2), query_labels=np.array([5, 7, 5, 5, 7])))
    array([0, 2, 1, 4])
    """
    assert case.query_labels is not None
    places = [np.flatnonzero(case.query_labels == label) for label in np.unique(case.query_labels)]
    return np.concatenate([each[: len(each) // 2 * 2] for each in places])


def halves(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """The mean of the numbers on two halves of the queries, which should equal the number on all queries."""
    pairs = in_pairs(case)

    def both() -> Outcome:
        outcomes = [examination.score(case.take_queries(half)) for half in (pairs[::2], pairs[1::2])]
        if problem := next((outcome for outcome in outcomes if outcome.problem), None):
            return problem
        first, second = (outcome.values for outcome in outcomes)
        return Outcome({name: (first[name] + second[name]) / 2 for name in first.keys() & second})

    yield "as the mean of two halves of the queries", both


def after_others(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """A call after calls with other data of the same size, which is freed each time."""

    def after() -> Outcome:
        for other in (examination.perfect_case(case), permute_items(case, random)):
            examination.score(other)
        return examination.score(case)

    yield "after other systems", after


def elsewhere(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """The same call in a new process."""
    assert examination.anew is not None
    yield "in a new process", partial(examination.anew, case, {})


def in_memory(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """Calls with arrays that lie in memory in other ways."""
    for memory in range(1, len(MEMORY)):
        changed = replace(case, writing=case.writing._replace(memory=memory))
        yield f"with arrays that lie in memory {MEMORY[memory]}", partial(examination.score, changed)


def other_settings(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """Calls with the same case and other keyword arguments, changed one at a time."""
    for name, values in (examination.options.vary or {}).items():
        for value in values:
            yield f"with {name}={value!r}", partial(examination.score, case, **{name: value})


# The changes of all attacks, by the names of the attacks.
CHANGES: dict[str, Variants] = {
    AGAIN: by(lambda case, random: case, "in a second call", 1),
    "other systems before": after_others,
    "a new process": elsewhere,
    "writing into arguments": by(rewrite(watched=True), "while watched", 1),
    "permuting items": by(permute_items, "with permuted items"),
    "permuting queries": by(permute_queries, "with permuted queries"),
    "permuting both": by(permute_all, "with permuted items and queries"),
    "permuting at other sizes": by(permute_all, "with permuted items and queries"),
    "memory layout": in_memory,
    "scaling": by(rescale, "with all numbers multiplied by a power of two"),
    "shifting scores": shifted,
    "bytes": by(lambda case, _: case.changed(lambda rows: rows.astype(np.uint8)), "as unsigned bytes", 1),
    "zero columns": by(add_zero_columns, "with three zero columns"),
    "splitting queries": halves,
    "relabelling": relabeled,
    "settings": other_settings,
    "renaming documents": by(rewrite(names=None), "with renamed documents"),
    "order of lines": by(rewrite(lines=None), "with shuffled lines"),
    "rank column": by(rewrite(ranks=True), "with reversed ranks"),
    "repeated lines": by(
        lambda case, _: replace(case, listed=np.full(case.items.shape, 2)), "with every line of the run twice", 1
    ),
}
