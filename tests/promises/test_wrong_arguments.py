"""Every argument of every call, replaced by a value of a wrong kind, gives a result or an error of one line."""

import inspect
import warnings
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp

RANDOM = np.random.default_rng(0)
X, G = RANDOM.normal(size=(8, 3)), RANDOM.normal(size=(6, 3))
LABELS, GALLERY_LABELS = np.arange(8) // 2, np.arange(6) % 4
SCORES = X @ G.T
RELEVANCE = (LABELS[:, None] == GALLERY_LABELS).astype(int)
IDS = np.argsort(-SCORES, axis=1)[:, :3]
RESULTS = {name: tp.evaluate(values, LABELS, measures=["AP"]) for name, values in (("a", X), ("b", -(X**2)))}


def update(
    embeddings: Any, labels: Any, indices: Any = None, categories: Any = None, side: Any = None, distance: Any = "dot"
) -> object:
    evaluator = tp.Evaluator(distance=distance)
    evaluator.update(embeddings, labels, indices, categories, side=side)
    return evaluator.compute()


BOTH: dict[str, Any] = {"labels": LABELS, "gallery_labels": GALLERY_LABELS}
CALLS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "evaluate": (tp.evaluate, {"embeddings": X, "labels": LABELS}),
    "evaluate, gallery": (tp.evaluate, {"embeddings": X, "gallery": G, **BOTH}),
    "evaluate, hamming": (tp.evaluate, {"embeddings": X > 0, "labels": LABELS, "distance": "hamming"}),
    "scores": (tp.evaluate_scores, {"scores": SCORES, "relevance": RELEVANCE}),
    "scores, labels": (tp.evaluate_scores, {"scores": SCORES, **BOTH}),
    "distances, labels": (tp.evaluate_distances, {"distances": SCORES, **BOTH}),
    "run": (tp.evaluate_run, {"qrels": {"q": {"a": 1}}, "run": {"q": {"a": 1.0}}, "truncated": True}),
    "neighbors": (tp.evaluate_neighbors, {"ids": IDS, **BOTH}),
    "answers": (tp.evaluate_answers, {"embeddings": X, "gallery": G, **BOTH}),
    "collisions": (tp.collisions, {"embeddings": X, "labels": LABELS}),
    "rates": (tp.fnmr_at_fmr, {"embeddings": X, "labels": LABELS}),
    "rates of distances": (tp.fnmr_at_fmr_of_distances, {"relevant": [1.0], "others": [2.0]}),
    "recall": (tp.neighbor_recall, {"found": IDS, "queries": X, "gallery": G, "k": 3}),
    "nearest items": (tp.nearest, {"queries": X, "gallery": G, "k": 3}),
    "votes": (tp.knn_accuracy, {"train": X, "train_labels": LABELS, "k": 3, "weights": 0.5}),
    "examined truth": (tp.examine_truth, {"truth": IDS, "queries": X, "gallery": G}),
    "verified truth": (tp.verify_truth, {"truth": "no", "queries": X, "gallery": G}),
    "pcf": (tp.pcf, {"embeddings": X}),
    "compare": (tp.compare, {"results": RESULTS}),
    "overlap": (tp.rbo, {"first": {"a": 1.0}, "second": ["a", "b"], "p": 0.5}),
    "correlation": (tp.kendall_tau, {"first": {"a": 1.0, "b": 2.0}, "second": ["a", "b"]}),
    "two runs": (tp.agreement, {"first": {"q": {"a": 1.0}}, "second": {"q": {"a": 1.0}}, "p": 0.5}),
    "diversity": (
        tp.evaluate_diversity,
        {"qrels": {"q": {"s": {"a": 1}}}, "run": {"q": {"a": 1.0}}, "measures": ["ERR_IA@2"], "alpha": 0.5},
    ),
    "open": (tp.open, {"paths": "no.npy"}),
    "load": (tp.load, {"path": "no.tieproof"}),
    "batches": (update, {"embeddings": X, "labels": LABELS}),
}

EMPTY: dict[str, Any] = {
    "an empty list": [],
    "an empty array": np.zeros(0),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((8, 0)),
    "empty lists": [[] for _ in range(8)],
    "None": None,
}
WRONG: dict[str, Any] = EMPTY | {
    "a path": Path("x.npy"),
    "a name": "x.npy",
    "bytes": b"x",
    "a number": -1.5,
    "not a number": float("nan"),
    "a huge number": 10**400,
    "a boolean": True,
    "a dictionary": {"a": 1},
    "a set": {1, 2},
    "an object": object(),
    "an array of one number": np.array(3),
    "three dimensions": np.zeros((8, 2, 2)),
    "objects": np.array([None] * 8),
    "structures": np.zeros(8, [("a", int)]),
    "dates": np.zeros(8, "M8[s]"),
    "lists of different lengths": [[1], [1, 2]] * 4,
    "texts and numbers": [1, "a"] * 4,
}
LEFT_OUT = ("progress", "cluster", "checkpoint")


def check(call: Callable[..., object], given: dict[str, Any]) -> None:
    message = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(**given)
        except tp.TieproofError as error:
            message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize("name", CALLS)
def test_arguments_of_a_wrong_kind(name: str) -> None:
    call, given = CALLS[name]
    for argument, wrong in product(inspect.signature(call).parameters, WRONG):
        if argument not in LEFT_OUT:
            check(call, given | {argument: WRONG[wrong]})


@pytest.mark.parametrize("name", CALLS)
def test_two_empty_arguments(name: str) -> None:
    call, given = CALLS[name]
    for some in combinations(given, 2):
        for values in product(EMPTY.values(), repeat=2):
            check(call, given | dict(zip(some, values, strict=True)))


OTHERS = [
    "run",
    "diversity",
    "compare",
    "open",
    "load",
    "recall",
    "verified truth",
    "overlap",
    "correlation",
    "two runs",
]
ARRAYS = [name for name in CALLS if name not in OTHERS]


@pytest.mark.parametrize("path", ["x.npy", Path("x.npy")], ids=["a name", "a path"])
@pytest.mark.parametrize("name", ARRAYS)
def test_names_of_files_in_place_of_arrays(name: str, path: Any) -> None:
    call, given = CALLS[name]
    for argument in (each for each in given if each not in ("distance", "k", "weights")):
        with pytest.raises(tp.InputError, match=r"load it first, by numpy\.load or pandas; .* --help"):
            call(**(given | {argument: path}))
