"""Promise 3 for the engine: each of its methods of counting gives the same bits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from exact_oracle import ORDERS
from forced import FORCED, small_tiles
from hard_sets import HARD_SETS, NEAR_DUPLICATES, normalized
from tieproof.distances import bits as distances_bits
from tieproof.distances import short_sums
from tieproof.engine import counting, levels, methods, plan, ranking, resolve
from tieproof.evaluation import problems

Array = npt.NDArray[Any]
Patch = pytest.MonkeyPatch

SETS = ("gaussian float32", "0.1, 0.2, 0.3 float32", "int8 few values", "±1", "0/1")
MEASURES = ["AP", "AP@R", "AP@20", "P@1", "P@10", "RR", "nDCG@10"]


def bits(result: tp.Result) -> tuple[str, list[bytes]]:
    """The contents of a result, and the bits of every query's values."""
    parts = ("lower", "expected", "upper", "std")
    values = [getattr(result.per_query(measure), part) for measure in result.measures for part in parts]
    return result.to_json(), [value.tobytes() for value in values]


def counted(patch: Patch, module: Any, *names: str) -> dict[str, int]:
    """Count the calls of functions of that module from now on."""
    calls = dict.fromkeys(names, 0)

    def count(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            calls[name] += 1
            return function(*arguments)

        return call

    for name in names:
        patch.setattr(module, name, count(name, getattr(module, name)))
    return calls


def leave_one_out(data: Array, random: np.random.Generator) -> dict[str, Any]:
    """Leave-one-out, with classes of several items, of few items, and of one item."""
    labels = random.integers(0, 5, size=len(data))
    labels[::9] = random.integers(100, 110, size=len(labels[::9]))
    return {"embeddings": data, "labels": labels}


def with_gallery(data: Array, random: np.random.Generator) -> dict[str, Any]:
    """Queries and a gallery, with a class that the gallery lacks."""
    labels = random.integers(0, 4, size=len(data))
    labels[:3] = 77
    return {"embeddings": data[:40], "labels": labels[:40], "gallery": data[40:], "gallery_labels": labels[40:]}


def with_grades(data: Array, random: np.random.Generator) -> dict[str, Any]:
    """Every query has its own relevant items, with grades."""
    grades = random.choice([-1, 0, 0, 0, 0, 1, 2], size=(len(data), len(data)))
    np.fill_diagonal(grades, 0)
    pairs = np.argwhere(grades != 0)
    return {"embeddings": data, "relevance": np.column_stack([pairs, grades[tuple(pairs.T)]])}


def with_groups(data: Array, random: np.random.Generator) -> dict[str, Any]:
    """Classes of which some items are excluded."""
    labels, groups = random.integers(0, 5, size=len(data)), random.integers(0, 3, size=len(data))
    return {"embeddings": data, "labels": labels, "groups": groups}


TASKS = {task.__name__: task for task in (leave_one_out, with_gallery, with_grades, with_groups)}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_forced_choices_change_nothing(name: str, distance: str, task: str, monkeypatch: Patch) -> None:
    random = np.random.default_rng(5)
    task_of = TASKS[task](HARD_SETS[name](random, (90, 5)), random) | {"distance": distance, "measures": MEASURES}
    expected = bits(tp.evaluate(**task_of, threads=1))
    for forced, force in FORCED.items():
        with monkeypatch.context() as patch:
            small_tiles(patch, 31)
            force(patch)
            assert bits(tp.evaluate(**task_of, threads=2, memory="8MiB")) == expected, forced


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("distance", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("name", ["gaussian float32", "0.1, 0.2, 0.3 float32", "float64"])
def test_short_sums_change_nothing(name: str, distance: str, task: str, monkeypatch: Patch) -> None:
    random = np.random.default_rng(6)
    data = random.standard_normal((130, 300)) if name == "float64" else HARD_SETS[name](random, (130, 300))
    task_of = TASKS[task](data, random) | {"distance": distance, "measures": MEASURES}
    small_tiles(monkeypatch, 50)
    expected = bits(tp.evaluate(**task_of))
    FORCED["short_sums_by_vectors"](monkeypatch)
    calls = counted(monkeypatch, short_sums, "product")
    assert bits(tp.evaluate(**task_of)) == expected
    assert bool(calls["product"]) == short_sums.sums_by_vectors()
    monkeypatch.setattr(short_sums, "FASTEST_WAY", 0)
    assert bits(tp.evaluate(**task_of)) == expected


def no_levels(patch: Patch) -> None:
    patch.setattr(levels, "counts_by_level", lambda problem: False)


SIGNS: Any = np.array([-1, 1])
OF_TWO_VALUES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "±1": lambda random, shape: random.choice(SIGNS, shape).astype(np.float32),
    "±1, normalized": lambda random, shape: random.choice(SIGNS, shape) / np.sqrt(shape[1]),
    "0/1": lambda random, shape: random.integers(0, 2, shape).astype(np.float32),
    "0/1, normalized": lambda random, shape: normalized(random.integers(0, 2, shape), np.float64),
    "0/1, some rows zero": lambda random, shape: random.integers(0, 2, shape) * (random.random((shape[0], 1)) < 0.8),
    "bool": lambda random, shape: random.random(shape) < 0.1,
    "all 3": lambda random, shape: np.full(shape, 3, dtype=np.int8),
}


@pytest.mark.parametrize("task", [leave_one_out, with_gallery])
@pytest.mark.parametrize("distance", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("dimensions", [1, 31, 33, 130])
@pytest.mark.parametrize("name", OF_TWO_VALUES)
def test_tiles_of_bits_change_nothing(
    name: str, dimensions: int, distance: str, task: Callable[..., dict[str, Any]], monkeypatch: Patch
) -> None:
    random = np.random.default_rng(dimensions)
    task_of = task(OF_TWO_VALUES[name](random, (130, dimensions)), random)
    task_of |= {"distance": distance, "measures": MEASURES}
    small_tiles(monkeypatch, 50)
    by_level = bits(tp.evaluate(**task_of, threads=1))
    no_levels(monkeypatch)
    calls = counted(monkeypatch, distances_bits, "differing_tile")
    expected = bits(tp.evaluate(**task_of, threads=1))
    assert by_level == expected
    of_real_numbers = name == "0/1, normalized" and distance != "cosine"
    assert calls["differing_tile"] or of_real_numbers or name == "all 3"  # a single distinct row needs no tile
    for forced in ("neither_bits_nor_codes", "no_bits", "bits_by_loop", "bits_out_of_memory"):
        with monkeypatch.context() as patch:
            FORCED[forced](patch)
            assert bits(tp.evaluate(**task_of, threads=2)) == expected, forced


@pytest.mark.parametrize("distance", ["cosine", "dot", "euclidean"])
def test_sides_of_different_values_need_no_bits(distance: str, monkeypatch: Patch) -> None:
    """Signs beside bits, and rows of one value, which may be either."""
    random = np.random.default_rng(8)
    signs, zeros_and_ones, ones = random.choice(SIGNS, (40, 9)), random.integers(0, 2, (50, 9)), np.ones((30, 9), int)
    no_levels(monkeypatch)
    calls = counted(monkeypatch, distances_bits, "differing_tile")
    for queries, gallery, by_bits in (
        (signs, zeros_and_ones, False),
        (zeros_and_ones, signs, False),
        (ones, signs, True),
        (ones, zeros_and_ones, True),
        (1.0 * zeros_and_ones, 2.0 * zeros_and_ones, distance != "euclidean"),
    ):
        calls["differing_tile"] = 0
        labels = {"labels": np.arange(len(queries)) % 3, "gallery_labels": np.arange(len(gallery)) % 3}
        task: dict[str, Any] = {"embeddings": queries, "gallery": gallery, "distance": distance} | labels
        expected = bits(tp.evaluate(**task))
        assert (calls["differing_tile"] > 0) == by_bits
        with monkeypatch.context() as patch:
            FORCED["neither_bits_nor_codes"](patch)
            assert bits(tp.evaluate(**task)) == expected


CALLED: dict[str, tuple[set[str], set[str]]] = {
    "columns": ({"count_in_rows", "count_in_columns"}, {"transposed"}),
    "columns_turned_round": ({"count_in_rows", "transposed"}, {"count_in_columns"}),
    "many_blocks": ({"count_in_rows"}, {"count_in_columns", "transposed"}),
}


@pytest.mark.parametrize("forced", CALLED)
def test_forced_choices_are_taken(forced: str, monkeypatch: Patch) -> None:
    random = np.random.default_rng(5)
    task = leave_one_out(HARD_SETS["gaussian float32"](random, (130, 5)), random)
    small_tiles(monkeypatch, 31)
    FORCED[forced](monkeypatch)
    calls = counted(monkeypatch, counting, "count_in_rows", "count_in_columns")
    turned = counted(monkeypatch, counting, "transposed")
    tp.evaluate(**task, memory="8MiB")
    calls |= turned
    some, none = CALLED[forced]
    assert {name for name, times in calls.items() if times} == some
    assert not any(calls[name] for name in none)


@pytest.mark.parametrize(("name", "has_tiles"), [("gaussian float32", True), ("one far row", False)])
def test_tiles_are_left_out_where_they_decide_nothing(name: str, has_tiles: bool, monkeypatch: Patch) -> None:
    random = np.random.default_rng(5)
    task = leave_one_out((HARD_SETS | NEAR_DUPLICATES)[name](random, (200, 5)), random)
    by_tiles = counted(monkeypatch, counting, "room_for_items")
    by_pairs = counted(monkeypatch, resolve, "open_pairs")
    tp.evaluate(**task)
    assert (by_tiles["room_for_items"] > 0) == has_tiles
    assert (by_pairs["open_pairs"] == 0) == has_tiles


@pytest.mark.parametrize("name", ["gaussian float32", "one ulp apart float32"])
def test_progress_ends_at_the_total(name: str, monkeypatch: Patch) -> None:
    """With duplicates, where a pair of rows represents many pairs of items."""
    totals: list[int] = []
    done: list[int] = []

    @contextmanager
    def bar(total: int) -> Iterator[Callable[[int], None]]:
        totals.append(total)
        yield done.append

    monkeypatch.setattr(problems, "progress_bar", bar)
    random = np.random.default_rng(5)
    data = HARD_SETS[name](random, (130, 5))
    tp.evaluate(**leave_one_out(np.concatenate([data, data[:60]]), random), distance="euclidean", progress=True)
    assert sum(done) == totals[0] == len(np.unique(data, axis=0)) ** 2


@pytest.mark.parametrize(("at_least", "called"), [(1, True), (10**9, False)])
def test_shared_items_are_ranked_together(at_least: int, called: bool, monkeypatch: Patch) -> None:
    random = np.random.default_rng(5)
    task = leave_one_out(HARD_SETS["gaussian float32"](random, (130, 5)), random)
    monkeypatch.setattr(ranking, "SHARED", at_least)
    calls = counted(monkeypatch, ranking, "rank_shared")
    tp.evaluate(**task)
    assert (calls["rank_shared"] > 0) == called


@pytest.mark.parametrize("force", ["many_blocks", "many_parts"])
def test_plans_are_cut(force: str, monkeypatch: Patch) -> None:
    random = np.random.default_rng(5)
    task = leave_one_out(HARD_SETS["gaussian float32"](random, (130, 5)), random)
    ranked = counted(monkeypatch, methods, "rank")
    parts = counted(monkeypatch, ranking, "rank_part")
    FORCED[force](monkeypatch)
    tp.evaluate(**task, memory="8MiB")
    assert (ranked["rank"] > 1) == (force == "many_blocks")
    assert parts["rank_part"] > 1


TILES = {
    "codes_sifted": ("float32", 1),
    "two slices": ("float32", 2),
    "three slices": ("float64", 3),
    "float32 tiles": ("float32", 0),
    "float32 tiles of short sums": ("float32", 0),
    "float64 tiles": ("float64", 0),
}
"""The type of tiles, and how many codes of each number are multiplied."""


@pytest.mark.parametrize("forced", TILES)
def test_tiles_are_as_chosen(forced: str, monkeypatch: Patch) -> None:
    random = np.random.default_rng(5)
    task = leave_one_out(HARD_SETS["gaussian float32"](random, (130, 5)), random)
    FORCED[forced](monkeypatch)
    kinds = []
    run = counting.TileLoop.run

    def noted(self: counting.TileLoop) -> None:
        own: Any = self.space
        kinds.append((own.tile_type, 0 if own.codes is None else own.codes[0].multiplied, own.resources.chunk))
        run(self)

    monkeypatch.setattr(counting.TileLoop, "run", noted)
    tp.evaluate(**task)
    assert kinds == [(*TILES[forced], plan.CHOICES[0].chunk)]


def hamming(n_bits: int, count: int, kind: str) -> dict[str, Any]:
    """Codes that are random, have few different values or are all equal; leave-one-out or with a gallery."""
    random = np.random.default_rng(n_bits)
    codes, labels = random.random(size=(count, n_bits)) < 0.5, random.integers(0, 6, size=count)
    labels[-2:] = 99  # two groups of their own
    if "few" in kind:
        codes = codes[random.integers(0, 5, size=count)]
    if "equal" in kind:
        codes[:] = codes[0]
    task = {"embeddings": codes, "labels": labels, "distance": "hamming", "measures": MEASURES}
    if "gallery" in kind:
        size = 1 if "one item" in kind else count // 2
        labels[: count // 4] += 3  # some classes without items
        task |= {
            "embeddings": codes[:-size],
            "labels": np.append(labels[size], labels[1:-size]) if size > 1 else np.full(count - 1, labels[-1]),
            "gallery": codes[-size:],
            "gallery_labels": labels[-size:],
        }
    return task


KINDS = (
    "leave-one-out",
    "leave-one-out, few values",
    "leave-one-out, all equal",
    "gallery",
    "gallery, few values",
    "gallery, all equal",
    "gallery of one item",
)


def by_level_and_by_tiles(task: dict[str, Any], monkeypatch: Patch, threads: int = 2) -> None:
    found = []
    for few in (True, False):
        with monkeypatch.context() as patch:
            by_level, by_tiles = counted(patch, levels, "ties_by_level"), counted(patch, methods, "ties_by_tiles")
            patch.setattr(levels, "MOST_LEVELS", 2**14)
            if not few:
                no_levels(patch)
            found.append(bits(tp.evaluate(**task, threads=threads)))
            assert by_level | by_tiles == {"ties_by_level": int(few), "ties_by_tiles": int(not few)}
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_bits", [1, 8, 64, 65, 70, 200, 4096, 5000])
def test_hamming_by_levels_and_by_tiles(n_bits: int, kind: str, monkeypatch: Patch) -> None:
    by_level_and_by_tiles(hamming(n_bits, 90, kind), monkeypatch)


@pytest.mark.parametrize(("parts", "together"), [(1, 2**31), (40, 2**31), (1, 1)])
def test_queries_that_are_counted_together(parts: int, together: int, monkeypatch: Patch) -> None:
    monkeypatch.setattr(levels, "PARTS", parts)
    monkeypatch.setattr(levels, "BYTES", together)
    for kind in KINDS:
        for threads in (1, 3):
            by_level_and_by_tiles(hamming(70, 50, kind), monkeypatch, threads)


@pytest.mark.parametrize("task", [leave_one_out, with_gallery])
@pytest.mark.parametrize("distance", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("name", OF_TWO_VALUES)
def test_rows_of_two_values_by_levels(
    name: str, distance: str, task: Callable[..., dict[str, Any]], monkeypatch: Patch
) -> None:
    """Unless the rows are real numbers, or most of them are equal."""
    task_of = task(OF_TWO_VALUES[name](np.random.default_rng(3), (90, 40)), np.random.default_rng(4))
    calls = counted(monkeypatch, levels, "ties_by_level")
    tp.evaluate(**task_of, distance=distance)
    of_real_numbers = name == "0/1, normalized" and distance != "cosine"
    few_rows = name == "all 3"
    assert calls["ties_by_level"] == (0 if of_real_numbers or few_rows else 1)


@pytest.mark.parametrize("task", [leave_one_out, with_gallery])
@pytest.mark.parametrize("name", ["0/1", "bool", "0/1, some rows zero"])
def test_a_table_of_levels_with_many_entries_is_not_made(
    name: str, task: Callable[..., dict[str, Any]], monkeypatch: Patch
) -> None:
    task_of = task(OF_TWO_VALUES[name](np.random.default_rng(3), (90, 40)), np.random.default_rng(4))
    expected = bits(tp.evaluate(**task_of))
    for most in (1, 10):
        monkeypatch.setattr(levels, "MOST_IN_TABLE", most)
        calls = counted(monkeypatch, methods, "ties_by_tiles")
        assert bits(tp.evaluate(**task_of)) == expected
        assert calls["ties_by_tiles"] == 1


def test_short_codes_are_counted_by_level_and_others_are_not(monkeypatch: Patch) -> None:
    for n_bits, few in ((64, 1), (levels.MOST_LEVELS - 1, 1), (levels.MOST_LEVELS, 0)):
        with monkeypatch.context() as patch:
            calls = counted(patch, levels, "ties_by_level")
            tp.evaluate(**hamming(n_bits, 20, "leave-one-out"))
            assert calls["ties_by_level"] == few
    with monkeypatch.context() as patch:
        calls = counted(patch, levels, "ties_by_level")
        tp.evaluate(**hamming(64, 20, "leave-one-out"), groups=np.arange(20) % 3)
        assert not calls["ties_by_level"]
