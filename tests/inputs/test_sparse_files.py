"""Files of sparse rows, and the command line on them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main
from tieproof.inputs.readers import read_embeddings

sparse = pytest.importorskip("scipy.sparse")

ROWS = (np.arange(60).reshape(12, 5) % 7 * (np.arange(60).reshape(12, 5) % 3 == 0)).astype(np.float32)
LABELS = np.arange(12) % 3


def bigann(rows: Any) -> bytes:
    header = np.array([*rows.shape, rows.nnz], "<i8")
    return b"".join(map(bytes, (header, rows.indptr.astype("<i8"), rows.indices.astype("<i4"), rows.data)))


def test_archives_of_scipy_and_files_of_big_ann_benchmarks(tmp_path: Path) -> None:
    rows = sparse.csr_array(ROWS)
    sparse.save_npz(tmp_path / "rows.npz", rows)
    (tmp_path / "rows.csr").write_bytes(bigann(rows))
    expected = tp.evaluate(ROWS, LABELS, distance="dot").to_flat_dict()
    for name in ("rows.npz", "rows.csr"):
        assert tp.evaluate(read_embeddings(tmp_path / name), LABELS, distance="dot").to_flat_dict() == expected


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content[:-4], "bytes, but its header promises"),
        (lambda content: content[:5], "bytes, but its header promises"),
        (lambda content: content[:32] + b"\xff" * 8 + content[40:], "terms and weights contradict each other"),
        (lambda content: content[:-4] + b"\0\0\xc0\x7f", "contains nan"),
    ],
)
def test_damaged_files(tmp_path: Path, change: Any, words: str) -> None:
    path = tmp_path / "rows.csr"
    path.write_bytes(change(bigann(sparse.csr_array(ROWS))))
    with pytest.raises(tp.InputError, match=words):
        read_embeddings(path)


def test_archives_by_columns(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "rows.npz", sparse.csc_array(ROWS))
    found = tp.evaluate(read_embeddings(tmp_path / "rows.npz"), LABELS, distance="dot")
    assert found.to_flat_dict() == tp.evaluate(ROWS, LABELS, distance="dot").to_flat_dict()


@pytest.mark.parametrize("form", ["bsr", "coo", "dia"])
def test_other_archives_of_scipy_are_refused(tmp_path: Path, form: str) -> None:
    sparse.save_npz(tmp_path / "rows.npz", sparse.csr_array(ROWS).asformat(form))
    with pytest.raises(tp.InputError, match=rf"in the format '{form}', not rows\. Convert it by \.tocsr\(\)"):
        read_embeddings(tmp_path / "rows.npz")


def in_lines(path: Path, rows: Any, first: int = 0) -> Path:
    """Write rows as Anserini does; each row has its terms in another order."""
    vectors = [{f"t{term}": float(row[term]) for term in np.flatnonzero(row)[::-1]} for row in rows]
    lines = [
        json.dumps({"id": first + at, "vector": vector, "label": int(at % 3)}) for at, vector in enumerate(vectors)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_dictionaries_on_lines_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries, gallery = (
        in_lines(tmp_path / "queries.jsonl", ROWS[:6]),
        in_lines(tmp_path / "gallery.jsonl", ROWS[::-1]),
    )
    given: dict[str, Any] = {"gallery_labels": LABELS, "distance": "dot", "measures": ["AP"]}
    read = tp.evaluate(read_embeddings(queries), LABELS[:6], gallery=read_embeddings(gallery), **given)
    assert read.to_flat_dict() == tp.evaluate(ROWS[:6], LABELS[:6], gallery=ROWS[::-1], **given).to_flat_dict()
    with pytest.raises(SystemExit):
        main(["evaluate", f"{queries}", "--gallery", f"{gallery}", "-d", "dot", "-m", "AP", "--json", "-"])
    assert json.loads(capsys.readouterr().out)["measures"]["AP"]["lower"] == read["AP"].lower


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"id": 1, "vector": {"a": 1}}\n{"id": 2}', "other fields on line 2 than on line 1"),
        ('{"id": 1, "vector": {"a": 1, "a": 2}}', "'a' twice in one dictionary"),
        ('{"id": 1, "vector": {"a": "1"}}', "weights must contain real numbers"),
        ('{"id": 1, "vector": {"a": NaN}}', "contains nan"),
        ('{"id": 1, "vector": {"a": [1]}}', "one number for each term"),
        ('{"vector": null}\n{"vector": {"a": 1}}', "a 'vector' of another form on line 1"),
        ('{"vector": {"a": 1}}\n{"vector": [1]}', "a 'vector' of another form on line 2"),
        ("3", r"it begins with no dictionary\. Write .* same fields\.$"),
        ('{"id": 1, "vector": {"a"', "no JSON on line 1"),
    ],
)
def test_lines_that_are_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(tp.InputError, match=words):
        read_embeddings(path)


def parquet(path: Path, **columns: Any) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path / "rows.parquet")
    return path / "rows.parquet"


def maps(rows: Any, key: str = "string") -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.array(rows, pyarrow.map_(getattr(pyarrow, key)(), pyarrow.float32()))


@pytest.mark.parametrize("form", ["maps", "maps of integers", "lists"])
def test_sparse_rows_in_parquet(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = [np.flatnonzero(row)[::-1].tolist() for row in ROWS]
    weights = [row[own].tolist() for row, own in zip(ROWS, held, strict=True)]
    columns = {"indices": held, "values": weights, "label": LABELS}
    if form != "lists":
        key = "int32" if "integers" in form else "string"
        named = held if key == "int32" else [list(map(str, own)) for own in held]
        pairs = [list(zip(*row, strict=True)) for row in zip(named, weights, strict=True)]
        columns = {"id": range(12), "vector": maps(pairs, key), "label": LABELS}
    path = parquet(tmp_path, **columns)
    expected = tp.evaluate(ROWS, LABELS, distance="dot", measures=["AP"])
    read = tp.evaluate(read_embeddings(path), LABELS, distance="dot", measures=["AP"])
    assert read.to_flat_dict() == expected.to_flat_dict()
    with pytest.raises(SystemExit):
        main(["evaluate", f"{path}", "-d", "dot", "-m", "AP", "--json", "-"])
    assert json.loads(capsys.readouterr().out)["measures"]["AP"]["lower"] == expected["AP"].lower
    shards = tp.open([path])
    assert tp.evaluate(shards, LABELS, distance="dot", measures=["AP"]).to_flat_dict() == expected.to_flat_dict()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (lambda: {"v": maps([[("a", 1)], [("a", 1), ("a", 2)]])}, "has a term twice in row 1"),
        (lambda: {"v": maps([[("a", 1)], None])}, "has a null in row 1"),
        (lambda: {"v": maps([[("a", None)]])}, "has a null in row 0"),
        (lambda: {"v": maps([[("a", float("nan"))]])}, "contains nan"),
        (lambda: {"indices": [[1], [2, 3]], "values": [[1.0], [2.0]]}, "has 2 indices but 1 values in row 1"),
        (lambda: {"indices": [[1], [2, 2]], "values": [[1.0], [2.0, 3.0]]}, "has a term twice in row 1"),
        (lambda: {"indices": [[1], None], "values": [[1.0], [2.0]]}, "has a null in row 1"),
        (lambda: {"indices": [[1.5], [2.0]], "values": [[1.0], [2.0]]}, "all strings or all integers"),
        (lambda: {"indices": [[1], [2]], "values": [["a"], ["b"]]}, "must contain real numbers"),
        (lambda: {"indices": [[[1]], [[2]]], "values": [[1.0], [2.0]]}, "must have terms that are strings or int"),
    ],
)
def test_parquet_that_is_refused(columns: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(tp.InputError, match=words):
        read_embeddings(parquet(tmp_path, **columns()))
