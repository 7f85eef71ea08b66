"""`evaluate` of shards gives the bits of one array, however the files are divided and however small the memory is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from shard_files import write

Array = npt.NDArray[Any]

N = 300
LABELS = np.random.default_rng(1).integers(0, 40, N)
GROUPS = np.random.default_rng(2).integers(0, 4, N)
MEASURES = ["AP", "P@5", "nDCG@10"]


def vectors() -> Array:
    """Rows with few different numbers, some of them equal, so that there are ties within and across shards."""
    return np.random.default_rng(0).integers(-2, 3, (N, 4)).astype(np.float32)


def shards(folder: Path, form: str, cuts: list[int], order: Any = slice(None), **options: Any) -> tp.Shards:
    return tp.open(write(folder, form, vectors()[order], LABELS[order], cuts), **options)


@pytest.mark.parametrize("form", [".npy", ".fbin", ".h5", ".parquet", ".safetensors"])
@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_the_bits_of_one_array(tmp_path: Path, form: str, distance: str) -> None:
    expected = tp.evaluate(vectors(), LABELS, distance=distance, measures=MEASURES).to_json()
    for number, cuts in enumerate([[], [1, 200], [77, 150, 299]]):
        found = shards(tmp_path / str(number), form, cuts)
        assert tp.evaluate(found, distance=distance, measures=MEASURES).to_json() == expected
    assert tp.evaluate(found, distance=distance, measures=MEASURES, memory=1000).to_json() == expected


def test_a_gallery_in_shards_and_queries_in_memory_and_the_other_way_round(tmp_path: Path) -> None:
    queries, own = vectors()[:50] + 0.25, LABELS[:50]
    expected = tp.evaluate(queries, own, gallery=vectors(), gallery_labels=LABELS, measures=MEASURES).to_json()
    gallery = shards(tmp_path / "g", ".parquet", [100, 120])
    assert tp.evaluate(queries, own, gallery=gallery, measures=MEASURES).to_json() == expected
    in_shards = tp.open(write(tmp_path / "q", ".npy", queries, own, [20]))
    assert tp.evaluate(in_shards, gallery=gallery, measures=MEASURES).to_json() == expected
    in_memory = tp.evaluate(in_shards, gallery=vectors(), gallery_labels=LABELS, measures=MEASURES)
    assert in_memory.to_json() == expected


def test_labels_and_groups_that_are_passed_come_before_those_of_the_files(tmp_path: Path) -> None:
    found = shards(tmp_path, ".npy", [100])
    others = LABELS[::-1].copy()
    expected = tp.evaluate(vectors(), others, groups=GROUPS, measures=["AP"]).to_json()
    assert tp.evaluate(found, others, groups=GROUPS, measures=["AP"]).to_json() == expected


def test_groups_that_were_opened_are_used(tmp_path: Path) -> None:
    write(tmp_path, ".npy", vectors(), LABELS, [100])
    for part, own in enumerate(np.split(GROUPS, [100])):
        np.save(tmp_path / f"part-{part}.camera.npy", own)
    expected = tp.evaluate(vectors(), LABELS, groups=GROUPS, measures=["AP"]).to_json()
    assert tp.evaluate(tp.open(tmp_path, groups="camera"), measures=["AP"]).to_json() == expected


def test_triples_and_macro_averages(tmp_path: Path) -> None:
    found = shards(tmp_path, ".npy", [100])
    triples = np.array([(query, (7 * query + 1) % N) for query in range(N)])
    expected = tp.evaluate(vectors(), relevance=triples, measures=["AP"]).to_json()
    assert tp.evaluate(found, relevance=triples, measures=["AP"]).to_json() == expected
    macro = tp.evaluate(vectors(), LABELS, average="macro", measures=["AP"]).to_json()
    assert tp.evaluate(found, average="macro", measures=["AP"]).to_json() == macro


def test_a_record_of_an_array_is_verified_on_shards(tmp_path: Path) -> None:
    tp.evaluate(vectors(), LABELS, measures=["AP"]).save(tmp_path / "a.tieproof")
    found = shards(tmp_path / "s", ".npy", [100])
    assert "Every bit agrees" in str(tp.verify(tmp_path / "a.tieproof", found))


def test_a_file_that_changes_is_refused_by_its_name(tmp_path: Path) -> None:
    found = shards(tmp_path, ".npy", [100])
    np.save(tmp_path / "part-1.npy", vectors()[:199])
    with pytest.raises(tp.InputError, match=r"part-1.npy changed after it was opened"):
        tp.evaluate(found)


def test_a_row_that_is_not_finite_is_refused_by_its_file(tmp_path: Path) -> None:
    rows = vectors()
    rows[250, 2] = np.nan
    found = tp.open(write(tmp_path, ".npy", rows, LABELS, [100]))
    with pytest.raises(tp.InputError, match=r"part-1.npy contains nan in row 150 \(row 250 of all shards\)"):
        tp.evaluate(found)


@pytest.mark.parametrize(
    "call",
    [
        tp.collisions,
        tp.fnmr_at_fmr,
        tp.pcf,
        lambda found: tp.Evaluator().update(found, found.labels),
        lambda found: tp.neighbor_recall(np.zeros((N, 1), np.int64), queries=found, gallery=vectors(), k=1),
        lambda found: tp.evaluate_scores(found, vectors()),
    ],
)
def test_what_takes_rows_in_memory_says_how_to_pass_them(tmp_path: Path, call: Callable[[Any], object]) -> None:
    found = shards(tmp_path, ".npy", [100])
    with pytest.raises(tp.InputError, match=r"not shards.*pass .*\.read\(0, n\)"):
        call(found)
