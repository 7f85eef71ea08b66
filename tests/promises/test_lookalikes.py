"""Data that looks right but is wrong causes a warning in every call and dtype; correct data never does."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp

RANDOM = np.random.default_rng(0)
REAL = RANDOM.normal(size=(40, 6))
WHOLE = RANDOM.integers(-9, 10, size=(40, 6))
LABELS = np.arange(40) // 4
NOISE = RANDOM.normal(size=(40, 40))
CODES = np.packbits(RANDOM.normal(size=(40, 64)) + np.repeat(RANDOM.normal(size=(10, 64)), 4, axis=0) > 0, axis=1)

TYPES: dict[str, Any] = {
    "float64": REAL,
    "float32": REAL.astype(np.float32),
    "float16": REAL.astype(np.float16),
    "int64": WHOLE,
    "int8": WHOLE.astype(np.int8),
    "lists": WHOLE.tolist(),
}


def quiet(call: Callable[..., object], *given: Any, **options: Any) -> None:
    """Check that the call gives no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", tp.InputWarning)
        call(*given, **options)


EMBEDDING_CALLS: dict[str, Callable[..., object]] = {
    "evaluate": tp.evaluate,
    "rounded": lambda values, labels, **options: tp.evaluate(values, labels, precision="float32", **options),
    "collisions": tp.collisions,
    "fnmr": tp.fnmr_at_fmr,
}

IN_GALLERY = "gallery is equal to the queries in all 40 rows"


@pytest.mark.parametrize("values", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("call", EMBEDDING_CALLS.values(), ids=EMBEDDING_CALLS)
def test_queries_in_the_gallery(call: Callable[..., object], values: Any) -> None:
    with pytest.warns(tp.InputWarning, match=IN_GALLERY):
        call(values, LABELS, gallery=values, gallery_labels=LABELS)


def nearest_of(values: Any, labels: Any, gallery: Any, gallery_labels: Any) -> object:
    return tp.nearest(values, gallery, 3)


def accuracy_of(values: Any, labels: Any, gallery: Any, gallery_labels: Any) -> object:
    return tp.knn_accuracy(gallery, gallery_labels, values, labels, k=1)


RANKING_CALLS: dict[str, Callable[..., object]] = {"nearest": nearest_of, "knn_accuracy": accuracy_of}
"""Calls that only rank, so that every item is found that is not left out."""


@pytest.mark.parametrize("call", RANKING_CALLS.values(), ids=RANKING_CALLS)
def test_nearest_items_of_queries_in_the_gallery(call: Any) -> None:
    with pytest.warns(tp.InputWarning, match=IN_GALLERY):
        call(REAL, LABELS, gallery=REAL.copy(), gallery_labels=LABELS)
    for part in PARTS.values():
        with pytest.warns(tp.InputWarning, match=IN_PART):
            part(call, REAL)


def test_nearest_items_of_queries_that_are_left_out_are_not_warned_about() -> None:
    own = np.repeat(np.arange(40)[:, None], 2, axis=1)
    tp.nearest(REAL, REAL.copy(), 3, exclude=own)
    tp.nearest(REAL[:30], REAL, 3, exclude=own[:30])
    tp.nearest(REAL[:30], REAL, 3, groups=np.arange(30), gallery_groups=np.arange(40))
    tp.nearest(REAL, k=3)
    tp.knn_accuracy(REAL, LABELS)
    tp.nearest(REAL[:3], REAL, 3)  # too few for a warning


@pytest.mark.parametrize("shards", [False, True])
def test_a_truth_of_queries_in_the_gallery(shards: bool, tmp_path: Path) -> None:
    for name, rows in (("queries", slice(30)), ("gallery", slice(40))):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "0.npy", REAL[rows])
    queries, gallery = (tp.open(tmp_path / name) if shards else REAL[:30] for name in ("queries", "gallery"))
    with pytest.warns(tp.InputWarning, match=IN_PART if shards else "equal to the queries in all 30 rows"):
        tp.truth(gallery=gallery, queries=queries, k=3, out=tmp_path / "truth")


