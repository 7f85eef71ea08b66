"""The first row of a text table is a header, or data that must not be lost."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tieproof as tp
from tieproof.inputs.readers import read_confidences, read_embeddings, read_labels

COUNTED = {
    "integers": "0,1,2\n3,4,5\n6,7,8\n",
    "integers, with spaces": "0, 1, 2\n 3 ,4, 5\n",
    "points of a circle": "0,1\n0.7,0.7\n1,0\n",
    "a single integer in every column": "0,1\n0.5,2\n3,0.5\n",
    "rows that go on": "\n".join(",".join(map(str, row)) for row in np.arange(48).reshape(3, 16).tolist()),
    "rows that are alike": "\n".join([",".join(map(str, range(16)))] * 3),
    "negative integers": "0,1\n-3,-4\n",
    "floats and labels": "0,1\n0.5,0\n0.25,1\n",
}


@pytest.mark.parametrize("text", COUNTED.values(), ids=COUNTED)
def test_a_first_row_that_counts_above_integers_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    for read, location in ((read_embeddings, path), (read_labels, f"{path}:2"), (read_confidences, f"{path}:1")):
        with pytest.raises(tp.InputError, match=r"data.csv has 0, 1.* on line 1 above integers, which may be data"):
            read(location)
    width = text.partition("\n")[0].count(",") + 1
    header = ",".join(f"f{at}" for at in range(width))
    path.write_text(f"{header}\n{text}")  # as the message says, for numbers
    rows = [[float(cell) for cell in line.split(",")] for line in text.split()] if " " not in text else None
    assert rows is None or read_embeddings(path).tolist() == rows
    path.write_text(f"{header}\n{text.partition(chr(10))[2]}")  # as it says, for a header
    assert rows is None or read_embeddings(path).tolist() == rows[1:]


RANDOM = np.random.default_rng(4)
FRAMES = {
    "floats": pd.DataFrame(RANDOM.normal(size=(9, 2))),
    "whole floats": pd.DataFrame(RANDOM.integers(0, 3, size=(9, 2)).astype(float)),
    "many floats beside integers": pd.DataFrame(RANDOM.normal(size=(9, 8))).assign(**{"8": np.arange(9) % 2}),
    "bytes": pd.DataFrame(RANDOM.integers(-128, 128, size=(50, 16))),
    "bits": pd.DataFrame(RANDOM.integers(0, 2, size=(50, 16))),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_headers_that_pandas_writes(tmp_path: Path, frame: pd.DataFrame) -> None:
    for index in (False, True):
        frame.to_csv(tmp_path / "data.csv", index=index)
        assert np.array_equal(read_embeddings(tmp_path / "data.csv"), frame.to_numpy())


def test_small_integers_with_the_index_of_pandas(tmp_path: Path) -> None:
    pd.DataFrame([[3, 4], [5, 6]]).to_csv(tmp_path / "data.csv")
    assert read_embeddings(tmp_path / "data.csv").tolist() == [[3, 4], [5, 6]]
    pd.DataFrame([[3, 4], [5, 6]]).assign(label=[1, 0]).to_csv(tmp_path / "data.csv", index=False)
    assert read_embeddings(tmp_path / "data.csv").tolist() == [[3, 4], [5, 6]]


LABELS = {
    "y above integers": ("y\n0\n1\n", ["", [0, 1]]),
    "yes and no": ("y\nn\nn\n", ["", ["y", "n", "n"]]),
    "yes and no beside numbers": ("y,1.5\nn,2.5\n", [":1", ["y", "n"]]),
    "y beside numbers": ("y,f0\n3,2.5\n", ["", [3]]),
    "y beside counts": ("y,0,1\n3,2,4\n", ["", [3]]),
}


@pytest.mark.parametrize("text, expected", LABELS.values(), ids=LABELS)  # noqa: PT006
def test_y_is_a_header_above_a_number(tmp_path: Path, text: str, expected: list[str]) -> None:
    (tmp_path / "data.csv").write_text(text)
    entry, labels = expected
    assert read_labels(f"{tmp_path}/data.csv{entry}").tolist() == labels


def test_a_header_of_confidences(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("confidence\n0.5\n0.25\n")
    assert read_confidences(tmp_path / "data.csv").tolist() == [0.5, 0.25]


def test_long_integers_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(",".join(map(str, range(9))) + "\n" + ",".join(["9" * 5000] * 9) + "\n")
    with pytest.raises(tp.InputError):
        tp.evaluate(read_embeddings(tmp_path / "data.csv"), [0])
