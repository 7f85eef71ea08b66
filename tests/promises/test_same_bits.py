"""Promise 3, the same bits: permutations, threads, memory budgets and tile sizes do not change a single bit."""

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from exact_oracle import ORDERS
from hard_sets import HARD_SETS
from shared_data import load_shared
from tieproof.distances.exact import rows
from tieproof.engine import plan

pytestmark = pytest.mark.filterwarnings("ignore:.* of which every bit is set about half of the time")
"""Some data is random bytes, which look like packed codes."""

SETS = (
    "gaussian float32",
    "0.1, 0.2, 0.3 float32",
    "one ulp apart float32",
    "int8 few values",
    "duplicates",
    "multiples",
)
BUDGETS = ("1KiB", "32MiB", "4GiB")

Array = npt.NDArray[np.generic]


def dataset(name: str, count: int = 150, dimensions: int = 5) -> tuple[Array, npt.NDArray[np.int64]]:
    random = np.random.default_rng(11)
    return HARD_SETS[name](random, (count, dimensions)), random.integers(0, 6, size=count)


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_order_of_items_and_dimensions(name: str, distance: str) -> None:
    data, labels = dataset(name)
    expected = tp.evaluate(data, labels, distance=distance).to_json()
    for seed in range(3):
        random = np.random.default_rng(seed)
        items, dimensions = random.permutation(len(data)), random.permutation(data.shape[1])
        permuted = tp.evaluate(data[items][:, dimensions], labels[items], distance=distance)
        assert permuted.to_json() == expected


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_order_of_queries_and_of_the_gallery(name: str, distance: str) -> None:
    data, labels = dataset(name)

    def run(queries: npt.NDArray[np.int64], items: npt.NDArray[np.int64]) -> str:
        return tp.evaluate(
            data[queries], labels[queries], gallery=data[items], gallery_labels=labels[items], distance=distance
        ).to_json()

    random = np.random.default_rng(2)
    queries, items = np.arange(60), np.arange(60, 150)
    expected = run(queries, items)
    assert run(random.permutation(queries), items) == expected
    assert run(queries, random.permutation(items)) == expected


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_threads_and_memory(name: str, distance: str) -> None:
    data, labels = dataset(name)
    expected = tp.evaluate(data, labels, distance=distance, threads=1).to_json()
    for threads, memory in zip((1, 2, 3), BUDGETS, strict=True):
        found = tp.evaluate(data, labels, distance=distance, threads=threads, memory=memory)
        assert found.to_json() == expected, (threads, memory)


@pytest.mark.few(3)
@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_tiles_blocks_and_precision(name: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, labels = dataset(name)
    expected = tp.evaluate(data, labels, distance=distance).to_json()
    # side of a tile, assumed bytes of a pair (for the number of blocks), type of tiles, long or short sums
    for side, ranked, ranking, dtype, chunk in (
        (7, 48, 320, np.float32, 99),
        (64, 4000, 4000, np.float64, 99),
        (999, 48, 90000, np.float32, 2),
        (13, 200_000, 320, np.float64, 3),
    ):
        monkeypatch.setattr(plan, "LARGEST_SIDE", side)
        monkeypatch.setattr(plan, "SMALLEST_SIDE", min(side, 64))
        monkeypatch.setattr(plan, "BYTES_PER_PAIR_RANKED", ranked)
        monkeypatch.setattr(plan, "BYTES_PER_PAIR_RANKING", ranking)
        monkeypatch.setattr(plan, "FEW_PAIRS", 0)
        monkeypatch.setattr(plan, "CHOICES", (plan.TileChoice(dtype, chunk, -1.0),))
        found = tp.evaluate(data, labels, distance=distance, memory="8MiB", threads=2)
        assert found.to_json() == expected, side


@pytest.mark.parametrize("distance", ORDERS)
@pytest.mark.parametrize("name", ["0/1", "±1/sqrt(d) float32", "int8", "int8 few values", "float16 coarse"])
def test_integers_without_their_step(name: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, labels = dataset(name, 150, 12)
    expected = tp.evaluate(data, labels, distance=distance).to_json()
    monkeypatch.setattr(rows, "LARGEST_INTEGER", 0.0)
    assert tp.evaluate(data, labels, distance=distance).to_json() == expected


@pytest.mark.parametrize("distance", ["sqeuclidean", "cityblock", "dot"])
@pytest.mark.parametrize("classes", [2, 40, 700])
def test_as_the_matrix_of_exact_distances(classes: int, distance: str) -> None:
    random = np.random.default_rng(classes)
    gallery, queries = random.integers(-40, 41, size=(1500, 6)), random.integers(-40, 41, size=(300, 6))
    labels, gallery_labels = random.integers(classes, size=300), random.integers(classes, size=1500)
    matrix = {
        "sqeuclidean": lambda x, y: ((x - y) ** 2).sum(axis=2),
        "cityblock": lambda x, y: np.abs(x - y).sum(axis=2),
        "dot": lambda x, y: -(x * y).sum(axis=2),
    }[distance](queries[:, None], gallery[None])
    expected = tp.evaluate_distances(matrix, labels[:, None] == gallery_labels[None]).to_dict()["measures"]
    found = tp.evaluate(queries, labels, gallery=gallery, gallery_labels=gallery_labels, distance=distance)
    assert found.to_dict()["measures"] == expected


@pytest.mark.parametrize("memory", BUDGETS)
def test_hamming_threads_and_memory(memory: str) -> None:
    random = np.random.default_rng(3)
    codes, labels = random.random(size=(500, 70)) < 0.5, random.integers(0, 9, size=500)
    expected = tp.evaluate(codes, labels, distance="hamming").to_json()
    order = random.permutation(500)
    found = tp.evaluate(codes[order], labels[order], distance="hamming", memory=memory, threads=2)
    assert found.to_json() == expected


def test_per_query_values_follow_their_queries() -> None:
    data, labels = dataset("0.1, 0.2, 0.3 float32")
    order = np.random.default_rng(4).permutation(len(data))
    plain, permuted = tp.evaluate(data, labels), tp.evaluate(data[order], labels[order])
    for measure in plain.measures:
        for part in ("lower", "expected", "upper", "std"):
            mine = getattr(plain.per_query(measure), part)
            theirs = getattr(permuted.per_query(measure), part)
            assert (mine[order] == theirs).all()


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x,
        lambda x: x.astype(np.float16),
        lambda x: np.clip(np.rint(x * 400), -127, 127).astype(np.int8),
        lambda x: np.where(x > 0, 1, -1).astype(np.float32),
        lambda x: (np.where(x > 0, 1, -1) / np.sqrt(x.shape[1])).astype(np.float32),
    ],
    ids=["float32", "float16", "int8", "sign", "sign, normalized"],
)
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.heavy)], ids=["a third", "all"])
def test_real_embeddings(step: int, convert) -> None:  # type: ignore[no-untyped-def]
    file = load_shared("package-sections.npz")
    data, labels = convert(file["embeddings"][::step]), file["labels"][::step]
    expected = tp.evaluate(data, labels, threads=1).to_json()
    random = np.random.default_rng(0)
    items, dimensions = random.permutation(len(data)), random.permutation(data.shape[1])
    for threads, memory in ((2, "1GiB"), (2, "8MiB"), (1, "64MiB")):
        found = tp.evaluate(data[items][:, dimensions], labels[items], threads=threads, memory=memory)
        assert found.to_json() == expected