def test_queries_in_the_gallery_in_other_forms() -> None:
    codes = REAL > 0
    with pytest.warns(tp.InputWarning, match=IN_GALLERY):
        tp.evaluate(codes, LABELS, gallery=codes.copy(), gallery_labels=LABELS, distance="hamming")
    with pytest.warns(tp.InputWarning, match=IN_GALLERY):
        tp.evaluate(WHOLE, LABELS, gallery=WHOLE.astype(float), gallery_labels=LABELS)
    columns = np.eye(10, dtype=int)[LABELS]
    with pytest.warns(tp.InputWarning, match=IN_GALLERY):
        tp.evaluate(REAL, columns, gallery=REAL, gallery_labels=columns)
    evaluator = tp.Evaluator()
    for side in ("queries", "gallery"):
        evaluator.update(REAL, LABELS, side=side)
    with pytest.warns(tp.InputWarning, match=IN_GALLERY):
        evaluator.compute()


PARTS: dict[str, Callable[..., object]] = {
    "a larger gallery": lambda call, values: call(values[:30], LABELS[:30], gallery=values, gallery_labels=LABELS),
    "another order": lambda call, values: call(
        values[:30], LABELS[:30], gallery=values[:30][::-1], gallery_labels=LABELS[:30][::-1]
    ),
    "another type": lambda call, values: call(
        values[:30], LABELS[:30], gallery=np.array(values, dtype=np.float64), gallery_labels=LABELS
    ),
    "distractors first": lambda call, values: call(values[10:], LABELS[10:], gallery=values, gallery_labels=LABELS),
}
IN_PART = r"30 of 30 queries are in the gallery, too: .* pass the pairs as exclude=; the first is \(0, "


@pytest.mark.parametrize("values", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("call", EMBEDDING_CALLS.values(), ids=EMBEDDING_CALLS)
def test_queries_among_others_in_the_gallery(call: Any, part: Callable[..., object], values: Any) -> None:
    with pytest.warns(tp.InputWarning, match=IN_PART):
        part(call, values)


def test_queries_among_others_in_other_forms() -> None:
    pairs = np.repeat(np.arange(30)[:, None], 2, axis=1)
    with pytest.warns(tp.InputWarning, match=IN_PART):
        tp.evaluate(REAL[:30], gallery=REAL, relevance=np.vstack([pairs, pairs + np.array([0, 1])]))
    columns = np.eye(10, dtype=int)[LABELS]
    with pytest.warns(tp.InputWarning, match=IN_PART):
        tp.evaluate(REAL[:30], columns[:30], gallery=REAL, gallery_labels=columns)
    with pytest.warns(tp.InputWarning, match=IN_PART):
        tp.evaluate(CODES[:30], LABELS[:30], gallery=CODES, gallery_labels=LABELS, distance="hamming", bits=64)
    with pytest.warns(tp.InputWarning, match=IN_PART):
        tp.evaluate(REAL[:30], LABELS[:30], gallery=REAL, gallery_labels=LABELS, distance=lambda x, y: -x @ y.T)
    with pytest.warns(tp.InputWarning, match=IN_PART):
        tp.evaluate_answers(REAL[:30], LABELS[:30], gallery=REAL, gallery_labels=LABELS)
    with pytest.warns(tp.InputWarning, match="20 of 40 queries are in the gallery, too"):
        tp.evaluate(REAL, LABELS, gallery=mixed(20), gallery_labels=LABELS)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_queries_among_others_in_shards(checkpoint: bool, tmp_path: Path) -> None:
    for name, rows in (("queries", slice(30)), ("gallery", slice(40))):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "0.npy", REAL[rows])
    queries, gallery = (tp.open(tmp_path / name) for name in ("queries", "gallery"))
    with pytest.warns(tp.InputWarning, match=IN_PART) as caught:
        tp.evaluate(
            queries,
            LABELS[:30],
            gallery=gallery,
            gallery_labels=LABELS,
            checkpoint=tmp_path / "done" if checkpoint else None,
        )
    assert len(caught) == 1


