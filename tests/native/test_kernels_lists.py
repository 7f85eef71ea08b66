"""The kernels of rankings given as numbers, compared with Python on the same lists, count by count."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from kernel_levels import LEVELS, at
from kernels import list_counts
from tieproof.engine import dense
from tieproof.engine.dense import ListRoom, block_of, count_lists, end_lists, list_room
from tieproof.evaluation import given_lists
from tieproof.inputs.lists import JudgedGrades, JudgedLists, list_judged
from tieproof.inputs.relevance import RelevantBlock

Row = npt.NDArray[Any]
Lists = list[tuple[Row, Row]]

NUMBERS = ["float64", "float32", "int64", "int32"]
GRADES = ["float64", "float32", "int64", "int32", "int8"]


def values_of(random: np.random.Generator, kind: int, count: int, element: np.dtype[Any]) -> Row:
    """Numbers of many kinds: all different, tied, equal, of all sizes, adjacent, at the ends of their type."""
    whole = element.kind == "i"
    if kind == 0:
        return (random.standard_normal(count) * (1e6 if whole else 1)).astype(element)
    if kind == 1:
        return random.integers(-4, 5, count).astype(element)
    if kind == 2:
        return np.where(random.random(count) < 0.5, 0, -np.zeros(1, element)).astype(element)
    if whole:
        info = np.iinfo(element)
        ends = [info.min, info.min + 1, info.max - 1, info.max, -1, 0, 1]
        return np.array(ends if kind == 3 else [info.max - i for i in range(40)], dtype=element)[
            random.integers(0, 7 if kind == 3 else 40, count)
        ]
    limits = np.finfo(element)
    if kind == 3:
        sizes = (10.0 ** random.uniform(-40, 38, count) * random.choice([-1, 1], count)).astype(element)
        some = np.array([limits.max, -limits.max, limits.smallest_subnormal, -limits.smallest_subnormal, 0.0, -0.0])
        return np.where(random.random(count) < 0.2, random.choice(some, count), sizes).astype(element)
    near = [element.type(1.0)]
    for _ in range(40):
        near.append(np.nextafter(near[-1], element.type(2)))
    return np.array(near, dtype=element)[random.integers(0, 41, count)]


def grades_of(random: np.random.Generator, count: int, element: np.dtype[Any]) -> Row:
    """Grades of few and of many relevant and excluded items, with and without other grades than 1."""
    found = (random.random(count) < random.choice([0.0, 0.03, 0.3, 0.97])).astype(np.float64)
    if random.random() < 0.5:
        found *= random.integers(1, 4, count) if element.kind == "i" else random.choice([0.25, 1.0, 3.5], count)
    found[random.random(count) < random.choice([0.0, 0.02, 0.5])] = -1
    return np.asarray(found, dtype=element)


def cases(element: np.dtype[Any], grades: np.dtype[Any]) -> Iterator[Lists]:
    for seed in range(12):
        random = np.random.default_rng(seed)
        sizes = [0, 1, 2, 3, 7, 8, 9, 40, 200, int(random.integers(300, 6000))]
        random.shuffle(sizes)
        yield [
            (values_of(random, int(random.integers(5)), size, element), grades_of(random, size, grades))
            for size in sizes[: random.integers(1, len(sizes) + 1)]
        ]


def judged(level: str, lists: Lists, graded: bool) -> tuple[RelevantBlock, JudgedGrades]:
    """The relevance of lists, by the kernel of this level."""
    numbers = np.concatenate([relevance for _, relevance in lists])
    pointer, excluded_pointer = np.zeros((2, len(lists) + 1), dtype=np.int64)
    items, excluded = np.empty((2, len(numbers) + 1), dtype=np.int64)
    block = RelevantBlock(pointer, items, np.empty(len(items)), excluded_pointer, excluded)
    found = at(level, list_judged)(numbers, starts(lists), 0, block)
    assert found.done == len(lists)
    return block if graded else block._replace(grades=None), found


def starts(lists: Lists) -> npt.NDArray[np.int64]:
    """Where each list begins, and the end of the last one."""
    return np.cumsum([0, *(len(relevance) for _, relevance in lists)])


def room_of(block: RelevantBlock, element: np.dtype[Any]) -> ListRoom:
    """Memory for exactly these lists."""
    most, excluded = (int(np.diff(pointer).max()) for pointer in (block.pointer, block.excluded_pointer))
    return list_room(most, excluded, block.grades is not None, element)


@pytest.mark.parametrize("grades", GRADES)
@pytest.mark.parametrize("level", LEVELS)
def test_the_relevant_and_the_excluded_are_listed(level: str, grades: str) -> None:
    for lists in cases(np.dtype(np.float32), np.dtype(grades)):
        block, found = judged(level, lists, graded=True)
        assert block.grades is not None
        for q, (_, relevance) in enumerate(lists):
            relevant, excluded = list_counts.judge(relevance.tolist())
            here = slice(block.pointer[q], block.pointer[q + 1])
            assert block.items[here].tolist() == relevant
            assert block.grades[here].tolist() == [float(relevance[i]) for i in relevant]
            there = slice(block.excluded_pointer[q], block.excluded_pointer[q + 1])
            assert block.excluded[there].tolist() == excluded
        assert found.graded == any((relevance[relevance > 0] != 1).any() for _, relevance in lists)
        assert not found.wrong


def test_there_is_room_for_more_than_was_expected() -> None:
    lists = [(relevance, relevance) for _, relevance in next(cases(np.dtype(np.float32), np.dtype(np.int8)))] * 30
    lists += [(np.full(3, value, np.int8),) * 2 for value in (2, -1) for _ in range(20_000)]
    expected, grades = judged(LEVELS[-1], lists, graded=True)
    block, graded, wrong = JudgedLists.of(np.concatenate([relevance for _, relevance in lists]), starts(lists))
    assert (graded, wrong) == (grades.graded, grades.wrong)
    for name in ("pointer", "excluded_pointer"):
        assert (getattr(block, name) == getattr(expected, name)).all()
    for name, count in (
        ("items", block.pointer[-1]),
        ("grades", block.pointer[-1]),
        ("excluded", block.excluded_pointer[-1]),
    ):
        assert (getattr(block, name)[:count] == getattr(expected, name)[:count]).all()


@pytest.mark.parametrize(
    ("element", "value", "wrong"),
    [
        ("float64", np.nan, True),
        ("float32", -np.inf, True),
        ("int64", 2**53, False),
        ("int64", 2**53 + 1, True),
        ("int64", -(2**53) - 1, True),
        ("int32", 2**31 - 1, False),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_an_invalid_grade_is_noticed(level: str, element: str, value: float, wrong: bool) -> None:
    for size in (1, 9, 3000):
        relevance = np.zeros(size, dtype=element)
        relevance[-1] = value
        _, found = judged(level, [(relevance, relevance)], graded=True)
        assert found.wrong == wrong


@pytest.mark.parametrize("small_is_near", [False, True])
@pytest.mark.parametrize("element", NUMBERS)
@pytest.mark.parametrize("level", LEVELS)
def test_ties_of_lists(level: str, element: str, small_is_near: bool) -> None:
    for number, lists in enumerate(cases(np.dtype(element), np.dtype(GRADES[1]))):
        graded = number % 2 == 0
        numbers = np.concatenate([values for values, _ in lists])
        block, _ = judged(level, lists, graded)
        span = slice(number % len(lists), len(lists))  # as a thread counts some of the lists
        part = block_of(block, span)
        relevant = int(part.pointer[-1] - part.pointer[0])
        ties, grades = np.empty((5, relevant), dtype=np.int64), np.empty(relevant if graded else 0)
        start = starts(lists)[span.start :]
        room = room_of(part, numbers.dtype)
        counted = at(level, count_lists)(numbers, start, part, small_is_near, room, ties, grades)
        last = np.empty((4, len(lists)), dtype=np.int64)
        at(level, end_lists)(numbers, starts(lists), block, small_is_near, last)
        expected, expected_grades = [], []
        for q, (values, relevance) in enumerate(lists[span]):
            of_list, of_items = list_counts.ties_of_list(values.tolist(), relevance.tolist(), small_is_near)
            expected += [(q, *tie) for tie in of_list]
            expected_grades += of_items
        assert counted.finite
        assert list(zip(*ties[:, : counted.ties].tolist(), strict=True)) == expected
        assert not graded or grades.tolist() == expected_grades
        assert list(zip(*last.tolist(), strict=True)) == [
            list_counts.end_of_list(values.tolist(), relevance.tolist(), small_is_near) for values, relevance in lists
        ]


def thresholds_of(random: np.random.Generator, kind: int, count: int, element: np.dtype[Any]) -> Row:
    """Distinct numbers: anywhere, adjacent, in two clusters, over the whole range of their type, around zero."""
    if element.kind == "i":
        info = np.iinfo(element)
        middle, step = [(0, 10**6), (info.max - count, 1), (info.min, 1), (0, info.max // count), (-(count // 2), 1)][
            kind
        ]
        numbers = [middle + step * i for i in range(-count if kind in (0, 3) else 0, count)]
        return random.choice(np.array(numbers, dtype=element), count, replace=False)
    limits, ranks = np.finfo(element), np.arange(-count, count)
    numbers = [
        np.arange(count) * 0.01,
        1 + ranks * limits.eps,
        np.where(ranks % 2 == 0, -1, 1) + ranks * limits.eps,
        np.arange(-count + 1, count) / (count - 1) * limits.max,
        ranks * limits.smallest_subnormal,
    ][kind].astype(element)
    return random.choice(np.unique(numbers), count, replace=False)


def among(random: np.random.Generator, thresholds: Row, count: int) -> Row:
    """Items at thresholds, next to them, between them and beyond all of them; zeros have either sign."""
    element = thresholds.dtype
    others = thresholds[random.integers(0, len(thresholds), count)]
    if element.kind == "i":
        info = np.iinfo(element)
        moved = [int(number) + int(step) for number, step in zip(others, random.integers(-2, 3, count), strict=True)]
        others = np.array([min(max(number, info.min), info.max) for number in moved], dtype=element)
        ends = np.array([info.min, info.max, 0], dtype=element)
    else:
        limits = np.finfo(element)
        towards = random.choice(np.array([-limits.max, limits.max], dtype=element), count)
        others = np.where(random.random(count) < 0.5, others, np.nextafter(others, towards))
        ends = np.array([-limits.max, limits.max, 0, -0.0], dtype=element)
    far = thresholds[random.integers(0, len(thresholds), count)] // 2
    found = np.where(random.random(count) < 0.3, others, far)
    return np.where(random.random(count) < 0.05, random.choice(ends, count), found).astype(element)


@pytest.mark.parametrize("element", NUMBERS)
def test_items_close_to_few_thresholds(element: str) -> None:
    random = np.random.default_rng(11)
    for kind in range(5):
        lists: Lists = []
        for count in (2, 3, 4, 5, 24, 25, 47, 48, 49):
            thresholds = thresholds_of(random, kind, count, np.dtype(element))
            for size in (129, 1000, 2048, 2049, 4200):
                values = among(random, thresholds, size)
                relevance = np.where(random.random(size) < random.choice([0.0, 0.3]), -1, 0).astype(np.float64)
                places = random.choice(size, count, replace=False)
                values[places], relevance[places] = thresholds, 1
                lists.append((values, relevance))
                if size == 1000:  # only relevant items are at thresholds, most of them alone
                    apart = np.setdiff1d(values, thresholds)
                    values = np.concatenate([thresholds, thresholds[:1], random.choice(apart, size)])
                    lists.append((values, np.repeat([1.0, 0.0], [count + 1, size])))
        numbers = np.concatenate([values for values, _ in lists])
        expected = [
            (q, *tie)
            for q, (values, relevance) in enumerate(lists)
            for tie in list_counts.ties_of_list(values.tolist(), relevance.tolist(), False)[0]
        ]
        for level in LEVELS:
            block, _ = judged(level, lists, graded=False)
            ties = np.empty((5, int(block.pointer[-1])), dtype=np.int64)
            room = room_of(block, numbers.dtype)
            counted = at(level, count_lists)(numbers, starts(lists), block, False, room, ties, np.empty(0))
            assert counted.finite, level
            assert list(zip(*ties[:, : counted.ties].tolist(), strict=True)) == expected, level


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("element", NUMBERS[:2])
@pytest.mark.parametrize("level", LEVELS)
def test_numbers_that_are_not_finite_are_seen(level: str, element: str, value: float) -> None:
    for place in (0, 8, 2999):
        for relevant in (0, 3, 100):
            numbers = np.arange(3000, dtype=element)
            numbers[place] = value
            pointer, none = np.array([0, relevant]), np.zeros(0, dtype=np.int64)
            block = RelevantBlock(pointer, np.arange(relevant), None, np.zeros(2, dtype=np.int64), none)
            ties = np.empty((5, relevant), dtype=np.int64)
            room = room_of(block, numbers.dtype)
            start = np.array([0, 3000])
            assert not at(level, count_lists)(numbers, start, block, False, room, ties, np.empty(0)).finite


@pytest.mark.parametrize("distances", [False, True])
def test_threads_and_blocks_change_nothing(distances: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = tp.evaluate_distances if distances else tp.evaluate_scores
    random = np.random.default_rng(3)
    sizes = random.integers(1, 90, 60)
    numbers = [random.integers(0, 20, size) / 4 for size in sizes]
    relevance = [grades_of(random, size, np.dtype(np.int8)) for size in sizes]
    for row in relevance:
        row[0] = 1
    n_relevant = [int((row > 0).sum()) + 2 for row in relevance]
    measures = ["AP", "nDCG(ideal=list)@10", "R@10", "RR"]
    for limits in (None, n_relevant):
        whole = evaluate(numbers, relevance, measures=measures, n_relevant=limits)
        with monkeypatch.context() as patch:
            patch.setattr(dense, "FEWEST_ENTRIES", 100)
            patch.setattr(given_lists, "parse_threads", lambda _: 7)
            in_threads = evaluate(numbers, relevance, measures=measures, n_relevant=limits)
            patch.setattr("tieproof.inputs.lists.BLOCK_ENTRIES", 500)
            in_blocks = evaluate(numbers, relevance, measures=measures, n_relevant=limits)
        for each in (in_threads, in_blocks):
            for measure in measures:
                found, expected = each.per_query(measure), whole.per_query(measure)
                for bound in ("lower", "expected", "upper", "std"):
                    assert (getattr(found, bound) == getattr(expected, bound)).all()
