"""Rows that are read on demand and counted part by part give the same bits as arrays in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from exact_oracle import ORDERS
from hard_sets import HARD_SETS
from tieproof import engine
from tieproof.engine.problem import ShardedProblem
from tieproof.errors import InputError, InputWarning
from tieproof.evaluation.cluster import layout, tasks
from tieproof.inputs.shards.source import ArraySource

Array = npt.NDArray[Any]
Random = np.random.Generator
MEASURES = ["AP", "P@5", "nDCG@10", "RR", "R@20"]
PLENTY = 10**9


def small(patch: pytest.MonkeyPatch, rows: int, pairs: int = PLENTY) -> None:
    """Limit the rows of blocks and groups, and the relevant items of blocks, to these numbers."""

    def of(_: ShardedProblem, __: int) -> layout.Sizes:
        return layout.Sizes(rows, pairs)

    patch.setattr(layout.Sizes, "of", of)
    patch.setattr(layout, "SMALLEST_BLOCK", 1)
    patch.setattr("tieproof.evaluation.cluster.layout.fits", lambda _: False)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The queries and items of every portion that is counted."""
    found: list[tuple[int, int]] = []
    others_of = engine.others_of

    def noted(portion: Any, *given: Any) -> Any:
        found.append((len(portion.problem.queries), sum(portion.counted)))
        return others_of(portion, *given)

    monkeypatch.setattr(tasks, "others_of", noted)
    return found


def cut(random: Random, rows: Array) -> ArraySource:
    """The rows in shards of random lengths, some of which may be empty."""
    return ArraySource.of(rows, np.sort(random.integers(0, len(rows) + 1, size=4)))


def sides(random: Random, data: Array, labels: Array, in_shards: bool, gallery: bool) -> dict[str, Any]:
    """The arguments of `evaluate`, with a third of the items as queries, or with all of them."""
    whole: Callable[[Array], Any] = (lambda rows: cut(random, rows)) if in_shards else (lambda rows: rows)
    if not gallery:
        return {"embeddings": whole(data), "labels": labels}
    first = len(data) // 3
    return {
        "embeddings": whole(data[:first]),
        "labels": labels[:first],
        "gallery": whole(data[first:]),
        "gallery_labels": labels[first:],
    }


@pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize(
    "name",
    [
        "gaussian float32",
        "duplicates",
        "one ulp apart float32",
        "0/1 normalized float32",
        "int8 few values",
        "some rows zero",
        "1e-310 and zero rows",
        "rows over sixty orders",
        "int64 of both signs beyond 2^53",
    ],
)
def test_same_bits(
    name: str, distance: str, gallery: bool, counted: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng([ord(letter) for letter in name + distance])
    data, labels = HARD_SETS[name](random, (70, 5)), random.integers(0, 9, size=70)
    labels[-3:] = 100 + np.arange(3)  # with rows of their own
    options: dict[str, Any] = {"distance": distance, "measures": MEASURES}
    expected = tp.evaluate(**sides(random, data, labels, False, gallery), **options).to_json()
    small(monkeypatch, 26)
    assert tp.evaluate(**sides(random, data, labels, True, gallery), **options).to_json() == expected
    assert len(counted) > 2


@pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])
def test_blocks_of_few_relevant_items(gallery: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(14)
    data, labels = HARD_SETS["int8 few values"](random, (70, 3)), random.integers(0, 9, size=70)
    expected = tp.evaluate(**sides(random, data, labels, False, gallery)).to_json()
    small(monkeypatch, 50, 90)
    assert tp.evaluate(**sides(random, data, labels, True, gallery)).to_json() == expected


@pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])
@pytest.mark.parametrize("rounded", [None, "float16", "bfloat16", "float32"])
def test_every_option(gallery: bool, rounded: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(8)
    data, labels = HARD_SETS["0.1, 0.2, 0.3 float32"](random, (60, 4)), random.integers(0, 6, size=60)
    n_queries = 20 if gallery else 60
    groups = random.integers(0, 3, size=60)
    pairs = np.stack([random.integers(0, n_queries, size=30), random.integers(0, 40, size=30)], axis=1)
    options: dict[str, Any] = {
        "groups": groups[:n_queries],
        "exclude": pairs,
        "categories": labels[:n_queries] % 2,
        "average": "macro",
        "confidence": np.arange(n_queries),
        "empty": "zero",
        "precision": rounded,
    }
    if gallery:
        options["gallery_groups"] = groups[20:]
    expected = tp.evaluate(**sides(random, data, labels, False, gallery), **options)
    small(monkeypatch, 18)
    found = tp.evaluate(**sides(random, data, labels, True, gallery), **options)
    assert found.to_json() == expected.to_json()
    curves = [result.error_reject("AP") for result in (found, expected)]
    assert repr(curves[0]) == repr(curves[1])


@pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])
@pytest.mark.parametrize("kind", ["columns", "grades", "grades, some negative", "pairs"])
def test_every_kind_of_relevance(kind: str, gallery: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(21)
    data = HARD_SETS["int8 few values"](random, (60, 3))
    n_queries, n_items = (20, 40) if gallery else (60, 60)
    labels = random.random(size=(60, 8)) < 0.08
    task = sides(random, data, labels, False, gallery)
    parts = sides(random, data, labels, True, gallery)
    if kind != "columns":
        query, item = np.divmod(np.unique(random.integers(0, n_queries * n_items, size=120)), n_items)
        keep = (query != item) | gallery
        grade = {"pairs": np.ones(len(query)), "grades": random.integers(0, 4, size=len(query))}.get(
            kind, random.integers(-1, 3, size=len(query))
        )
        triples = {"relevance": np.stack([query, item, grade], axis=1)[keep]}
        task = {key: value for key, value in task.items() if "labels" not in key} | triples
        parts = {key: value for key, value in parts.items() if "labels" not in key} | triples
    options: dict[str, Any] = {"measures": ["AP", "nDCG@5", "nDCG", "ERR@3"], "distance": "cityblock"}
    if kind == "columns":
        options["measures"] = MEASURES
    expected = tp.evaluate(**task, **options).to_json()
    small(monkeypatch, 45)
    assert tp.evaluate(**parts, **options).to_json() == expected


@pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])
@pytest.mark.parametrize("bits", [None, 11])
def test_hamming(gallery: bool, bits: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    codes = random.random(size=(60, 11)) < 0.5
    labels = random.integers(0, 7, size=60)
    rows = codes if bits is None else np.packbits(codes, axis=1)
    options: dict[str, Any] = {"distance": "hamming", "bits": bits}
    expected = tp.evaluate(**sides(random, rows, labels, False, gallery), **options).to_json()
    small(monkeypatch, 15)
    assert tp.evaluate(**sides(random, rows, labels, True, gallery), **options).to_json() == expected


@pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])
def test_functions_get_the_same_blocks_as_in_memory(gallery: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    data, labels = random.normal(size=(60, 3)), random.integers(0, 7, size=60)
    seen: list[list[tuple[int, ...]]] = [[], []]

    def distance(queries: Array, items: Array) -> Array:
        seen[-1].append((*queries.shape, *items.shape))
        return np.asarray(np.abs(queries[:, None] - items[None]).max(axis=2))

    expected = tp.evaluate(**sides(random, data, labels, False, gallery), distance=distance).to_json()
    seen[0], seen[1] = seen[1], []
    small(monkeypatch, 15)
    assert tp.evaluate(**sides(random, data, labels, True, gallery), distance=distance).to_json() == expected
    assert seen[0] == seen[1] != []


def test_order_of_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    data, labels = HARD_SETS["duplicates"](random, (60, 4)), random.integers(0, 8, size=60)
    expected = tp.evaluate(data, labels).to_json()
    small(monkeypatch, 17)
    for seed in range(3):
        pieces = np.array_split(np.arange(60), 5)
        order = np.concatenate([pieces[i] for i in np.random.default_rng(seed).permutation(5)])
        assert tp.evaluate(ArraySource.of(data[order], range(12, 60, 12)), labels[order]).to_json() == expected


def test_copies_in_different_shards_are_tied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two items tied with a query at distance 0, one is relevant: AP is 1/2 or 1."""
    rows = np.random.default_rng(6).normal(size=(8, 3)).astype(np.float32)
    data, labels = np.concatenate([rows, rows, rows]), np.tile(np.arange(8), 3)
    labels[16:] = 100 + np.arange(8)
    small(monkeypatch, 8)
    result = tp.evaluate(ArraySource.of(data, [8, 16]), labels, measures=["AP"])
    assert (result["AP"].lower, result["AP"].expected, result["AP"].upper) == (0.5, 0.75, 1.0)
    assert result.ties.ambiguous_ties == 16


def test_shards_that_fit_into_memory_are_read_once(counted: list[tuple[int, int]]) -> None:
    random = np.random.default_rng(7)
    data, labels = random.normal(size=(50, 3)), random.integers(0, 5, size=50)
    assert tp.evaluate(cut(random, data), labels).to_json() == tp.evaluate(data, labels).to_json()
    assert not counted


def test_an_array_beside_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(9)
    data, labels = random.normal(size=(60, 3)), random.integers(0, 5, size=60)
    task = sides(random, data, labels, False, True)
    expected = tp.evaluate(**task).to_json()
    small(monkeypatch, 25)
    for side in ("embeddings", "gallery"):
        assert tp.evaluate(**{**task, side: cut(random, task[side])}).to_json() == expected


@pytest.mark.parametrize("gallery", [False, True], ids=["leave-one-out", "gallery"])
def test_progress_ends_at_all_pairs(gallery: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    from tieproof.evaluation import problems

    totals: list[int] = []
    done: list[int] = []

    def bar(total: int) -> Any:
        totals.append(total)
        return nullcontext(done.append)

    monkeypatch.setattr(problems, "progress_bar", bar)
    random = np.random.default_rng(10)
    data, labels = HARD_SETS["duplicates"](random, (60, 3)), random.integers(0, 9, size=60)
    small(monkeypatch, 20)
    tp.evaluate(**sides(random, data, labels, True, gallery), progress=True)
    assert sum(done) == totals[0] == (20 * 40 if gallery else 60 * 60)


def test_warnings_are_those_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(11)
    data, labels = random.normal(size=(40, 3)), random.integers(0, 5, size=40)
    small(monkeypatch, 15)
    with pytest.warns(InputWarning, match="The gallery is equal to the queries in all 40 rows"):
        tp.evaluate(cut(random, data), labels, gallery=cut(random, data), gallery_labels=labels)
    square = data @ data.T
    square[np.arange(40), np.arange(40)] = 9.0
    with pytest.warns(InputWarning, match="square, symmetric matrix"):
        tp.evaluate(cut(random, square), labels)


def test_counts_that_do_not_fit_are_kept_in_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    from tieproof.evaluation.cluster import evaluation

    random = np.random.default_rng(12)
    data, labels = random.normal(size=(60, 3)), random.integers(0, 9, size=60)
    expected = tp.evaluate(data, labels).to_json()
    small(monkeypatch, 20)
    monkeypatch.setattr(evaluation, "BYTES_PER_COUNT", 2**40)
    assert tp.evaluate(cut(random, data), labels).to_json() == expected


def test_a_query_with_more_relevant_items_than_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(13).normal(size=(60, 3))
    small(monkeypatch, 20)
    with pytest.raises(
        InputError, match=r"query 0 has 40 relevant items.* Let memory be 2\.0 times as large"
    ) as caught:
        tp.evaluate(ArraySource.of(data), np.repeat([0, 1], [40, 20]))
    assert caught.value.argument == "memory"
    small(monkeypatch, 39)
    with pytest.raises(InputError, match=r"Let memory be 1\.1 times as large"):
        tp.evaluate(ArraySource.of(data), np.repeat([0, 1], [40, 20]))


@pytest.mark.parametrize(
    ("bounds", "groups"),
    [
        ([0, 10, 20, 30], [(0, 20), (20, 30)]),
        ([0, 30], [(0, 20), (20, 30)]),
        ([0, 5, 50, 60], [(0, 5), (5, 25), (25, 45), (45, 60)]),
        ([0, 0, 20, 20, 41], [(0, 20), (20, 40), (40, 41)]),
    ],
)
def test_groups_end_where_shards_end_if_they_can(bounds: list[int], groups: list[tuple[int, int]]) -> None:
    assert list(layout.groups_of(bounds, 20)) == groups


def test_every_pair_is_in_one_unit() -> None:
    blocks = [np.arange(0, 4), np.arange(4, 9), np.arange(9, 11)]
    whole = layout.BlockLayout(blocks, [])
    assert sum(map(whole.pairs_of, whole.units())) == 11 * 11
    seen = np.zeros((11, 11), dtype=int)
    for unit in whole.units():
        for mine, theirs in ((unit.block, unit.other), (unit.other, unit.block))[: len(unit.blocks)]:
            seen[np.ix_(blocks[mine or 0], blocks[theirs or 0])] += 1
    assert (seen == 1).all()
