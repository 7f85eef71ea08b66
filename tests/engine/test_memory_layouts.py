"""Arrays at any place and in any order of memory give the same bits, and kernels read none of them wrongly.

`make test-sanitized` runs these tests with checks of every address.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.native.calls import native
from tieproof.ties import Array, FloatArray


def misaligned(array: Array) -> Array:
    """An array that begins at an odd address."""
    room = np.empty(array.nbytes + 1, dtype=np.uint8)
    found: Array = np.ndarray(array.shape, array.dtype, room.data, offset=1)
    found[...] = array
    return found


def in_records(array: Array) -> Array:
    """An array whose numbers have a byte between them, as a field of packed records."""
    records = np.empty(array.shape, dtype=[("other", "u1"), ("number", array.dtype)])
    records["number"] = array
    return records["number"]


def every_other(array: Array) -> Array:
    room = np.zeros((2 * len(array), *(2 * length for length in array.shape[1:])), array.dtype)
    found: Array = room[tuple(slice(None, None, 2) for _ in array.shape)]
    found[...] = array
    return found


def backwards(array: Array) -> Array:
    found: Array = np.flip(np.flip(array).copy())
    return found


def swapped(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder())


def read_only(array: Array) -> Array:
    found = array.copy()
    found.flags.writeable = False
    return found


LAYOUTS: list[Callable[[Array], Array]] = [
    misaligned,
    in_records,
    every_other,
    backwards,
    np.asfortranarray,
    swapped,
    read_only,
    lambda array: misaligned(swapped(array)),
]

Layout = Callable[[Array], Array]

LABELS = np.arange(12) % 3
TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
RANDOM = np.random.default_rng(0)
VECTORS = {kind: np.abs(10 * RANDOM.normal(size=(12, 5))).astype(kind) for kind in TYPES}
BITS = RANDOM.integers(0, 2, (12, 40)).astype(np.bool_)
RELEVANT = (RANDOM.integers(0, 3, (12, 5)) == 0).astype(np.int32)
PAIRS = np.array([[query, (query + 3) % 12, 1] for query in range(12)])
IDS = np.array([RANDOM.permutation(12)[:5] for _ in range(12)])
FAR = np.sort(RANDOM.integers(0, 3, (12, 5)), axis=1).astype(np.float32)


def evaluator(embeddings: Array, labels: Array) -> tp.Result:
    found = tp.Evaluator()
    found.update(embeddings[:7], labels[:7])
    found.update(embeddings[7:], labels[7:])
    return found.compute()


OF_VECTORS: dict[str, Callable[[Layout, Array], Any]] = {
    "cosine": lambda laid, x: tp.evaluate(laid(x), laid(LABELS)),
    "euclidean": lambda laid, x: tp.evaluate(laid(x), laid(LABELS), distance="euclidean"),
    "cityblock": lambda laid, x: tp.evaluate(laid(x), laid(LABELS), distance="cityblock"),
    "a gallery": lambda laid, x: tp.evaluate(
        laid(x[:6]), laid(LABELS[:6]), gallery=laid(x[6:]), gallery_labels=laid(LABELS[6:]), distance="dot"
    ),
    "collisions": lambda laid, x: tp.collisions(laid(x), laid(LABELS)),
    "near collisions": lambda laid, x: tp.collisions(laid(x), laid(LABELS), epsilon=0.1),
    "fnmr": lambda laid, x: tp.fnmr_at_fmr(laid(x), laid(LABELS)),
    "pcf": lambda laid, x: tp.pcf(laid(x)),
    "scores": lambda laid, x: tp.evaluate_scores(laid(x), laid(RELEVANT)),
    "lists of scores": lambda laid, x: tp.evaluate_scores([*map(laid, x)], [*map(laid, RELEVANT)]),
    "distances": lambda laid, x: tp.evaluate_distances(laid(x), laid(RELEVANT.astype(np.float64))),
    "an Evaluator": lambda laid, x: evaluator(laid(x), laid(LABELS)),
}
OTHERS: dict[str, Callable[[Layout], Any]] = {
    "groups and pairs": lambda laid: tp.evaluate(
        laid(VECTORS["f4"]), laid(LABELS), groups=laid(np.arange(12) // 2), exclude=laid(PAIRS[:3, :2])
    ),
    "grades": lambda laid: tp.evaluate(laid(VECTORS["f4"]), relevance=laid(PAIRS)),
    "several labels": lambda laid: tp.evaluate(laid(VECTORS["f4"]), laid(np.eye(3, dtype=np.int16)[LABELS])),
    "labels in words": lambda laid: tp.evaluate(VECTORS["f4"], laid(np.array(["a", "bb", "ccc"])[LABELS])),
    "labels in bytes": lambda laid: tp.evaluate(VECTORS["f4"], laid(np.array([b"a", b"bb", b"ccc"])[LABELS])),
    "bits": lambda laid: tp.evaluate(laid(BITS), laid(LABELS), distance="hamming"),
    "packed bits": lambda laid: tp.evaluate(
        laid(np.packbits(BITS, axis=1)), laid(LABELS), distance="hamming", bits=40
    ),
    "neighbours": lambda laid: tp.evaluate_neighbors(
        laid(IDS), laid(FAR), labels=laid(LABELS), gallery_labels=laid(LABELS)
    ),
    "recall": lambda laid: tp.neighbor_recall(
        laid(IDS.astype(np.int32)), (laid(IDS[:, ::-1].copy()), laid(FAR)), k=3
    ),
    "answers": lambda laid: tp.evaluate_answers(laid(VECTORS["f8"]), laid(LABELS)),
}


def plain(array: Array) -> Array:
    return np.ascontiguousarray(array)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", OF_VECTORS.values(), ids=OF_VECTORS)
def test_vectors_in_any_layout(call: Callable[[Layout, Array], Any], layout: Layout) -> None:
    for kind in TYPES:
        assert shown(call(layout, VECTORS[kind])) == shown(call(plain, VECTORS[kind])), kind


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_other_arguments_in_any_layout(call: Callable[[Layout], Any], layout: Layout) -> None:
    assert shown(call(layout)) == shown(call(plain))


def shown(found: Any) -> str:
    return str(found.to_json()) if hasattr(found, "to_json") else repr(found)


@native
def row_units(rows: FloatArray, unit: FloatArray) -> None:
    """A kernel, to which a misaligned array is passed by mistake."""


@pytest.mark.parametrize("layout", [misaligned, in_records])
def test_a_kernel_is_never_called_with_a_misaligned_array(layout: Layout) -> None:
    with pytest.raises(TypeError, match=r"row_units: rows must be aligned in memory|must have contiguous rows"):
        row_units(layout(np.ones((2, 3))), np.ones(2))