def mixed(count: int) -> Any:
    """Some rows of the queries, and new ones."""
    return np.vstack([REAL[:count], REAL[count:] + 1])


COARSE = np.sign(REAL[:, :3])


ITSELF = np.repeat(np.arange(40)[:, None], 2, axis=1)

HONEST: dict[str, Callable[[], object]] = {
    "another gallery": lambda: tp.evaluate(REAL, LABELS, gallery=REAL + 1, gallery_labels=LABELS),
    "few queries in the gallery": lambda: tp.evaluate(REAL, LABELS, gallery=mixed(19), gallery_labels=LABELS),
    "a part of a collapsed model": lambda: tp.evaluate(
        COARSE[:30], LABELS[:30], gallery=COARSE, gallery_labels=LABELS
    ),
    "codes of copies": lambda: tp.evaluate(
        CODES[:30],
        LABELS[:30],
        gallery=np.vstack([CODES[1:], ~CODES]),
        gallery_labels=[*LABELS[1:], *LABELS],
        distance="hamming",
        bits=64,
    ),
    "a part without the own items": lambda: tp.evaluate(
        REAL[:30], LABELS[:30], gallery=REAL, gallery_labels=LABELS, exclude=ITSELF[:30]
    ),
    "judgments of others in a part": lambda: tp.evaluate(
        REAL[:30], gallery=REAL, relevance=[(i, (i + 1) % 40) for i in range(30)]
    ),
    "a part in other groups": lambda: tp.evaluate(
        REAL[:30],
        LABELS[:30],
        gallery=REAL,
        gallery_labels=LABELS,
        groups=np.arange(30),
        gallery_groups=np.arange(40),
    ),
    "queries left out themselves": lambda: tp.evaluate(
        REAL, LABELS, gallery=REAL, gallery_labels=LABELS, exclude=ITSELF
    ),
    "cameras": lambda: tp.evaluate(
        REAL, LABELS, gallery=REAL, gallery_labels=LABELS, groups=np.arange(40) % 2, gallery_groups=np.arange(40) % 2
    ),
    "other labels": lambda: tp.evaluate(REAL, LABELS, gallery=REAL, gallery_labels=np.roll(LABELS, 8)),
    "judgments of others": lambda: tp.evaluate(REAL, gallery=REAL, relevance=[(i, (i + 1) % 40) for i in range(40)]),
    "a collapsed model": lambda: tp.evaluate(
        np.ones((40, 3)), LABELS, gallery=np.ones((40, 3)), gallery_labels=LABELS
    ),
    "a small example": lambda: tp.evaluate(REAL[:3], LABELS[:3], gallery=REAL[:3], gallery_labels=LABELS[:3]),
    "no labels": lambda: tp.collisions(REAL, gallery=REAL),
}


@pytest.mark.parametrize("call", HONEST.values(), ids=HONEST)
def test_an_honest_gallery(call: Callable[[], object]) -> None:
    quiet(call)


SCORES = REAL @ REAL.T
RELEVANT = LABELS[:, None] == LABELS
FINDS = "40 of 40 queries probably find themselves, .* pass labels without gallery_labels"


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_scores_of_all_pairs(dtype: Any) -> None:
    unit = REAL / np.linalg.norm(REAL, axis=1, keepdims=True)
    for scores in (unit @ unit.T, 40 * unit @ unit.T, np.exp(-squared(REAL))):
        for call, values in ((tp.evaluate_scores, scores), (tp.evaluate_distances, -scores)):
            for given in (values.astype(dtype), list(values.astype(dtype))):
                with pytest.warns(tp.InputWarning, match=FINDS):
                    call(given, RELEVANT)
                with pytest.warns(tp.InputWarning, match=FINDS):
                    call(given, labels=LABELS, gallery_labels=LABELS)
    with pytest.warns(tp.InputWarning, match=FINDS):
        tp.evaluate_distances(np.sqrt(squared(REAL)).astype(dtype), RELEVANT)
    with pytest.warns(tp.InputWarning, match=r"queries probably find themselves"):
        tp.evaluate_scores(SCORES.astype(dtype), RELEVANT)
    with pytest.warns(tp.InputWarning, match=FINDS):
        tp.evaluate_scores(np.hstack([unit @ unit.T, NOISE - 9]).astype(dtype), np.hstack([RELEVANT, RELEVANT]))


