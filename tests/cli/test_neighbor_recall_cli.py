"""`tieproof neighbor-recall` and `tieproof range-recall`."""

import csv
import json
import struct
from pathlib import Path

import h5py
import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main

RANDOM = np.random.default_rng(4)
BASE = RANDOM.integers(0, 3, (60, 5)).astype(np.float32)
QUERIES = RANDOM.integers(0, 3, (7, 5)).astype(np.float32)
FAR = np.sqrt(((QUERIES[:, None] - BASE[None]) ** 2).sum(axis=2))
TRUE = np.argsort(FAR, axis=1, kind="stable")[:, :30]
FOUND = np.argsort(FAR - np.arange(60) * 1e-6, axis=1)[:, :8]
TRUE_FAR, FOUND_FAR = (np.take_along_axis(FAR, ids, axis=1) for ids in (TRUE, FOUND))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with h5py.File("data.hdf5", "w") as file:
        file["train"], file["test"], file["neighbors"], file["distances"] = BASE, QUERIES, TRUE, TRUE_FAR
    with h5py.File("run.hdf5", "w") as file:
        file["neighbors"], file["distances"] = FOUND, FOUND_FAR
    np.save("found.npy", FOUND)
    for name, vectors in (("base", BASE), ("queries", QUERIES)):
        Path(f"{name}.fbin").write_bytes(struct.pack("<II", *vectors.shape) + vectors.tobytes())
    lists = TRUE.astype("<i4").tobytes() + TRUE_FAR.astype("<f4").tobytes()
    Path("truth.ibin").write_bytes(struct.pack("<II", *TRUE.shape) + lists)
    Path("ids.ibin").write_bytes(struct.pack("<II", *TRUE.shape) + TRUE.astype("<i4").tobytes())
    return tmp_path


def run(*arguments: str, status: int = 0) -> None:
    with pytest.raises(SystemExit) as done:
        main(["neighbor-recall", *arguments])
    assert done.value.code == status


def test_two_files_of_ann_benchmarks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("run.hdf5", "data.hdf5", "-k", "1", "-k", "8", "--json", "-")
    expected = tp.neighbor_recall(FOUND, (TRUE, TRUE_FAR), distances=FOUND_FAR, k=(1, 8))
    assert json.loads(capsys.readouterr().out) == expected.to_dict()
    assert expected[8].upper == 1.0 > expected[8].lower


def test_binary_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("found.npy", "truth.ibin", "-k", "5", "--among", "8", "--n-items", "60", "--json", "-")
    truth = TRUE, TRUE_FAR.astype(np.float32)
    expected = tp.neighbor_recall(FOUND, truth, k=5, among=8, n_items=60)
    assert json.loads(capsys.readouterr().out) == expected.to_dict()


def test_a_truth_given_first_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tp.truth(gallery=BASE, queries=QUERIES, k=8, out=folder / "truth", distance="euclidean")
    run("truth", "found.npy", "-k", "5", status=2)
    assert "then the truth: found.npy truth" in capsys.readouterr().err
    run("found.npy", "truth/certificate.json", "-k", "5", status=2)
    assert "truth/certificate.json is the certificate of a truth. Give its folder, truth." in capsys.readouterr().err
    run("truth.ibin", "ids.ibin", "-k", "5", status=2)
    assert "If truth.ibin, which has distances, is the truth, give it second." in capsys.readouterr().err
    run("found.npy", "truth", "-k", "5")


def test_a_file_of_a_truth_knows_less_than_its_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tp.truth(QUERIES, BASE, k=8, out="truth", distance="euclidean")
    run("found.npy", "truth/", "-k", "8", "--json", "-")
    out, err = capsys.readouterr()
    whole = tp.neighbor_recall(FOUND, "truth", k=8)
    assert (json.loads(out), err) == (whole.to_dict(), "")
    for name in ("truth.ibin", "truth.npz"):
        run("found.npy", f"truth/{name}", "-k", "8", "--json", "-")
        out, err = capsys.readouterr()
        assert json.loads(out) != whole.to_dict()
        assert (
            f"Warning: truth/{name} lists neighbors, but nothing of the ties behind them. Give the folder tr" in err
        )


@pytest.mark.parametrize("names", [("queries.fbin", "base.fbin"), ("data.hdf5:test", "data.hdf5:train")])
def test_true_neighbors_that_are_found(
    folder: Path, names: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    run("found.npy", "--queries", names[0], "--gallery", names[1], "-d", "euclidean", "-k", "8", "--json", "out.json")
    expected = tp.neighbor_recall(FOUND, queries=QUERIES, gallery=BASE, distance="euclidean", k=8)
    assert json.loads(Path("out.json").read_text()) == expected.to_dict()
    assert capsys.readouterr().out == f"{expected}\n"


def test_table_of_queries(folder: Path) -> None:
    run("run.hdf5", "data.hdf5", "-k", "8", "--per-query", "queries.csv")
    with open("queries.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = tp.neighbor_recall(FOUND, (TRUE, TRUE_FAR), k=8).per_query(8)
    assert [float(row["expected"]) for row in rows] == expected.expected.tolist()
    assert {"ann-benchmarks k-nn", "big-ann k-nn", "duplicates", "cut_off"} <= rows[0].keys()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["found.npy"], "give either TRUTH, or both --queries and --gallery"),
        (["found.npy", "truth.ibin", "--gallery", "base.fbin"], "give either TRUTH, or both"),
        (["found.npy", "--gallery", "base.fbin"], "give either TRUTH, or both"),
        (["found.npy", "truth.ibin", "--queries", "queries.fbin"], "give either TRUTH, or both"),
        (["found.npy", "ids.ibin"], "ids.ibin contains ids without distances"),
        (
            ["found.npy", "truth.ibin", "-k", "9"],
            "found.npy: The length of the found lists is 8, but must be at least 9",
        ),
        (["found.npy", "truth.ibin", "-k", "0"], "'0' is not a whole number of at least 1"),
        (
            ["found.npy", "--queries", "base.fbin", "--gallery", "base.fbin"],
            "found.npy: The number of found lists is 7",
        ),
        (["absent.npy", "truth.ibin"], "absent.npy does not exist"),
    ],
)
def test_refused_in_one_line(
    folder: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(*arguments, status=2)
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


def test_items_within_a_radius(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("found.npz", lims=[0, 2, 3], neighbors=[7, 7, 4])
    lists = np.array([2, 3, 2, 1, 7, 9, 4], "<i4").tobytes() + np.ones(3, "<f4").tobytes()
    Path("truth.rangeres").write_bytes(lists)
    with pytest.raises(SystemExit) as done:
        main(["range-recall", "found.npz", "truth.rangeres", "--json", "out.json"])
    assert done.value.code == 0
    expected = tp.range_recall(([0, 2, 3], [7, 7, 4]), ([0, 2, 3], [7, 9, 4]))
    assert json.loads(Path("out.json").read_text()) == expected.to_dict()
    assert capsys.readouterr().out == f"{expected}\n"
    with pytest.raises(SystemExit) as done:
        main(["range-recall", "truth.ibin", "found.npz"])
    assert done.value.code == 2
    assert "truth.ibin cannot be read as a file of big-ann-benchmarks" in capsys.readouterr().err
