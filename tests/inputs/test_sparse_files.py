"""Files of sparse rows, and the command line on them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
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
        (lambda content: content[:32] + b"\xff" * 8 + content[40:], "its parts contradict each other"),
        (lambda content: content[:-4] + b"\0\0\xc0\x7f", "contains nan"),
    ],
)
def test_damaged_files(tmp_path: Path, change: Any, words: str) -> None:
    path = tmp_path / "rows.csr"
    path.write_bytes(change(bigann(sparse.csr_array(ROWS))))
    with pytest.raises(tp.InputError, match=words):
        read_embeddings(path)


def test_other_archives_of_scipy_are_refused(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "rows.npz", sparse.csc_array(ROWS))
    with pytest.raises(tp.InputError, match=r"in the format 'csc', not rows\. Convert it by \.tocsr\(\)"):
        read_embeddings(tmp_path / "rows.npz")