def squared(values: Any) -> Any:
    return ((values[:, None] - values) ** 2).sum(axis=2)


def test_honest_scores() -> None:
    texts = REAL + RANDOM.normal(size=REAL.shape) / 9
    for scores in (REAL @ texts.T, -((REAL[:, None] - texts) ** 2).sum(axis=2)):
        for relevance in (RELEVANT, np.eye(40)):
            quiet(tp.evaluate_scores, scores, relevance)
            quiet(tp.evaluate_distances, -scores, relevance)
    quiet(tp.evaluate_scores, SCORES, labels=LABELS)
    quiet(tp.evaluate_scores, SCORES, RELEVANT - 2 * np.eye(40))
    quiet(tp.evaluate_scores, SCORES, (RELEVANT & ~np.eye(40, dtype=bool)).astype(int))
    quiet(tp.evaluate_scores, with_diagonal(SCORES, 0.0), RELEVANT)
    quiet(tp.evaluate_scores, np.eye(40), np.eye(40))
    quiet(tp.evaluate_scores, SCORES[:9, :9], RELEVANT[:9, :9])


def as_run(scores: Any, prefix: str = "") -> Any:
    return {
        str(query): {f"{prefix}{item}": float(score) for item, score in enumerate(row)}
        for query, row in enumerate(scores)
    }


QRELS = {query: {item: 1 for item, score in judged.items() if score} for query, judged in as_run(RELEVANT).items()}
OWN = "40 of 40 queries find the document that has their own id first.*own='drop'"


def test_a_run_of_all_pairs(tmp_path: Path) -> None:
    distances = squared(REAL)
    with pytest.warns(tp.InputWarning, match=OWN):
        tp.evaluate_run(QRELS, as_run(-distances))
    for name, columns, of in (
        ("qrels", "{} 0 {} {:.0f}\n", QRELS),
        ("run", "{} Q0 {} 1 {} me\n", as_run(-distances)),
    ):
        lines = [columns.format(query, item, value) for query, found in of.items() for item, value in found.items()]
        (tmp_path / name).write_text("".join(lines))
    with pytest.warns(tp.InputWarning, match=OWN):
        tp.evaluate_run(tmp_path / "qrels", tmp_path / "run")
    others = {
        query: {item: grade for item, grade in judged.items() if item != query} for query, judged in QRELS.items()
    }
    with pytest.warns(tp.InputWarning, match=OWN):
        tp.evaluate_run(others, as_run(-distances))
    quiet(tp.evaluate_run, others, as_run(-distances), own="drop")
    quiet(tp.evaluate_run, {query: {query: 1} for query in QRELS}, as_run(-distances))
    quiet(tp.evaluate_run, QRELS, as_run(with_diagonal(-distances, -99.0)))
    quiet(tp.evaluate_run, QRELS, as_run(-distances, prefix="d") | {"3": {"3": 1.0}})


SELF = "40 of 40 queries probably find themselves: item i is the first one of query i"


