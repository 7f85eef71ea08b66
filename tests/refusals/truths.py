"""Votes of nearest items, and folders of true neighbors, that are refused."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp
from refusals.case import Case

ROWS, LABELS = [[0.0], [1.0], [3.0]], ["a", "b", "b"]


def accuracy(*given: Any, **options: Any) -> Any:
    return lambda: tp.knn_accuracy(*(given or (ROWS, LABELS)), k=2, **options)


def truth(change: Callable[[Path], object], **options: Any) -> Callable[[Path], object]:
    """Verify a truth after a change of its folder; `change` may return what is called instead."""

    def call(folder: Path) -> object:
        tp.truth(ROWS, ROWS, 2, out=folder / "truth", distance="euclidean")
        change(folder / "truth")
        return tp.verify_truth(folder / "truth", ROWS, ROWS, **options)

    return call


def write(*given: Any, **options: Any) -> Callable[[Path], object]:
    """Write a truth."""
    return lambda folder: tp.truth(*(given or (ROWS, ROWS)), **{"out": folder / "truth", **options})


def examine(ids: Any, **options: Any) -> Callable[[], object]:
    return lambda: tp.examine_truth(ids, ROWS, ROWS, **options)


def certify(folder: Path, **changed: object) -> None:
    """Write the certificate of a truth with other fields, and the digest that belongs to them."""
    content = json.loads((folder / "certificate.json").read_text()) | changed
    del content["digest"]
    digest = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(content | {"digest": digest}))


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


CASES: dict[str, Case] = {
    "test= without test_labels=": Case(accuracy(ROWS, LABELS, ROWS), r"test_labels is missing.*or neither"),
    "labels of several classes for a vote": Case(
        accuracy(ROWS, np.eye(3, dtype=int)), r"labels have the shape \(3, 3\): several classes.*one vote"
    ),
    "a temperature of 0": Case(accuracy(weights=0), r"weights must be None, 'distance' or a temperature.*not 0"),
    "a temperature that is too small": Case(
        accuracy(ROWS, LABELS, [[0.0]], ["a"], weights=1e-9, distance="euclidean"),
        r"temperature 1e-09 is too small.*Pass a larger one",
    ),
    "weights of 1 / distance for negative distances": Case(
        accuracy(weights="distance", distance="dot"), r"1 / distance, but a distance of query \d is -3\.0"
    ),
    "weights of distances that overflow float64": Case(
        accuracy([[1e200], [-1e200], [0.0]], ["a", "b", "a"], weights="distance", distance="sqeuclidean"),
        r"distances of query 0 overflow float64.*Scale the embeddings",
    ),
    "weights of similarities that overflow float64": Case(
        accuracy([[1e300], [1e10], [-1e300]], ["a", "b", "a"], [[1e300]], ["b"], weights=0.07, distance="dot"),
        r"distances of query 0 overflow float64.*Scale the embeddings",
    ),
    "neighbors that were found, as the truth": Case(
        lambda: tp.neighbor_recall([[0]], tp.nearest([[1.0]], [[1.0], [2.0]], k=1), k=1),
        r"pair \(ids, distances\), not Neighbors\. Pass \(truth\.ids, truth\.distances\)",
    ),
    "a file of a truth for its folder": Case(
        truth(lambda folder: tp.verify_truth(folder / "truth.npz", ROWS, ROWS)),
        r"truth\.npz is a file, but a truth is a folder with certificate\.json\. Pass its folder, '.*truth'\.",
        in_folder=True,
    ),
    "another file for the folder of a truth": Case(
        lambda folder: tp.neighbor_recall([[0]], np.save(folder / "x.npy", ROWS) or folder / "x.npy"),  # type: ignore[func-returns-value]
        r"x\.npy is a file, but a truth is a folder with certificate\.json\. Pass the folder that tieproof",
        in_folder=True,
    ),
    "a truth in place of what an index found": Case(
        lambda: tp.neighbor_recall("truth", [[0]]),
        r"found ids must be an array, not 'truth'\. Pass the found ids first, then the truth: neighbor_recall\(ids",
    ),
    "ids and distances in place of what an index found": Case(
        lambda: tp.neighbor_recall((np.array([[0]]), np.array([[0.5]])), [[0]]),
        r"found ids are a pair \(ids, distances\), as a truth is\. Pass the found ids first",
    ),
    "NaN in the gallery of a truth": Case(
        write(ROWS, [[np.nan], [1.0]]), r"gallery must contain only finite numbers, but row 0", in_folder=True
    ),
    "a function as the distance of a truth": Case(
        write(distance=np.subtract.outer), r"distance of a truth must be a name, not", in_folder=True
    ),
    "an unknown format of a truth": Case(
        write(formats="xml"), r"Unknown formats='xml'. Known: bigann", in_folder=True
    ),
    "a finished truth that would be written again": Case(
        truth(lambda path: tp.truth(ROWS, ROWS, 2, out=path)), r"contains a finished truth already", in_folder=True
    ),
    "a truth in a folder with other files": Case(
        lambda folder: [
            (folder / "out").mkdir(),
            (folder / "out" / "notes.txt").write_text(""),
            tp.truth(ROWS, ROWS, out=folder / "out"),
        ],
        r"contains other files, such as notes\.txt",
        in_folder=True,
    ),
    "a folder without a certificate": Case(
        lambda folder: tp.verify_truth(folder / "truth", ROWS, ROWS), r"has no certificate\.json", in_folder=True
    ),
    "a certificate that is cut short": Case(
        truth(lambda path: (path / "certificate.json").write_text("{")), r"not a readable certificate", in_folder=True
    ),
    "a certificate that was edited": Case(
        truth(lambda path: edit(path / "certificate.json", '"k": 2', '"k": 3')),
        r"was changed after it was written: its digest differs",
        in_folder=True,
    ),
    "a certificate with a text in place of a number": Case(
        truth(lambda folder: certify(folder, k="2")), r"lacks fields of a certificate, or has other types", True
    ),
    "a truth of a newer version": Case(
        truth(lambda folder: certify(folder, version="999.0")), r"was written by tieproof 999\.0, but this is", True
    ),
    "a file of a truth that was changed": Case(
        truth(lambda path: (path / "truth.ibin").write_bytes(b"")),
        r"truth\.ibin was changed after it was certified",
        in_folder=True,
    ),
    "a sample of 0 queries": Case(
        truth(lambda path: None, sample=0), r"sample must be a whole number of at least 1, or None", in_folder=True
    ),
    "a truth to examine whose ids are floats": Case(examine([[0.5]] * 3), r"true ids must be integers.*float64"),
    "a truth to examine with too few lists": Case(
        examine([[0]]), r"number of true lists is 1, but the number of queries is 3"
    ),
    "a truth to examine with queries and gallery swapped": Case(
        lambda: tp.examine_truth([[0]] * 2, ROWS, ROWS[:2]),
        r"number of true lists is 2, as that of items, but that of queries is 3\. The queries come first",
    ),
    "a truth to verify with queries and gallery swapped": Case(
        lambda folder: [
            tp.truth(ROWS[:2], ROWS, 2, out=folder / "truth"),
            tp.verify_truth(folder / "truth", ROWS, ROWS[:2]),
        ],
        r"truth is of 2 queries and 3 items, but 3 queries and 2 items were passed\. The queries come first",
        in_folder=True,
    ),
    "a truth to examine with lists longer than the gallery": Case(
        examine([[0, 1, 2, 0]] * 3), r"k is 4, but the lists have 4 ids, and the gallery has 3 items"
    ),
    "the recall by a truth of another number of items": Case(
        lambda folder: [write(k=2)(folder), tp.neighbor_recall([[0]] * 3, folder / "truth", k=1, n_items=4)],
        r"n_items is 4, but the truth in .* has 3 items",
        in_folder=True,
    ),
    "a range search by a truth without a radius": Case(
        lambda folder: [write()(folder), tp.range_recall(([0, 0], []), folder / "truth")],
        r"radius must be a number with the folder of a truth, not None",
        in_folder=True,
    ),
    "a radius that a truth does not certify": Case(
        lambda folder: [
            write(k=2, distance="euclidean")(folder),
            tp.range_recall(([0, 0, 0, 0], []), folder / "truth", radius=1.5),
        ],
        r"radius is 1\.5, but the truth lists the 2 nearest items.*not for 2 queries, first query 0 with 1\.0",
        in_folder=True,
    ),
    "a range search that found an item that a truth does not have": Case(
        lambda folder: [write()(folder), tp.range_recall(([0, 1], [3]), folder / "truth", radius=0)],
        r"found ids contain 3, but the truth in .* has 3 items",
        in_folder=True,
    ),
}
