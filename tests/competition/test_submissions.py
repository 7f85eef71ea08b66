"""Submissions of every form are read as intended or refused with a reason; nothing in them is ever executed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tieproof.trials.competition import Scoring, SubmissionError, on_codabench
from tieproof.trials.competition.inspection.broken_files import MARK, Payload
from tieproof.trials.competition.scoring import scored, shown

# Four items on a line: those of class a at 0 and 3, those of class b at 1 and 10. From 0, 3 and 10 the relevant item
# is the second nearest of the others; from 1 it is the third, behind 0 and 3.
IDS, LABELS = ["one", "two", "three", "four"], ["a", "b", "a", "b"]
VECTORS = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [10.0, 0.0]], dtype=np.float32)
AP = (1 / 2 + 1 / 3 + 1 / 2 + 1 / 2) / 4
SCORING = Scoring("embeddings", ("AP",), "euclidean", megabytes=1, dimensions=8)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n" + "".join(f"{each},{label}\n" for each, label in zip(IDS, LABELS, strict=True)))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "res").mkdir()
    return tmp_path / "res"


def npz(ids: object = IDS, vectors: object = VECTORS, **more: object) -> Callable[[Path], None]:
    return lambda folder: np.savez(folder / "embeddings.npz", ids=np.array(ids), embeddings=np.array(vectors), **more)  # type: ignore[arg-type]


def npy(vectors: object) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / "embeddings.npy", np.array(vectors))


def text(content: str, name: str = "embeddings.csv") -> Callable[[Path], None]:
    return written(content.encode(), name)


def written(content: bytes, name: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return make


IN_ORDER_OF_IDS = VECTORS[np.argsort(IDS)]
FORMS: dict[str, Callable[[Path], None]] = {
    "npz": npz(),
    "npz in another order": npz(IDS[::-1], VECTORS[::-1]),
    "float64": npz(vectors=VECTORS.astype(np.float64)),
    "integers": npz(vectors=VECTORS.astype(np.int16)),
    "npy": npy(IN_ORDER_OF_IDS),
    "csv": text(
        "id,0,1\n" + "".join(f"{each},{x!r},{y!r}\n" for each, (x, y) in zip(IDS, VECTORS.tolist(), strict=True))
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_scores_by_the_definition(form: str, truth: Path, folder: Path) -> None:
    FORMS[form](folder)
    assert scored(SCORING, truth, folder)["AP"].lower == pytest.approx(AP, rel=1e-12)


def test_ties_score_their_lower_bound(truth: Path, folder: Path) -> None:
    npz(vectors=np.zeros((4, 2)))(folder)
    found = shown(SCORING._replace(digits=6), scored(SCORING, truth, folder))
    assert found == {"ap_lower": 0.333333, "ap_expected": 0.611111, "ap_upper": 1.0}


def objects() -> object:
    return np.array([[Payload()] for _ in IDS], dtype=object)


def linked(folder: Path) -> None:
    (folder / "embeddings.csv").symlink_to(folder.parent / "labels.csv")


def sparse(folder: Path) -> None:
    npy(IN_ORDER_OF_IDS)(folder)
    os.truncate(folder / "embeddings.npy", 10**12)


def bomb(folder: Path) -> None:
    np.savez_compressed(folder / "embeddings.npz", ids=np.array(IDS), embeddings=np.zeros((10**7, 1), dtype="f4"))


def promising(folder: Path) -> None:
    with (folder / "embeddings.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|b1", "fortran_order": False, "shape": (10**9, 10**4)})


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "nothing": (lambda folder: None, "no file that can be scored at its top level. Hand in one of embeddings.npz"),
    "two files": (
        lambda folder: (npz()(folder), npy(VECTORS)(folder))[0],
        "embeddings.npz, embeddings.npy at its top",
    ),
    "a folder within": (lambda folder: (folder / "in").mkdir(), "not inside a folder"),
    "NaN": (npz(vectors=[[0.0], [1.0], [np.nan], [2.0]]), "NaN in the vectors of 1 items, the first of them 'three'"),
    "infinity": (npy(np.full((4, 2), np.inf)), "contains infinity in the vectors of 4 items"),
    "a missing id": (npz(IDS[1:], VECTORS[1:]), "lacks 1 of 4 ids: 'one'"),
    "an id twice": (npz([*IDS, "two"], VECTORS[[0, 1, 2, 3, 1]]), "ids more than once: 'two'"),
    "an additional id": (npz([*IDS, "five"], VECTORS[[0, 1, 2, 3, 1]]), "ids that are not in the test set: 'five'"),
    "too few ids": (npz(IDS[:3]), "3 ids for 4 vectors"),
    "too few rows": (npy(VECTORS[:3]), "3 rows for 4 items"),
    "too many dimensions": (npy(np.zeros((4, 9))), "9 dimensions, but only 8 are allowed"),
    "texts": (npz(vectors=[["1"], ["2"], ["3"], ["4"]]), "Embeddings must be numbers"),
    "complex numbers": (npy(VECTORS * 1j), "Embeddings must be numbers"),
    "one axis": (npy(VECTORS[:, 0]), r"the shape \(4,\)"),
    "no dimension": (npy(np.zeros((4, 0))), r"the shape \(4, 0\)"),
    "other arrays": (npz(labels=np.zeros(4)), "'embeddings', 'ids', 'labels'. It must contain the arrays ids"),
    "objects": (npy(objects()), "Python objects, which are never unpickled"),
    "objects in an archive": (npz(vectors=objects()), "Python objects, which are never unpickled"),
    "a link": (linked, "is not a regular file. Hand in the file itself, not a link"),
    "a giant": (sparse, "1,000,000,000,000 bytes, but only 1,000,000 are allowed"),
    "a bomb": (bomb, "unpacks to 40,000,[0-9]{3} bytes, but only 1,000,000 are allowed"),
    "a bomb of letters": (npz(["x" * 300_000] * 4), "bytes, but only 1,000,000 are allowed"),
    "a wide table": (text("id," + ",".join("0" * 9) + "\n"), "9 dimensions, but only 8 are allowed"),
    "a promise": (promising, "cut short"),
    "gzip": (written(b"\x1f\x8b\x08", "embeddings.csv"), "is packed by gzip"),
    "no header": (text("one,1,2\n"), "must begin with the line id,0,1,2"),
    "a ragged row": (text("id,0,1\none,1\n"), "2 cells on line 2, but its header has 3"),
    "a word": (text("id,0\none,x\n"), "a cell on line 2 that is not a number"),
    "damage": (text("no archive", "embeddings.npz"), "cannot be read as an archive of NumPy arrays"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(
    what: str, truth: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, says = REFUSED[what]
    make(folder)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SubmissionError, match=says) as refused:
        scored(SCORING, truth, folder)
    assert "\n" not in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
    assert not (tmp_path / MARK).exists()


def test_the_payload_would_have_been_executed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The effect that the tests above look for does happen when a pickle is loaded."""
    npy(objects())(folder)
    monkeypatch.chdir(folder)
    np.load(folder / "embeddings.npy", allow_pickle=True)
    assert (folder / MARK).exists()