def test_lists_of_all_neighbors() -> None:
    distances = squared(REAL)
    ids = np.argsort(distances, axis=1)[:, :10]
    near = np.take_along_axis(distances, ids, axis=1)
    labelled: dict[str, Any] = {"labels": LABELS, "gallery_labels": LABELS}
    pairs = [(query, item) for query, items in enumerate(RELEVANT) for item in np.flatnonzero(items)]
    for given in ({"distances": near}, {"distances": near + 1e-6 * RANDOM.random((40, 1))}, {"scores": 1 - near}, {}):
        with pytest.warns(tp.InputWarning, match=SELF):
            tp.evaluate_neighbors(ids, **given, **labelled)
        with pytest.warns(tp.InputWarning, match=SELF):
            tp.evaluate_neighbors(ids, **given, relevance=pairs, n_items=40)
        quiet(tp.evaluate_neighbors, ids, **given, labels=LABELS)
        quiet(tp.evaluate_neighbors, ids, **given, **labelled, exclude=ITSELF)
        quiet(tp.evaluate_neighbors, ids, **given, labels=range(40), gallery_labels=range(40))
        quiet(tp.evaluate_neighbors, ids, **given, labels=LABELS, gallery_labels=np.roll(LABELS, 8))
    quiet(tp.evaluate_neighbors, ids, near + 5, **labelled)
    quiet(tp.evaluate_neighbors, ids[:, 1:], near[:, 1:], **labelled)


UNIT = REAL / np.linalg.norm(REAL, axis=1, keepdims=True)
DISTANCES = np.sqrt(((REAL[:, None] - REAL) ** 2).sum(axis=2))
MATRICES: dict[str, Any] = {
    "cosines": UNIT @ UNIT.T,
    "cosines in float32": UNIT.astype(np.float32) @ UNIT.astype(np.float32).T,
    "cosines in float16": (UNIT @ UNIT.T).astype(np.float16),
    "cosines of bfloat16": (UNIT @ UNIT.T).astype(np.float32).view(np.uint32) >> 16 << 16,
    "distances": DISTANCES,
    "squared distances": DISTANCES**2,
    "whole distances": np.abs(WHOLE[:, None] - WHOLE).sum(axis=2),
    "distances in int16": np.abs(WHOLE[:, None] - WHOLE).sum(axis=2).astype(np.int16),
    "negated distances": -DISTANCES,
    "a kernel": np.exp(-DISTANCES),
    "lists": np.abs(WHOLE[:, None] - WHOLE).sum(axis=2).tolist(),
}
MATRICES["cosines of bfloat16"] = MATRICES["cosines of bfloat16"].view(np.float32)
SQUARE = "are a square, symmetric matrix with a constant diagonal"


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_similarities_as_embeddings(matrix: Any) -> None:
    with pytest.warns(tp.InputWarning, match=f"embeddings {SQUARE}, .* of 40 items"):
        tp.evaluate(matrix, LABELS)


@pytest.mark.parametrize("call", EMBEDDING_CALLS.values(), ids=EMBEDDING_CALLS)
def test_similarities_in_other_calls(call: Callable[..., object]) -> None:
    with pytest.warns(tp.InputWarning, match=SQUARE):
        call(DISTANCES, LABELS, distance="euclidean")


def test_similarities_in_further_calls() -> None:
    with pytest.warns(tp.InputWarning, match=SQUARE):
        tp.pcf(DISTANCES)
    evaluator = tp.Evaluator()
    evaluator.update(DISTANCES, LABELS)
    with pytest.warns(tp.InputWarning, match=SQUARE):
        evaluator.compute()


@pytest.mark.heavy
def test_similarities_as_means() -> None:
    pytest.importorskip("scipy")
    with pytest.warns(tp.InputWarning, match=f"means {SQUARE}"):
        tp.confidence.credible_retrieval(DISTANCES, np.ones(40), LABELS)


PACKED: dict[str, Any] = {
    "bytes": CODES,
    "signed bytes": CODES.view(np.int8),
    "binary of sentence-transformers": (CODES - 128).view(np.int8),
    "one byte": np.packbits(RANDOM.random((400, 8)) < 0.4, axis=1),
}
HALF = "of which every bit is set about half of the time"


