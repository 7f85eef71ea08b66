"""Every kind of array gives the same result as the same numbers in float64."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(0)
WHOLE = RANDOM.integers(0, 5, size=(60, 6))
LABELS = RANDOM.integers(0, 4, size=60)


def scores(embeddings: Any, labels: Any = LABELS, **options: Any) -> dict[str, Any]:
    result = tp.evaluate(embeddings, labels, **options).to_dict()
    measures: dict[str, Any] = result["measures"]
    return measures


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock", "dot"])
@pytest.mark.parametrize(
    "dtype",
    ["float16", "float32", "float64", ">f4", ">f8", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"],
)
def test_types(dtype: str, distance: str) -> None:
    assert scores(WHOLE.astype(dtype), distance=distance) == scores(WHOLE.astype(float), distance=distance)


class HasArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return WHOLE.astype(float)


class HasDlpack:
    def __dlpack__(self, **options: Any) -> Any:
        return WHOLE.astype(float).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return WHOLE.astype(float).__dlpack_device__()


@pytest.mark.parametrize("make", [HasArray, HasDlpack, WHOLE.tolist], ids=["__array__", "DLPack", "lists"])
def test_protocols(make: Any) -> None:
    assert scores(make()) == scores(WHOLE.astype(float))


TRIPLES = [(q, i, 1 + int(LABELS[q] == 3)) for q in range(60) for i in range(60) if q != i and LABELS[q] == LABELS[i]]
NAMES = np.array(["a", "b", "c", "d"])[LABELS]

FRAMES: dict[str, Callable[[Any, Any], Any]] = {
    "labels": lambda frame, series: tp.evaluate(frame(WHOLE), series(NAMES), categories=series(NAMES)),
    "classes": lambda frame, series: tp.evaluate(frame(WHOLE), frame(LABELS[:, None] == np.arange(4))),
    "gallery": lambda frame, series: tp.evaluate(
        frame(WHOLE[:20]),
        series(LABELS[:20]),
        gallery=frame(WHOLE[20:]),
        gallery_labels=series(LABELS[20:]),
        groups=series(LABELS[:20]),
        gallery_groups=series(LABELS[20:] // 2),
    ),
    "relevance": lambda frame, series: tp.evaluate(
        WHOLE, relevance=frame(np.array(TRIPLES)), exclude=frame(np.array([(0, 1), (2, 3)]))
    ),
    "scores": lambda frame, series: tp.evaluate_scores(frame(WHOLE), frame(WHOLE > 1), n_relevant=series([6] * 60)),
    "distances": lambda frame, series: tp.evaluate_distances(frame(WHOLE), frame(WHOLE > 1)),
    "neighbors": lambda frame, series: tp.evaluate_neighbors(
        frame(np.argsort(WHOLE, axis=1)),
        frame(np.sort(WHOLE, axis=1)),
        labels=series(LABELS),
        gallery_labels=series(range(6)),
    ),
    "recall": lambda frame, series: tp.neighbor_recall(
        frame(np.argsort(WHOLE, axis=1)), queries=frame(WHOLE), gallery=frame(WHOLE), k=2
    ),
    "pairs": lambda frame, series: tp.det_curve(series(WHOLE.ravel()), series(WHOLE.ravel() + 1)),
    "pooled": lambda frame, series: tp.fnmr_at_fmr(frame(WHOLE), series(NAMES), eer=True),
    "collisions": lambda frame, series: tp.collisions(frame(WHOLE), series(NAMES)),
    "votes": lambda frame, series: tp.knn_accuracy(frame(WHOLE), series(NAMES), k=3),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("call", FRAMES)
def test_frames_and_series(call: str, library: str) -> None:
    module = pytest.importorskip(library)

    def frame(values: Array) -> Any:
        return module.DataFrame({f"f{at}": column for at, column in enumerate(values.T)})

    expected = FRAMES[call](np.asarray, np.asarray)
    assert FRAMES[call](frame, lambda values: module.Series(list(values))).to_dict() == expected.to_dict()


def test_layouts() -> None:
    real = RANDOM.normal(size=(60, 6))
    expected = scores(real)
    wide = np.zeros((120, 12))
    wide[::2, ::2] = real
    backwards = np.ascontiguousarray(real[::-1])[::-1]
    for other in (np.asfortranarray(real), wide[::2, ::2], backwards):
        assert not other.flags.c_contiguous
        assert scores(other) == expected


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
def test_memory_mapped(distance: str, tmp_path: Path) -> None:
    real = RANDOM.normal(size=(60, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", real)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert scores(mapped, distance=distance) == scores(real, distance=distance)
    assert scores(mapped[:20], LABELS[:20], gallery=mapped[20:], gallery_labels=LABELS[20:]) == scores(
        real[:20], LABELS[:20], gallery=real[20:], gallery_labels=LABELS[20:]
    )


def test_inputs_are_left_alone() -> None:
    real = RANDOM.normal(size=(60, 6))
    real.flags.writeable = False
    before = real.copy()
    scores(real)
    assert (real == before).all()


@pytest.mark.parametrize("convert", [str, np.str_, int, np.int8, float], ids=["str", "U", "int", "i1", "float"])
def test_labels(convert: Any) -> None:
    assert scores(WHOLE, [convert(label) for label in LABELS]) == scores(WHOLE)


def test_labels_of_numpy_strings_of_any_length() -> None:
    assert scores(WHOLE, LABELS.astype(str).astype(np.dtypes.StringDType())) == scores(WHOLE)


def test_labels_as_a_row_or_column_of_a_matrix() -> None:
    assert scores(WHOLE, LABELS[None]) == scores(WHOLE, LABELS[:, None]) == scores(WHOLE)


def test_labels_of_64_bits_stay_apart() -> None:
    labels = np.array([2**63, 2**63 + 1, 2**63 + 1], dtype=np.uint64)
    for given in (labels, labels.tolist(), [1, *labels.tolist()[1:]]):
        assert tp.evaluate([[0.0], [1.0], [3.0]], given, distance="euclidean").query_ids.tolist() == [1, 2]


@pytest.mark.parametrize("bits", [3, 8, 21, 64, 100])
def test_hamming_codes_packed_or_not(bits: int) -> None:
    codes = RANDOM.random((60, bits)) < 0.5
    expected = scores(codes, distance="hamming")
    assert scores(np.packbits(codes, axis=1), distance="hamming", bits=bits) == expected
    # Squared Euclidean distance of 0/1 vectors is the number of bits that differ.
    assert scores(codes, distance="sqeuclidean") == expected


def test_a_function_as_distance() -> None:
    def cityblock(x: Array, y: Array) -> Array:
        return np.asarray(np.abs(x[:, None] - y[None]).sum(axis=2))

    expected = scores(WHOLE, distance="cityblock")
    assert scores(WHOLE, distance=cityblock) == expected
    split = {"gallery": WHOLE[20:], "gallery_labels": LABELS[20:]}
    assert scores(WHOLE[:20], LABELS[:20], distance=cityblock, **split) == scores(
        WHOLE[:20], LABELS[:20], distance="cityblock", **split
    )


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "bool"])
def test_torch(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(WHOLE > 2 if dtype == "bool" else WHOLE).to(getattr(torch, dtype))
    expected = scores((WHOLE > 2 if dtype == "bool" else WHOLE).astype(float))
    assert scores(tensor, torch.tensor(LABELS)) == expected
    if tensor.is_floating_point():
        assert scores(tensor.requires_grad_()) == expected


@pytest.mark.heavy
def test_bfloat16_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert scores(WHOLE.astype(ml_dtypes.bfloat16)) == scores(WHOLE.astype(float))
