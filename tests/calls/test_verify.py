"""Verification: the same data agrees in any order, and every difference is reported."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from record_files import CONFIDENCE, EMBEDDINGS, LABELS, LONG, QRELS, RESULTS, RUN, packed, parts_of
from tieproof.evaluation.result import Result

DATA: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "labels": ((EMBEDDINGS, LABELS), {}),
    "strings": ((EMBEDDINGS, LONG), {"categories": LONG}),
    "bytes as categories": ((EMBEDDINGS, LABELS), {"categories": LONG.astype("S")}),
    "confidences": ((EMBEDDINGS, LABELS), {"confidence": CONFIDENCE}),
    "nothing relevant, kept": ((EMBEDDINGS, [*LABELS[:-1], 99]), {}),
    "gallery": ((EMBEDDINGS[:8], LABELS[:8]), {"gallery": EMBEDDINGS[8:], "gallery_labels": LABELS[8:]}),
    "packed codes": ((np.packbits(EMBEDDINGS > 0, axis=1), LABELS), {}),
    "triples": ((EMBEDDINGS,), {"relevance": [[0, 1, 2], [1, 0, 1]], "exclude": [[0, 2]]}),
    "evaluator": ((EMBEDDINGS, LONG), {}),
    "scores": (([[2, 1, 1], [1, 2, 2]], [[1, 0, 2], [0, 1, 0]]), {}),
    "distances cut off": (([[2, 1, 1], [1, 2, 2]], [[1, 0, 1], [0, 1, 0]]), {"n_relevant": 5}),
    "run": ((QRELS, RUN), {}),
    "run, other policies": ((QRELS, RUN), {}),
    "run with categories": ((QRELS, RUN), {"categories": {"q1": "a|b", "q2": "<b>", "Zürich": "a|b", "none": "c"}}),
}


@pytest.mark.parametrize("kind", DATA)
def test_the_same_data_agrees(kind: str, tmp_path: Path) -> None:
    RESULTS[kind]().save(tmp_path / "run.tieproof")
    data, more = DATA[kind]
    found = tp.verify(tmp_path / "run.tieproof", *data, **more)
    assert found.agrees
    assert found.same_data
    assert found.same_order == (kind != "evaluator")  # its record contains other numbers
    assert bool(found)
    assert found.differences == ()
    assert str(found).startswith("Every bit agrees.")


def test_the_same_data_in_another_order_agrees() -> None:
    order = np.random.default_rng(8).permutation(24)
    result = tp.evaluate(EMBEDDINGS, LABELS, categories=LONG, confidence=CONFIDENCE)
    found = tp.verify(result, EMBEDDINGS[order], LABELS[order], categories=LONG[order], confidence=CONFIDENCE[order])
    assert (found.agrees, found.same_data, found.same_order) == (True, True, False)
    assert "in another order or under other names" in str(found).replace("\n", " ")
    moved = tp.verify(result, EMBEDDINGS[order], LABELS[order], categories=LONG[order], confidence=CONFIDENCE)
    assert not moved.agrees


CHANGED = np.where(np.arange(24)[:, None] == 5, EMBEDDINGS + 1, EMBEDDINGS)
SWAPPED = LABELS.copy()
SWAPPED[[0, 1]] = SWAPPED[[1, 0]]

OTHERS: dict[str, tuple[Callable[[], tp.Verification], str]] = {
    "embeddings": (lambda: tp.verify(RESULTS["labels"](), CHANGED, LABELS), "AP differs for"),
    "labels": (lambda: tp.verify(RESULTS["labels"](), EMBEDDINGS, SWAPPED), "The data differs"),
    "half of the data": (lambda: tp.verify(RESULTS["labels"](), EMBEDDINGS[:16], LABELS[:16]), "The queries differ"),
    "a gallery": (
        lambda: tp.verify(RESULTS["labels"](), EMBEDDINGS, LABELS, gallery=EMBEDDINGS[:9], gallery_labels=LABELS[:9]),
        "The record has leave_one_out = True, but now it is False.",
    ),
    "run": (lambda: tp.verify(RESULTS["run"](), QRELS, RUN | {"q1": {"d1": 0.5}}), "AP differs for 1 of 3 queries"),
    "qrels": (
        lambda: tp.verify(RESULTS["run"](), QRELS | {"q5": {"d1": 1}}, RUN),
        "The queries differ: 3 in the record and 4 now, 3 of them with the same name.",
    ),
    "names": (
        lambda: tp.verify(
            RESULTS["run"](), *({"x" + q: each for q, each in given.items()} for given in (QRELS, RUN))
        ),
        "0 of them with the same name",
    ),
}


@pytest.mark.filterwarnings("ignore:.*gallery")
@pytest.mark.parametrize("kind", OTHERS)
def test_other_data_does_not_agree(kind: str) -> None:
    call, says = OTHERS[kind]
    found = call()
    assert not found.agrees
    assert not found.same_data
    assert says in " ".join(found.differences)
    assert str(found).startswith("The record does not agree with what was evaluated.")
    assert found.to_dict()["differences"] == list(found.differences)


@pytest.mark.filterwarnings("ignore:.*gallery")
def test_a_last_bit_in_the_record_is_found(tmp_path: Path) -> None:
    """If a value and its mean change by one bit, the fingerprint still agrees, but the change is found."""
    path = tmp_path / "run.tieproof"
    tp.evaluate(EMBEDDINGS, LABELS, measures=["AP"]).save(path)
    parts = parts_of(path)
    values = np.load(path)["values"]
    place = int(np.argmax(values[0, 2] < 1))
    values[0, :3, place] = np.nextafter(values[0, :3, place], 2)
    forged = tp.load(path).evaluated
    (measure,) = forged.per_query
    Result(forged._replace(per_query={measure: values[0]})).save(path)
    found = tp.verify(path, EMBEDDINGS, LABELS)
    assert parts_of(path)["query_ids.npy"] == parts["query_ids.npy"]
    assert found.same_data
    assert not found.agrees
    (said, *_) = found.differences
    assert said.startswith(f"AP differs for 1 of 24 queries, first for {place}: lower ")
    assert "The data is the same: the fingerprints agree." in str(found)


def test_forged_zeros_and_queries_left_out_are_found() -> None:
    """Zeros of different signs are equal numbers with different bits; a shorter list of queries leaves some out."""
    result = RESULTS["run"]()
    found = result.evaluated
    measure, values = next(iter(found.per_query.items()))
    zeros = np.where(values == 0, -0.0, values)
    forged = Result(found._replace(per_query={**found.per_query, measure: zeros}))
    assert "lower -0.0 in the record, 0.0 now" in str(tp.verify(forged, QRELS, RUN)).replace("\n", " ")
    fewer = Result(found._replace(left_out={}))
    assert "left out, differ: 0 in the record, 1 now" in " ".join(tp.verify(fewer, QRELS, RUN).differences)
    absent = Result(found._replace(not_in_run=found.query_ids[:0]))
    assert "The queries with no document in the run differ: 0 in the record, 1 now." in (
        tp.verify(absent, QRELS, RUN).differences
    )


@pytest.mark.parametrize("order", [np.arange(24), np.arange(24)[::-1]])
def test_forged_words_of_what_is_relevant_are_found(order: Any) -> None:
    found = RESULTS["labels"]().evaluated
    words = np.roll(found.origin.relevant, 1)
    forged = Result(found._replace(origin=found.origin._replace(relevant=words)))
    verified = tp.verify(forged, EMBEDDINGS[order], LABELS[order])
    assert verified.same_data
    assert not verified.agrees
    assert "The set of relevant items differs for " in str(verified)


def test_a_distance_of_ones_own_is_given_again() -> None:
    def far(queries: Any, items: Any) -> Any:
        return np.abs(queries[:, None] - items[None]).max(axis=2)

    result = tp.evaluate(EMBEDDINGS, LABELS, distance=far)
    assert tp.verify(result, EMBEDDINGS, LABELS, distance=far).agrees
    with pytest.raises(tp.InputError, match="uses the function far, of which it stores only the name"):
        tp.verify(result, EMBEDDINGS, LABELS)
    with pytest.raises(tp.InputError, match="The distance of this record is cosine"):
        tp.verify(RESULTS["labels"](), EMBEDDINGS, LABELS, distance="euclidean")


def test_what_the_record_decides_is_refused() -> None:
    result = RESULTS["labels"]()
    for more in ({"measures": ["AP"]}, {"empty": "zero"}, {"n_relevant": 3}):
        with pytest.raises(tp.InputError, match="is not an argument for the verification of a record of evaluate"):
            tp.verify(result, EMBEDDINGS, LABELS, **more)
    with pytest.raises(tp.InputError, match="needs one or two arguments"):
        tp.verify(result)
    with pytest.raises(tp.InputError, match="has categories of its queries"):
        tp.verify(RESULTS["integers as categories"](), EMBEDDINGS, LABELS)
    with pytest.raises(tp.InputError, match="has confidences of its queries"):
        tp.verify(RESULTS["confidences"](), EMBEDDINGS, LABELS)
    with pytest.raises(tp.InputError, match="The result of one category cannot be verified alone"):
        tp.verify(RESULTS["strings"]().category(LONG[0]), EMBEDDINGS, LONG)


def test_another_version_of_tieproof_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.tieproof"
    tp.evaluate(EMBEDDINGS, LABELS).save(path)
    parts = parts_of(path)
    parts["record.json"] = parts["record.json"].replace(f'"{tp.__version__}"'.encode(), b'"0.0.1"')
    found = tp.verify(packed(path, parts), EMBEDDINGS, LABELS)
    assert found.agrees
    assert f"The record was written by tieproof 0.0.1, but this is tieproof {tp.__version__}." in str(found)