@pytest.mark.parametrize("codes", PACKED.values(), ids=PACKED)
def test_packed_codes_as_numbers(codes: Any) -> None:
    bits = 8 * codes.itemsize * codes.shape[1]
    for distance in ("cosine", "euclidean", "sqeuclidean", "cityblock", "dot"):
        with pytest.warns(tp.InputWarning, match=f"embeddings .* {HALF}, .*and bits={bits}"):
            tp.evaluate(codes, np.arange(len(codes)) % 5, distance=distance, measures=["AP"])


@pytest.mark.parametrize("call", EMBEDDING_CALLS.values(), ids=EMBEDDING_CALLS)
def test_packed_codes_in_other_calls(call: Callable[..., object]) -> None:
    with pytest.warns(tp.InputWarning, match=HALF):
        call(CODES, LABELS)


PIXELS = np.clip(120 + 64 * RANDOM.normal(size=(400, 64)), 0, 255).astype(np.uint8)
NUMBERS: dict[str, Any] = {
    "quantized embeddings": np.clip(127 + 36 * RANDOM.normal(size=(400, 64)), 0, 255).astype(np.uint8),
    "signed quantized embeddings": np.clip(42 * RANDOM.normal(size=(400, 64)), -128, 127).astype(np.int8),
    "pixels": PIXELS,
    "dark pixels": PIXELS // 3,
    "saturated pixels": np.where(PIXELS > 200, 255, np.where(PIXELS < 60, 0, PIXELS)),
    "a drawing": np.where(PIXELS > 170, PIXELS, 0),
    "counts": RANDOM.poisson(9, size=(400, 64)).astype(np.uint8),
    "bits": RANDOM.integers(0, 2, size=(400, 64), dtype=np.uint8),
    "integers": RANDOM.integers(-1000, 1000, size=(400, 64)),
    "wide integers": (2.0**29 * RANDOM.normal(size=(400, 8))).astype(np.int32),
    "noise of many columns": RANDOM.integers(0, 256, size=(40, 512), dtype=np.uint8),
    "few numbers": CODES[:10],
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_honest_integers(values: Any) -> None:
    quiet(lambda: tp.evaluate(values, np.arange(len(values)) % 5, measures=["AP"]))


def symmetric(values: Any) -> Any:
    return np.triu(values) + np.triu(values, 1).T


def with_diagonal(values: Any, diagonal: float) -> Any:
    values = values.copy()
    np.fill_diagonal(values, diagonal)
    return values


ORTHOGONAL = np.linalg.qr(NOISE)[0]
EDGES = symmetric((RANDOM.random((40, 40)) < 0.7).astype(int))
HADAMARD = np.ones((1, 1))
while len(HADAMARD) < 32:
    HADAMARD = np.block([[HADAMARD, HADAMARD], [HADAMARD, -HADAMARD]])

VECTORS: dict[str, Any] = {
    "random": NOISE,
    "random with a constant diagonal": with_diagonal(NOISE, 5.0),
    "symmetric, any diagonal": symmetric(NOISE),
    "symmetric, a diagonal in between": with_diagonal(symmetric(NOISE), 0.0),
    "orthogonal": ORTHOGONAL,
    "a reflection": np.eye(40) - 2 * np.outer(UNIT[0].repeat(7)[:40], UNIT[0].repeat(7)[:40]),
    "one-hot": np.eye(40),
    "one-hot, scaled": 3 * np.eye(40, dtype=np.int8),
    "a constant": np.ones((40, 40)),
    "zeros": np.zeros((40, 40)),
    "the edges of a graph": with_diagonal(EDGES, 0),
    "the edges of a graph, with loops": with_diagonal(EDGES, 1),
    "weighted edges of a sparse graph": with_diagonal(
        symmetric(np.where(np.abs(NOISE) > 1.5, np.abs(NOISE), 0)), 0.0
    ),
    "a Gram matrix": REAL @ REAL.T,
    "a triangle": np.tril(np.ones((40, 40))),
    "signs": np.sign(symmetric(NOISE)),
    "bools": with_diagonal(EDGES, 1) > 0,
    "a cosine transform": np.cos(np.pi / 40 * np.outer(np.arange(40) + 0.5, np.arange(40))),
    "small": DISTANCES[:3, :3],
    "not square": DISTANCES[:, :39],
}


@pytest.mark.parametrize("values", VECTORS.values(), ids=VECTORS)
def test_honest_square_matrices(values: Any) -> None:
    quiet(lambda: tp.evaluate(values, LABELS[: len(values)] % 3, measures=["AP"]))


def test_a_hadamard_matrix() -> None:
    quiet(lambda: tp.evaluate(HADAMARD, LABELS[:32] % 3))


def test_what_is_not_finite_is_refused_as_ever() -> None:
    for wrong in (np.nan, np.inf, -np.inf):
        matrix = DISTANCES.copy()
        matrix[0, 20] = matrix[20, 0] = wrong
        with pytest.raises(tp.InputError, match="embeddings must contain only finite numbers, but row 0"):
            tp.evaluate(matrix, LABELS)
        with pytest.raises(tp.InputError, match="must contain only finite numbers"):
            tp.evaluate(np.full((40, 40), wrong), LABELS)
    huge = with_diagonal(symmetric(NOISE) / np.abs(NOISE).max() * 1.7e308, 0.0)
    quiet(lambda: tp.evaluate(huge, LABELS))


@pytest.mark.parametrize(
    ("measures", "named"),
    [
        (["R@1"], "R@1 divides by"),
        (["AP", "R@2", "R@5"], "R@2 divides by"),
        (["R@1", "R@2"], r"R@1, R@2 divide by .*: Success@1, Success@2\."),
        (["R@2", "Success@1"], r"R@2 divides by .*: Success@2\."),
    ],
)
def test_recall_of_many(measures: list[str], named: str) -> None:
    with pytest.warns(tp.InputWarning, match=named):
        tp.evaluate(REAL, LABELS, measures=measures)


def test_recall_of_few() -> None:
    quiet(lambda: tp.evaluate(REAL, LABELS, measures=["R@3", "R@10"]))
    quiet(lambda: tp.evaluate(REAL, LABELS, measures=["R@2", "Success@2"]))
    quiet(lambda: tp.evaluate(REAL, LABELS, measures=["P@1", "Rprec", "AP@R", "RelP@2"]))
    # Half of the queries have more than one relevant item, no more.
    pairs = np.repeat([0, 1, 2, 3, 4, 5, 6, 7], [2, 2, 3, 2, 2, 3, 2, 4])
    quiet(lambda: tp.evaluate(REAL[:20], pairs, measures=["R@1"]))
    # Excluded items are not ranked: three items of each class find only the fourth.
    quiet(lambda: tp.evaluate(REAL, LABELS, groups=np.arange(40) % 4 == 3, measures=["R@1"]))
    quiet(lambda: tp.evaluate_scores(REAL, REAL > 0, measures=["R@1"]))


def test_the_warning_names_the_line_of_the_call() -> None:
    with pytest.warns(tp.InputWarning) as caught:
        tp.evaluate(DISTANCES, LABELS)
    assert [warning.filename for warning in caught] == [__file__]
    evaluator = tp.Evaluator()
    evaluator.update(DISTANCES, LABELS)
    with pytest.warns(tp.InputWarning) as caught:
        evaluator.compute()
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_tensors(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    values, matrix = (torch.tensor(10 * each).to(getattr(torch, dtype)) for each in (REAL, DISTANCES))
    with pytest.warns(tp.InputWarning, match=IN_GALLERY):
        tp.evaluate(values, LABELS, gallery=values, gallery_labels=LABELS)
    with pytest.warns(tp.InputWarning, match=SQUARE):
        tp.evaluate(matrix, LABELS)