def run(lines: str, qrels: str = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n") -> Callable[[Path], tuple[Path, Path]]:
    def make(folder: Path) -> tuple[Path, Path]:
        truth = folder.parent / "qrels.txt"
        truth.write_text(qrels)
        (folder / "run.txt").write_text(lines)
        return truth, folder

    return make


def test_a_run_scores_by_the_definition(folder: Path) -> None:
    lines = "q1 Q0 b 1 0.5 x\nq1 Q0 a 2 0.5 x\n"
    scoring = Scoring("run", ("AP",))
    found = shown(scoring, scored(scoring, *run(lines)(folder)))
    assert found == {"ap_lower": 1 / 4, "ap_expected": 3 / 8, "ap_upper": 1 / 2}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("q1 Q0 a 1 nan x\n", "is nan, on line 1"),
        ("q1 Q0 a 1 0.5 x\nq1 Q0 a 2 0.4 x\n", "twice"),
        ("q1 Q0 a 1 0.5 x\nq3 Q0 a 1 0.5 x\n", "queries that are not in the test set: 'q3'"),
        ("a,b\n", "columns"),
        ("\n", "only empty lines or comments"),
    ],
)
def test_what_is_refused_of_a_run(lines: str, says: str, folder: Path) -> None:
    with pytest.raises(SubmissionError, match=says) as refused:
        scored(Scoring("run", ("AP",)), *run(lines)(folder))
    assert str(folder) not in str(refused.value)


def test_a_program_refuses_in_one_line(
    truth: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    npz(IDS[1:], VECTORS[1:])(folder)
    (tmp_path / "ref").mkdir()
    truth.rename(tmp_path / "ref" / "labels.csv")
    (tmp_path / "made").mkdir()
    assert on_codabench(SCORING, "x", str(tmp_path), str(tmp_path / "made")) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "embeddings.npz lacks 1 of 4 ids: 'one'. Give each id one vector.\n")
    assert not list((tmp_path / "made").iterdir())


def test_a_program_loads_no_more_than_it_needs(truth: Path) -> None:
    code = "import sys; from tieproof.trials.competition import on_codabench; print([*sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"pandas", "yaml", "matplotlib", "tieproof.trials.competition.inspection.checking"} & set(
        json.loads(loaded.replace("'", '"'))
    )
