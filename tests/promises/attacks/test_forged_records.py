"""Attacks with records: numbers that belong to other queries, and labels read out of a record."""

import json
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from record_files import RESULTS, as_npy, from_npy, packed, parts_of
from tieproof.evaluation.records import record
from tieproof.evaluation.result import Result
from tieproof.measures import parse
from tieproof.trials.judge import leaderboard

RANDOM = np.random.default_rng(11)
LABELS = np.arange(60) % 6
EMBEDDINGS = RANDOM.normal(size=(60, 8)) + 1.5 * np.eye(8)[LABELS]
OTHERS = RANDOM.normal(size=(60, 8)) + 1.5 * np.eye(8)[LABELS]
ORDER = RANDOM.permutation(60)


def evaluated(embeddings: Any = EMBEDDINGS, **more: Any) -> tp.Result:
    return tp.evaluate(embeddings, LABELS, measures=["AP", "P@1"], **more)


def exchanged(result: tp.Result, one: int, other: int) -> tp.Result:
    """The result with everything that was computed for two queries exchanged, and the means as before."""
    found = result.evaluated
    order = np.arange(len(found.query_ids))
    order[[one, other]] = order[[other, one]]
    values = {measure: rows[:, order] for measure, rows in found.per_query.items()}
    return Result(found._replace(per_query=values, tie_counts=found.tie_counts[:, order]))


def of_one_class(result: tp.Result) -> tuple[int, int]:
    """Two queries of one class with different scores."""
    lower = result.per_query("AP").lower
    places = np.flatnonzero(LABELS == 2)
    return int(places[np.argmin(lower[places])]), int(places[np.argmax(lower[places])])


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("order", [np.arange(60), ORDER])
def test_scores_of_one_class_cannot_be_exchanged(saved: bool, order: Any, tmp_path: Path) -> None:
    forged: Any = exchanged(evaluated(), *of_one_class(evaluated()))
    if saved:
        forged.save(tmp_path / "run.tieproof")
        forged = tmp_path / "run.tieproof"
    found = tp.verify(forged, EMBEDDINGS[order], LABELS[order])
    assert found.same_data
    assert not found.agrees
    assert "AP differs for 2 of 60 queries" in str(found)


def test_digests_exchanged_with_scores_only_rename_queries(tmp_path: Path) -> None:
    """That is a record of the same data in another order; verify says so, and a leaderboard uses the data's order."""
    result = evaluated()
    one, other = of_one_class(result)
    exchanged(result, one, other).save(tmp_path / "run.tieproof")
    parts = parts_of(tmp_path / "run.tieproof")
    digests = from_npy(parts["query_digests.npy"])
    digests[[one, other]] = digests[[other, one]]
    packed(tmp_path / "run.tieproof", parts | {"query_digests.npy": as_npy(digests)})
    found = tp.verify(tmp_path / "run.tieproof", EMBEDDINGS, LABELS)
    assert found.agrees
    assert not found.same_order
    assert "in another order or under other names" in str(found).replace("\n", " ")
    data = {"ours": {"embeddings": EMBEDDINGS, "labels": LABELS}}
    board, honest = (
        leaderboard({"ours": each, "base": evaluated(OTHERS)}, verify=data)
        for each in (tp.load(tmp_path / "run.tieproof"), result)
    )
    assert board.comparison is not None
    assert honest.comparison is not None
    assert board.comparison.to_dict()["differences"] == honest.comparison.to_dict()["differences"]


def test_queries_cannot_be_repeated(tmp_path: Path) -> None:
    """The best query twice, and the worst not at all."""
    found = evaluated().evaluated
    lower = found.per_query[parse("AP")][0]
    order = np.arange(60)
    order[np.argmin(lower)] = np.argmax(lower)
    for ids in (found.query_ids, found.query_ids[order]):
        values = {measure: rows[:, order] for measure, rows in found.per_query.items()}
        origin = found.origin._replace(queries=found.origin.queries[order], relevant=found.origin.relevant[order])
        forged = found._replace(query_ids=ids, origin=origin, per_query=values, tie_counts=found.tie_counts[:, order])
        Result(forged).save(tmp_path / "run.tieproof")
        assert not tp.verify(tmp_path / "run.tieproof", EMBEDDINGS, LABELS).agrees


