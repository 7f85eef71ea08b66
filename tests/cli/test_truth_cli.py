"""`tieproof truth`, `tieproof verify` of a truth, and `tieproof neighbor-recall` by a truth."""

import csv
import json
import os
import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status
from tieproof.analyses.neighbors import search
from tieproof.analyses.neighbors.nearest import neighbors_of
from tieproof.cli.truth import DISAGREES

RANDOM = np.random.default_rng(8)
BASE = RANDOM.integers(0, 3, (60, 5)).astype(np.float32)
QUERIES = RANDOM.integers(0, 3, (7, 5)).astype(np.float32)
FOUND = tp.nearest(QUERIES, BASE, 8, distance="euclidean")
FILES = ("queries.fbin", "base.fbin")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, vectors in zip(FILES, (QUERIES, BASE), strict=True):
        Path(name).write_bytes(struct.pack("<II", *vectors.shape) + vectors.tobytes())
    return tmp_path


def write(*more: str) -> None:
    assert exit_status("truth", *FILES, "-k", "8", "-d", "euclidean", "--out", "truth", *more) == 0


def test_a_truth_is_written_and_verified(capsys: pytest.CaptureFixture[str]) -> None:
    write("--explain", "--json", "certificate.json")
    assert "The 8 nearest items of each query, under euclidean distance." in capsys.readouterr().out
    certificate = json.loads(Path("certificate.json").read_text())
    stored = json.loads(Path("truth/certificate.json").read_text())
    assert certificate["neighbors"] == stored["neighbors"]
    assert sorted(os.listdir("truth")) == sorted(["certificate.json", *certificate["files"]])
    assert exit_status("verify", "truth", *FILES) == 0
    assert capsys.readouterr().out == "Every bit agrees.\nAll 7 queries were computed again.\n"
    assert exit_status("verify", "truth/", *FILES, "--sample", "3", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["checked"] == 3
    np.save("other.npy", QUERIES + 1)
    assert exit_status("verify", "truth", "other.npy", FILES[1], "--all") == DISAGREES
    assert "The queries are not the data of the truth" in capsys.readouterr().out
    assert exit_status("verify", "truth", *FILES[::-1], "--all") == 2
    assert "The queries come first, and then the gallery" in capsys.readouterr().err


def test_formats_and_shards() -> None:
    os.makedirs("parts")
    np.save("parts/part-0.npy", BASE[:20])
    np.save("parts/part-1.npy", BASE[20:])
    write("--format", "hdf5", "--format", "parquet")
    more = ("--format", "hdf5", "--format", "parquet", "--out", "other")
    assert exit_status("truth", "queries.fbin", "parts", "-k", "8", "-d", "euclidean", *more) == 0
    assert sorted(os.listdir("other")) == ["certificate.json", "truth.hdf5", "truth.npz", "truth.parquet"]
    assert Path("truth/truth.npz").read_bytes() == Path("other/truth.npz").read_bytes()
    assert exit_status("verify", "truth", "queries.fbin", "parts") == 0


@pytest.mark.parametrize(("most", "kept"), [(0, 0), (2, 57)])
def test_an_interrupted_command_says_what_is_kept(
    most: int, kept: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Parts have two of the seven queries here, and the search of the next one is interrupted."""
    blocks: list[int] = []

    def searched(*given: Any) -> tp.Neighbors:
        if len(blocks) == most:
            raise KeyboardInterrupt
        blocks.append(1)
        return neighbors_of(*given)

    monkeypatch.setattr(search, "QUERIES", 2)
    monkeypatch.setattr(search, "LISTED", 1)
    with monkeypatch.context() as patch:
        patch.setattr(search, "neighbors_of", searched)
        assert exit_status("truth", *FILES, "-k", "8", "-d", "euclidean", "--out", "truth") == 130
    nothing = "no part was finished, so nothing is kept"
    some = f"{kept} % is kept in truth, and the same call or command continues it"
    assert capsys.readouterr().err == f"Interrupted; {some if kept else nothing}.\n"
    write()
    assert exit_status("verify", "truth", *FILES) == 0


def test_the_recall_by_a_truth(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    capsys.readouterr()
    np.save("found.npy", FOUND.ids[:, ::-1])
    assert exit_status("neighbor-recall", "found.npy", "truth", "-k", "3", "-k", "8", "--json", "-") == 0
    expected = tp.neighbor_recall(FOUND.ids[:, ::-1], queries=QUERIES, gallery=BASE, distance="l2", k=(3, 8))
    assert json.loads(capsys.readouterr().out) == expected.to_dict()


def test_a_range_search_by_a_truth(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    capsys.readouterr()
    radius = float(FOUND.distances[:, -1].min()) / 2
    inside = FOUND.distances <= radius
    np.savez("found.npz", neighbors=FOUND.ids[inside], lims=np.append(0, np.cumsum(inside.sum(axis=1))))
    assert exit_status("range-recall", "found.npz", "truth", "--radius", str(radius), "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["recall"] == 1
    assert exit_status("range-recall", "found.npz", "truth", "--radius", "inf") == 2
    assert "truth: The radius is inf, but the truth lists the 8 nearest items" in capsys.readouterr().err
    assert exit_status("range-recall", "found.npz", "truth") == 2


def test_a_truth_of_others_is_examined(capsys: pytest.CaptureFixture[str]) -> None:
    ids = FOUND.ids.copy()
    ids[2, 0] = 99
    ids[4, 1] = ids[4, 0]
    with h5py.File("theirs.hdf5", "w") as file:
        file["train"], file["test"], file["neighbors"] = BASE, QUERIES, ids
    vectors = ("theirs.hdf5:test", "theirs.hdf5:train")
    given = ("-d", "euclidean", "--check", "theirs.hdf5", "--json", "-", "--per-query", "faults.csv")
    assert exit_status("truth", *vectors, *given) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["queries_with_out_of_range"] == found["queries_with_repeated"] == 1
    assert "Query 2 lists 99, which is not a position in the gallery, at rank 1." in found["examples"]
    rows = csv.DictReader(Path("faults.csv").read_text().splitlines())
    assert [row["repeated"] for row in rows] == ["0", "0", "0", "0", "1", "0", "0"]
    assert exit_status("truth", *vectors, "-d", "euclidean", "--check", "theirs.hdf5", "-k", "1") == 0


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("truth queries.fbin base.fbin", "Give either --out, the folder to write to, or --check"),
        ("truth queries.fbin base.fbin --out a --check b", "Give either --out"),
        ("truth queries.fbin base.fbin --out a --per-query a.csv", "it needs --check"),
        ("truth queries.fbin base.fbin --check base.fbin --format vecs", "--format is for a truth"),
        ("truth queries.fbin base.fbin --check base.fbin --cluster auto", "--cluster is for a truth"),
        ("truth queries.fbin base.fbin --out base.fbin", "base.fbin is a file, but must be a folder"),
        ("truth queries.fbin base.fbin --out .", "contains other files, such as base.fbin"),
        ("truth no.fbin base.fbin --out a", "no.fbin"),
        ("truth queries.fbin base.fbin -d far --out a", "--distance: Unknown distance"),
        ("truth queries.fbin base.fbin --out a --format xml", "'xml' is not one of bigann, vecs, hdf5, parquet"),
        ("verify . queries.fbin base.fbin", "has no certificate.json"),
        ("verify . queries.fbin", "which is verified with its queries and its gallery"),
        ("verify . queries.fbin base.fbin --all --sample 3", "--all and --sample were both given"),
        ("verify . queries.fbin base.fbin --gallery base.fbin", "--gallery is for records"),
        ("verify no.tieproof base.fbin --all", "--sample, --all and --exclude are for the folder of a truth"),
    ],
)
def test_wrong_commands(command: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(os.listdir("."))
    assert exit_status(*command.split()) == 2
    out, err = capsys.readouterr()
    assert says in err
    assert (out, err.count("\n")) == ("", 1)
    assert sorted(os.listdir(".")) == before


@pytest.mark.parametrize("name", ["certificate.json", "truth.npz"])
def test_a_file_of_a_truth_for_its_folder(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status("truth", "queries.fbin", "base.fbin", "--out", "truth") == 0
    assert exit_status("verify", f"truth/{name}", "queries.fbin", "base.fbin") == 2
    assert f"truth/{name} is a file, but a truth is a folder" in capsys.readouterr().err


def test_pairs_that_do_not_pass_a_filter(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the 60 items, query 0 may find 0 and 1; the pairs as a table, and as bools."""
    Path("pairs.csv").write_text("query,item\n" + "".join(f"0,{item}\n" for item in range(2, 60)))
    mask = np.zeros((7, 60), dtype=bool)
    mask[0, 2:] = True
    np.save("mask.npy", mask)
    write("--exclude", "pairs.csv")
    assert sorted(np.load("truth/truth.npz")["neighbors"][0].tolist()) == [-1] * 6 + [0, 1]
    assert exit_status("verify", "truth", *FILES, "--exclude", "mask.npy") == 0
    assert exit_status("verify", "truth", *FILES) == DISAGREES
    assert "The pairs that are left out are not those of the truth" in capsys.readouterr().out
    recall = ("neighbor-recall", "truth/truth.ibin")
    assert exit_status(*recall, "truth", "-k", "8", "--json", "by_truth.json") == 0
    given = ("--queries", FILES[0], "--gallery", FILES[1], "-d", "euclidean", "--exclude", "mask.npy")
    assert exit_status(*recall, *given, "-k", "8", "--json", "by_vectors.json") == 0
    one, other = (json.loads(Path(name).read_text()) for name in ("by_truth.json", "by_vectors.json"))
    assert one["points"][0]["recall"] == other["points"][0]["recall"]
    assert capsys.readouterr().err == ""
    for command, message in (
        (("truth", *FILES, "--check", "truth/truth.ibin", "--exclude", "mask.npy"), "--exclude is for a truth"),
        ((*recall, "truth", "--exclude", "mask.npy"), "mask.npy: exclude and truth were both passed"),
    ):
        assert exit_status(*command) == 2
        assert message in capsys.readouterr().err
