"""Fingerprints: the same for the same data in any order, and different after any other change."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import tieproof as tp
from tieproof.inputs import identities

Array = npt.NDArray[Any]

RANDOM = np.random.default_rng(17)
EMBEDDINGS = RANDOM.integers(-3, 4, (30, 5)).astype(np.float32) / 4
EMBEDDINGS[7] = EMBEDDINGS[3]
LABELS = np.arange(30) % 6
GROUPS = np.arange(30) % 4


def of(result: tp.Result) -> str:
    return result.fingerprint


def leave_one_out(order: Array, embeddings: Array = EMBEDDINGS, labels: Array = LABELS, **more: Any) -> str:
    place = np.argsort(order)
    for name in ("exclude", "relevance"):
        if name in more:
            pairs = np.array(more[name])
            more[name] = np.column_stack([place[pairs[:, 0]], place[pairs[:, 1]], pairs[:, 2:]])
    if "groups" in more:
        more["groups"] = more["groups"][order]
    given = None if "relevance" in more else labels[order]
    return of(tp.evaluate(embeddings[order], given, measures=["AP"], **more))


KINDS: dict[str, dict[str, Any]] = {
    "labels": {},
    "groups": {"groups": GROUPS},
    "exclusions": {"exclude": [[0, 6], [0, 12], [3, 9], [7, 1]]},
    "triples": {"relevance": [[0, 6, 1], [0, 12, 2], [3, 9, 1], [7, 1, -1], [7, 2, 1]]},
}
AS_GIVEN = np.arange(30)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_items_does_not_matter(kind: str) -> None:
    orders = [AS_GIVEN, AS_GIVEN[::-1], RANDOM.permutation(30), RANDOM.permutation(30)]
    assert len({leave_one_out(order, **KINDS[kind]) for order in orders}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_any_bit_of_a_value_matters(kind: str) -> None:
    known = {leave_one_out(AS_GIVEN, **KINDS[kind])}
    for place in range(0, EMBEDDINGS.size, 11):
        for bit in (0, 9, 23, 30):
            changed = EMBEDDINGS.copy()
            changed.reshape(-1).view(np.uint32)[place] ^= np.uint32(1 << bit)
            if np.isfinite(changed).all():
                found = leave_one_out(AS_GIVEN, changed, **KINDS[kind])
                assert found not in known
                known.add(found)


def test_what_makes_items_relevant_matters() -> None:
    changed = LABELS.copy()
    changed[4] = 5
    swapped = np.where(LABELS == 1, 2, np.where(LABELS == 2, 1, LABELS))
    moved = GROUPS.copy()
    moved[[0, 1]] = moved[[1, 0]]
    settings: list[dict[str, Any]] = [
        *KINDS.values(),
        {"labels": changed},
        {"labels": swapped},
        {"labels": LABELS.astype(str)},
        {"labels": LABELS.astype("S")},
        {"labels": np.eye(6, dtype=int)[LABELS]},
        {"groups": moved},
        {"exclude": [[0, 6], [0, 12], [3, 9]]},
        {"exclude": [[0, 6], [0, 12], [3, 9], [7, 2]]},
        {"relevance": [[0, 6, 1], [0, 12, 1], [3, 9, 1], [7, 1, -1], [7, 2, 1]]},
        {"relevance": [[0, 6, 1], [0, 12, 2], [3, 9, 1], [7, 1, 1], [7, 2, 1]]},
        {"relevance": [[0, 6, 1], [3, 12, 2], [3, 9, 1], [7, 1, -1], [7, 2, 1]]},
    ]
    found = [leave_one_out(AS_GIVEN, **setting) for setting in settings]
    assert len(set(found)) == len(settings)


def test_pairs_of_equal_items_are_told_apart_by_query() -> None:
    """Two equal queries have two relevant items each; the fingerprint depends on which items belong to which."""
    rows = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [0.0, 1.0]])
    one, other, swapped = (
        of(tp.evaluate(rows, relevance=pairs, measures=["AP"]))
        for pairs in (
            [[0, 2], [0, 3], [1, 4], [1, 5]],
            [[0, 2], [0, 4], [1, 3], [1, 5]],
            [[1, 2], [1, 3], [0, 4], [0, 5]],
        )
    )
    assert one != other
    assert one == swapped


@pytest.mark.parametrize("kind", ["float64", "float16", "int8", "int64", "uint8", "uint64", "int16", "bool"])
def test_the_type_of_equal_numbers_does_not_matter(kind: str) -> None:
    rows = RANDOM.integers(0, 2, (30, 9))
    expected = leave_one_out(AS_GIVEN, rows.astype(np.float32))
    assert leave_one_out(AS_GIVEN, rows.astype(kind)) == expected
    assert leave_one_out(AS_GIVEN, np.asfortranarray(rows.astype(kind))) == expected
    assert leave_one_out(AS_GIVEN, np.flip(np.flip(rows.astype(kind), 1).copy(), 1)) == expected


def test_zeros_of_either_sign_are_one_number() -> None:
    assert leave_one_out(AS_GIVEN, np.where(EMBEDDINGS == 0, -0.0, EMBEDDINGS)) == leave_one_out(AS_GIVEN)


def test_strings_of_any_width() -> None:
    names = np.array([f"class {label}" for label in LABELS])
    wide = names.astype("U90")
    assert leave_one_out(AS_GIVEN, labels=names) == leave_one_out(AS_GIVEN, labels=wide)


def test_queries_and_gallery_in_any_order() -> None:
    def found(one: Array, two: Array, embeddings: Array = EMBEDDINGS, **more: Any) -> str:
        return of(
            tp.evaluate(
                embeddings[:10][one],
                LABELS[:10][one],
                gallery=embeddings[10:][two],
                gallery_labels=LABELS[10:][two],
                measures=["AP"],
                **more,
            )
        )

    expected = found(np.arange(10), np.arange(20))
    assert found(RANDOM.permutation(10), RANDOM.permutation(20)) == expected
    changed = EMBEDDINGS.copy()
    changed[25, 2] += 1
    assert found(np.arange(10), np.arange(20), changed) != expected
    assert found(np.arange(10), np.arange(20), exclude=[[0, 3]]) != expected
    assert leave_one_out(AS_GIVEN) != expected


def test_batches_in_any_order() -> None:
    evaluator, other = (tp.Evaluator(measures=["AP"]) for _ in range(2))
    evaluator.update(EMBEDDINGS, LABELS)
    for part in np.array_split(RANDOM.permutation(30), 4):
        other.update(EMBEDDINGS[part], LABELS[part], indices=part)
    assert of(evaluator.compute()) == of(other.compute()) == leave_one_out(AS_GIVEN)


def test_threads_and_memory_do_not_matter() -> None:
    found = {
        of(tp.evaluate(EMBEDDINGS, LABELS, threads=threads, memory=memory, distance=distance))
        for threads in (1, 3)
        for memory in ("16MiB", "1GiB")
        for distance in ("cosine", "euclidean", lambda a, b: np.abs(a[:, None] - b[None]).sum(axis=2))
    }
    assert len(found) == 1


SCORES = RANDOM.integers(0, 6, (8, 12)) / 4
RELEVANCE = RANDOM.integers(-1, 3, (8, 12))


def test_given_rankings_in_any_order() -> None:
    rows, columns = RANDOM.permutation(8), RANDOM.permutation(12)
    expected = of(tp.evaluate_scores(SCORES, RELEVANCE))
    assert of(tp.evaluate_scores(SCORES[rows][:, columns], RELEVANCE[rows][:, columns])) == expected
    assert of(tp.evaluate_scores([*SCORES], [*RELEVANCE])) == expected
    assert of(tp.evaluate_distances(-SCORES, RELEVANCE)) == expected


def test_scores_and_relevance_change_the_fingerprint() -> None:
    expected = of(tp.evaluate_scores(SCORES, RELEVANCE))
    at = tuple(np.argwhere(RELEVANCE == 2)[0])
    for scores, relevance in ((SCORES, RELEVANCE.copy()), (SCORES.copy(), RELEVANCE)):
        (scores if scores is not SCORES else relevance)[at] = 1 if scores is SCORES else 9
        assert of(tp.evaluate_scores(scores, relevance)) != expected
    limited = tp.evaluate_scores(SCORES, np.clip(RELEVANCE, -1, 1), n_relevant=12, measures=["AP"])
    assert of(limited) != of(tp.evaluate_scores(SCORES, np.clip(RELEVANCE, -1, 1), measures=["AP"]))


QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d3": 1, "d9": 1}, "q3": {"d1": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.25, "d4": 0.5}, "q2": {"d1": 1.5, "d3": 0.125}, "q9": {"d1": 1.0}}


def test_runs_from_files_dictionaries_and_frames(tmp_path: Path) -> None:
    expected = of(tp.evaluate_run(QRELS, RUN))
    qrels = [(query, name, grade) for query, of_query in QRELS.items() for name, grade in of_query.items()]
    run = [(query, name, score) for query, of_query in RUN.items() for name, score in of_query.items()]
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in qrels[::-1]))
    with gzip.open(tmp_path / "run.gz", "wt") as file:
        file.writelines(f"{q} Q0 {d} 1 {s!r} tag\n" for q, d, s in run[::-1])
    assert of(tp.evaluate_run(tmp_path / "qrels.txt", tmp_path / "run.gz")) == expected
    frames = (
        pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(run[::-1], columns=["query_id", "doc_id", "score"]),
    )
    assert of(tp.evaluate_run(*frames)) == expected


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (QRELS | {"q2": {"d3": 1, "d9": 2}}, RUN),
        (QRELS | {"q2": {"d3": 1, "d8": 1}}, RUN),
        (QRELS | {"q4": {"d3": 0}}, RUN),
        (QRELS, RUN | {"q2": {"d1": 1.5, "d3": 0.12500000000000003}}),
        (QRELS, RUN | {"q2": {"d1": 1.5000000000000002, "d3": 0.125}}),
        (QRELS, RUN | {"q2": {"d1": 0.125, "d3": 1.5}}),
        (QRELS, RUN | {"q8": {"d1": 1.0}}),
    ],
)
def test_what_a_run_and_its_qrels_say_matters(qrels: Any, run: Any) -> None:
    assert of(tp.evaluate_run(qrels, run)) != of(tp.evaluate_run(QRELS, RUN))


def relevant(result: tp.Result) -> list[int]:
    return list(map(int, result.evaluated.origin.relevant))


def test_queries_with_other_relevant_items_have_other_words() -> None:
    """Embeddings of another system change nothing; labels, groups, pairs and grades do, for the queries concerned."""
    changed = LABELS.copy()
    changed[4] = 5
    results = {
        "system": tp.evaluate(EMBEDDINGS, LABELS),
        "other": tp.evaluate(EMBEDDINGS[::-1], LABELS),
        "labels": tp.evaluate(EMBEDDINGS, changed),
        "exclude": tp.evaluate(EMBEDDINGS, LABELS, exclude=[[0, 6]]),
    }
    words = {name: relevant(result) for name, result in results.items()}
    assert words["system"] == words["other"]
    concerned = (LABELS == 4) | (LABELS == 5)
    assert (
        np.array(words["system"], np.uint64) != np.array(words["labels"], np.uint64)
    ).tolist() == concerned.tolist()
    assert (np.array(words["system"], np.uint64) != np.array(words["exclude"], np.uint64)).nonzero()[0].tolist() == [
        0
    ]


def test_words_of_runs_and_lists() -> None:
    words = relevant(tp.evaluate_run(QRELS, RUN))
    other = {"q1": {"d1": 1.0}, "q2": {"d1": 1.5}}
    assert relevant(tp.evaluate_run(QRELS, other)) == words
    graded = relevant(tp.evaluate_run(QRELS | {"q2": {"d3": 1, "d9": 2}}, RUN))
    assert [mine == yours for mine, yours in zip(words, graded, strict=True)] == [True, False, True]
    lists = relevant(tp.evaluate_scores(SCORES, RELEVANCE))
    assert relevant(tp.evaluate_scores(-SCORES, RELEVANCE)) == lists
    assert relevant(tp.evaluate_scores(SCORES, np.clip(RELEVANCE, -1, 1))) != lists


def test_digests_in_any_order_have_the_same_fingerprint() -> None:
    digests = np.random.default_rng(0).integers(0, 2**64, size=(500, 2), dtype=np.uint64)
    digests[::3, 0] = digests[0, 0]
    digests[1:5] = [[0, 3], [2**64 - 1, 1], [2**64 - 1, 0], [0, 2]]
    whole = identities.Digests("toy", (digests, digests[:1])).hashed()
    assert identities.Digests("toy", (digests[::-1], digests[:1])).hashed() == whole
