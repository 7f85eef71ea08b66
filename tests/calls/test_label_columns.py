"""Labels in two dimensions are columns of 0/1, even a single column: items with only 0 belong to no class."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main
from tieproof.inputs.readers import read_labels

RANDOM = np.random.default_rng(0)
DATA = RANDOM.normal(size=(20, 3))
HAS = RANDOM.integers(0, 2, size=20)
"""Whether each item belongs to the only class."""

WARNED = "are one column of 0/1, so that items with 0 belong to no class"


def relevant() -> list[tuple[int, int]]:
    """The definition: pairs of different items that both have the label."""
    return [(i, j) for i in range(20) for j in range(20) if i != j and HAS[i] and HAS[j]]


def of_column(column: Any, **options: Any) -> tp.Result:
    with pytest.warns(tp.InputWarning, match=WARNED) as caught:
        result = tp.evaluate(DATA, column, **options)
    assert len(caught) == 1
    return result


@pytest.mark.parametrize(
    "column",
    [
        HAS[:, None],
        HAS[:, None] > 0,
        HAS[:, None].astype(float),
        HAS[:, None].tolist(),
        HAS[:, None].astype(np.uint8),
    ],
    ids=["integers", "bools", "floats", "lists", "bytes"],
)
def test_one_column(column: Any) -> None:
    expected = tp.evaluate(DATA, relevance=relevant())
    assert of_column(column).to_json() == expected.to_json()
    two = np.column_stack([HAS, np.zeros(20, int)])
    assert tp.evaluate(DATA, two).to_json() == expected.to_json()


def test_one_column_for_queries_and_gallery() -> None:
    column = HAS[:, None]
    options: dict[str, Any] = {"gallery": DATA[5:], "gallery_labels": column[5:]}
    pairs = [(i, j) for i in range(5) for j in range(15) if HAS[i] and HAS[5 + j]]
    with pytest.warns(tp.InputWarning, match=f"query labels {WARNED}"):
        found = tp.evaluate(DATA[:5], column[:5], **options)
    assert found.to_json() == tp.evaluate(DATA[:5], gallery=DATA[5:], relevance=pairs).to_json()
    for own, others in ((HAS[:5], column[5:]), (column[:5], HAS[5:]), (column[:5], column[5:] + 1)):
        with pytest.raises(tp.InputError, match="a single column of only 0 and 1 counts as columns"):
            tp.evaluate(DATA[:5], own, gallery=DATA[5:], gallery_labels=others)


def test_one_column_in_other_calls() -> None:
    column, pairs = HAS[:, None], relevant()
    with pytest.warns(tp.InputWarning, match=WARNED):
        rates = tp.fnmr_at_fmr(DATA, column)
    assert rates.to_json() == tp.fnmr_at_fmr(DATA, relevance=pairs).to_json()
    with pytest.warns(tp.InputWarning, match=WARNED):
        found = tp.collisions(DATA, column)
    assert (found.query_ids == np.flatnonzero(HAS)).all()
    with pytest.warns(tp.InputWarning, match=WARNED), pytest.raises(tp.InputError, match="labels in columns can put"):
        tp.evaluate(DATA, column, average="macro")


@pytest.mark.parametrize("values", [HAS + 1, HAS * 2, HAS.astype(str), np.arange(20) % 3, HAS - 1])
def test_a_column_of_anything_else_is_one_label_each(values: Any) -> None:
    expected = tp.evaluate(DATA, values).to_json()
    assert tp.evaluate(DATA, values[:, None]).to_json() == expected


def test_a_row_is_one_label_each() -> None:
    expected = tp.evaluate(DATA, HAS).to_json()
    assert tp.evaluate(DATA, HAS[None]).to_json() == expected


def test_groups_and_categories_are_no_columns() -> None:
    labels = np.arange(20) % 4
    for name in ("groups", "categories"):
        flat, column = (tp.evaluate(DATA, labels, **{name: each}) for each in (HAS, HAS[:, None]))  # type: ignore[arg-type]
        assert flat.to_json() == column.to_json()


@pytest.mark.parametrize("ending", ["npy", "npz", "h5", "parquet"])
def test_files(ending: str, tmp_path: Path) -> None:
    def stored(values: Any) -> Path:
        path = tmp_path / f"y.{ending}"
        if ending == "npy":
            np.save(path, values)
        elif ending == "npz":
            np.savez(path, labels=values)
        elif ending == "h5":
            import h5py

            with h5py.File(path, "w") as file:
                file["labels"] = values
        else:
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.table({"labels": values.tolist()}), path)
        return path

    column = HAS[:, None]
    assert read_labels(stored(column)).tolist() == column.tolist()
    assert read_labels(stored(column.astype(float))).tolist() == column.tolist()
    assert read_labels(stored(column + 1)).tolist() == (HAS + 1).tolist()
    assert read_labels(stored(column > 0)).tolist() == column.tolist()
    if ending != "parquet":
        assert read_labels(stored(HAS[None])).tolist() == HAS.tolist()


def test_the_command_line_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", DATA)
    np.save(tmp_path / "y.npy", HAS[:, None])
    with pytest.raises(SystemExit) as done:
        main(["evaluate", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--json", "-"])
    assert done.value.code == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == tp.evaluate(DATA, relevance=relevant()).to_json()
    assert shown.err == (
        f"Warning: The labels {WARNED}. If 0 and 1 are two classes, pass the labels in one dimension, for example "
        "with .ravel().\n"
    )