def measure_renamed(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    facts["measures"] = {"AP": facts["measures"]["P@1"], "P@1": facts["measures"]["AP"]}


def other_fingerprint(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    facts["fingerprint"] = evaluated(OTHERS).fingerprint


def other_relevance(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    facts["relevant"] = "0" * 64


def invented_digests(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["query_digests"] = np.arange(60, dtype=np.uint64)


def digests_in_another_order(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["query_digests"] = np.roll(arrays["query_digests"], 1)


def fewer_ties(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["tie_counts"] = arrays["tie_counts"] + 1


def a_query_without_relevant_items(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["empty_ids"] = np.array([3])
    arrays["category_of_empty"] = np.array([0])


def another_policy(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    facts["setting"]["queries"] = 70


def another_category_name(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["category_names"] = np.array(["a", "b", "d"])


def a_category_without_queries(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["category_names"] = np.array(["a", "b", "c", "d"])
    arrays["category_counted"] = np.array([True, True, True, False])


FORGERIES: list[Callable[[dict[str, Any], dict[str, Any]], None]] = [
    measure_renamed,
    other_fingerprint,
    other_relevance,
    invented_digests,
    digests_in_another_order,
    fewer_ties,
    a_query_without_relevant_items,
    another_policy,
    another_category_name,
    a_category_without_queries,
]


def forged(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """A record whose parts were changed."""
    parts = parts_of(path)
    facts = json.loads(parts.pop("record.json"))
    arrays = {name.removesuffix(".npy"): from_npy(content) for name, content in parts.items()}
    change(facts, arrays)
    written = {f"{name}.npy": as_npy(array) for name, array in arrays.items()}
    return packed(path, {"record.json": json.dumps(facts).encode()} | written)


@pytest.mark.parametrize("order", [np.arange(60), ORDER], ids=["in order", "in another order"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_parts_of_a_record_cannot_be_changed(forgery: Any, order: Any, tmp_path: Path) -> None:
    categories = np.array([*"abc"])[np.arange(60) % 3]
    evaluated(categories=categories).save(tmp_path / "run.tieproof")
    path = forged(tmp_path / "run.tieproof", forgery)
    if forgery is measure_renamed:
        with pytest.raises(tp.InputError, match="is inconsistent"):
            tp.load(path)
        return
    found = tp.verify(path, EMBEDDINGS[order], LABELS[order], categories=categories[order])
    assert not found.agrees
    assert found.differences


QRELS = {f"q{q}": {f"d{d}": (d * q) % 3 for d in range(1, 8)} for q in range(1, 9)}
RUN = {q: {d: ((int(d[1:]) * 5 + int(q[1:]) ** 2) % 7) / 2 for d in found} for q, found in QRELS.items()}
SCORES, RELEVANCE = RANDOM.integers(0, 5, (60, 9)) / 2, RANDOM.integers(0, 2, (60, 9))
IDS = np.argsort(RANDOM.random((60, 12)), axis=1)[:, :5]


@pytest.mark.parametrize("kind", ["scores", "distances", "neighbors", "answers", "shards"])
def test_scores_of_other_calls_cannot_be_exchanged(kind: str, tmp_path: Path) -> None:
    calls: dict[str, tuple[Callable[..., tp.Result], tuple[Any, ...], dict[str, Any]]] = {
        "scores": (tp.evaluate_scores, (SCORES, RELEVANCE), {}),
        "distances": (tp.evaluate_distances, (SCORES, RELEVANCE), {}),
        "neighbors": (
            tp.evaluate_neighbors,
            (IDS, SCORES[:, :5].cumsum(axis=1)),
            {"labels": LABELS, "gallery_labels": LABELS[:12]},
        ),
        "answers": (tp.evaluate_answers, (np.where(np.arange(60)[:, None] % 7, EMBEDDINGS, np.nan), LABELS), {}),
        "shards": (tp.evaluate, (EMBEDDINGS, LABELS), {}),
    }
    call, data, more = calls[kind]
    options = {"checkpoint": tmp_path / "counts"} if kind == "shards" else {}
    result = call(*data, **more, **options, measures=["AP"])
    lower = result.per_query("AP").lower
    one, other = int(np.argmin(lower)), int(np.argmax(lower))
    exchanged(result, one, other).save(tmp_path / "run.tieproof")
    assert not tp.verify(tmp_path / "run.tieproof", *data, **more).agrees
    order = np.random.default_rng(2).permutation(60)
    moved = tuple(np.asarray(rows)[order] for rows in data)
    named = {name: values[order] if name == "labels" else values for name, values in more.items()}
    assert not tp.verify(tmp_path / "run.tieproof", *moved, **named).agrees
    result.save(tmp_path / "run.tieproof")
    assert tp.verify(tmp_path / "run.tieproof", *moved, **named).agrees


def test_queries_of_a_run_cannot_be_exchanged(tmp_path: Path) -> None:
    result = tp.evaluate_run(QRELS, RUN, measures=["AP"])
    lower = result.per_query("AP").lower
    exchanged(result, int(np.argmin(lower)), int(np.argmax(lower))).save(tmp_path / "run.tieproof")
    assert not tp.verify(tmp_path / "run.tieproof", QRELS, RUN).agrees
    found = result.evaluated
    Result(found._replace(query_ids=found.query_ids[::-1])).save(tmp_path / "run.tieproof")
    assert not tp.verify(tmp_path / "run.tieproof", QRELS, RUN).agrees


def test_exact_duplicates_agree_in_any_order(tmp_path: Path) -> None:
    """Queries with equal rows and equal labels have equal scores, so that any of them may be any other."""
    rows, labels = np.repeat(EMBEDDINGS[:20], 3, axis=0), np.repeat(LABELS[:20], 3)
    confidence, categories = np.arange(60) / 64, np.array([*"xyz"])[np.arange(60) % 3]
    tp.evaluate(rows, labels, confidence=confidence, categories=categories).save(tmp_path / "run.tieproof")
    for order in (np.arange(60), np.arange(60)[::-1], ORDER):
        found = tp.verify(
            tmp_path / "run.tieproof",
            rows[order],
            labels[order],
            confidence=confidence[order],
            categories=categories[order],
        )
        assert found.agrees, str(found)
    moved = tp.verify(
        tmp_path / "run.tieproof", rows, labels, confidence=np.roll(confidence, 3), categories=categories
    )
    assert not moved.agrees


@pytest.mark.parametrize("kind", ["labels", "equal rows", "answers", "scores"])
def test_a_record_does_not_show_which_queries_share_a_label(kind: str, tmp_path: Path) -> None:
    """Nothing outside the scores and counts is equal for two queries, not even for equal rows with equal labels."""
    pairs = np.repeat(EMBEDDINGS[:30], 2, axis=0), np.repeat(LABELS[:30], 2)
    results = {
        "labels": lambda: evaluated(),
        "equal rows": lambda: tp.evaluate(*pairs, measures=["P@1"]),
        "answers": RESULTS["answers"],
        "scores": RESULTS["scores"],
    }
    results[kind]().save(tmp_path / "run.tieproof")
    parts = parts_of(tmp_path / "run.tieproof")
    hashes = from_npy(parts.pop("query_digests.npy"))
    assert len(np.unique(hashes)) == len(hashes)
    assert {name for name in parts if not name.startswith("left_out")} == {
        *("record.json", "query_ids.npy", "values.npy", "tie_counts.npy", "empty_ids.npy")
    }


def test_labels_cannot_be_guessed_one_by_one_from_a_record(tmp_path: Path) -> None:
    """A label that is changed changes every hash, so that a guess has to be right for all queries at once."""
    evaluated().save(tmp_path / "run.tieproof")
    hashes = from_npy(parts_of(tmp_path / "run.tieproof")["query_digests.npy"])
    guessed = LABELS.copy()
    guessed[7] = 5
    tp.evaluate(EMBEDDINGS, guessed).save(tmp_path / "guess.tieproof")
    guesses = from_npy(parts_of(tmp_path / "guess.tieproof")["query_digests.npy"])
    assert not np.isin(guesses, hashes).any()
    assert "relevant" in json.loads(parts_of(tmp_path / "run.tieproof")["record.json"])["reveals"]


def test_no_member_can_be_hidden_or_doubled(tmp_path: Path) -> None:
    """Two members of one name, a name that differs between directory and member, and a member cut short."""
    path = tmp_path / "run.tieproof"
    evaluated().save(path)
    content, parts = path.read_bytes(), parts_of(path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        packed(path, [*parts.items(), ("query_digests.npy", parts["query_digests.npy"])])
    with pytest.raises(tp.InputError, match="have the same name"):
        tp.load(path)
    place = content.index(b"values.npy")
    path.write_bytes(content[:place] + b"volues.npy" + content[place + 10 :])
    with pytest.raises(tp.InputError, match="damaged"):
        tp.load(path)
    for name in parts:
        with pytest.raises(tp.InputError):
            tp.load(packed(path, parts | {name: parts[name][:-9]}))
        if name != "record.json":
            with pytest.raises(tp.InputError):
                tp.load(packed(path, parts | {name: parts[name] + b"\0"}))
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == len(parts)
    changed = bytearray(content)
    at = content.rindex(b"values.npy") - 46 + 42
    changed[at : at + 4] = struct.pack("<I", 0)
    path.write_bytes(changed)
    with pytest.raises(tp.InputError, match="damaged"):
        tp.load(path)


@pytest.mark.parametrize(
    "facts",
    [
        {"tieproof": "1.0.0\x1b[2J"},
        {"tieproof": "9" * 10_000},
        {"left_out": ["a\nreason"]},
        {"relevant": None},
        {"relevant": "<script>" * 8},
        {"version": 2},
        {"version": True},
    ],
    ids=str,
)
def test_facts_cannot_write_to_a_terminal_or_mix_versions(facts: Mapping[str, Any], tmp_path: Path) -> None:
    evaluated().save(tmp_path / "run.tieproof")
    parts = parts_of(tmp_path / "run.tieproof")
    changed = json.loads(parts["record.json"]) | facts
    if "left_out" in facts:
        parts["left_out_0.npy"] = as_npy(np.array([], dtype=np.int64))
    with pytest.raises(tp.InputError):
        tp.load(packed(tmp_path / "run.tieproof", parts | {"record.json": json.dumps(changed).encode()}))


def test_facts_that_are_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.tieproof"
    evaluated().save(path)
    parts = parts_of(path)
    (facts,) = (name for name in parts if name.endswith(".json"))
    packed(path, parts | {facts: b"[" * 100_000 + b"]" * 100_000})
    with pytest.raises(tp.InputError, match=r"run\.tieproof"):
        tp.load(path)


def test_a_record_of_many_members_is_loaded_in_proportion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names and types of all members are listed a few times, and not once for each member."""
    evaluated().save(tmp_path / "a.tieproof")
    parts = parts_of(tmp_path / "a.tieproof")
    facts = json.loads(parts["record.json"]) | {"left_out": [f"reason {at}" for at in range(100)]}
    parts |= {"record.json": json.dumps(facts).encode()}
    parts |= {f"left_out_{at}.npy": as_npy(np.zeros(0, dtype=np.int64)) for at in range(100)}
    packed(tmp_path / "b.tieproof", parts)
    listed, calls = record._types, list[int]()

    def counted(facts: Mapping[str, Any]) -> Any:
        calls.append(1)
        return listed(dict(facts))

    monkeypatch.setattr(record, "_types", counted)
    assert len(tp.load(tmp_path / "b.tieproof").evaluated.left_out) == 100
    assert len(calls) < 5
