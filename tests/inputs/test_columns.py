"""Which columns of a table are dimensions: labels and columns named by an option never leak into the embeddings."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import tieproof as tp
from tieproof import cli
from tieproof.inputs.readers import entries_of, read_embeddings, read_labels
from tieproof.inputs.readers.columns import outside
from tieproof.inputs.readers.location import Location

Array = npt.NDArray[Any]

VECTORS = np.random.default_rng(3).integers(-4, 5, size=(24, 4)) / 4
LABELS = np.arange(24) % 3
SPLIT = np.arange(24) // 2 % 2
SURE = np.arange(24) / 32

FORMATS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path),
}
each_format = pytest.mark.parametrize("extension", FORMATS)


def write(path: Path, /, vectors: Array = VECTORS, **columns: Any) -> Path:
    """A table of f0 … f3 and further columns."""
    frame = pd.DataFrame({f"f{at}": vectors[:, at] for at in range(4)} | columns)
    FORMATS[path.suffix](frame, path)
    return path


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[str, str]:
    """Standard output and standard error of a command that succeeds."""
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert stopped.value.code == 0, err
    return out, err


NAMES = ["y", "Y", "label", "target", "class", "class_id", "true_label", "species_class"]


@each_format
@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_as_the_labels_is_no_dimension(tmp_path: Path, extension: str, name: str) -> None:
    path = write(tmp_path / f"data{extension}", **{name: LABELS})
    assert read_labels(path).tolist() == LABELS.tolist()
    assert np.array_equal(read_embeddings(path), VECTORS)


@each_format
def test_coordinates_are_dimensions(tmp_path: Path, extension: str) -> None:
    """Next to a column x, a column y is a coordinate, not the labels."""
    path = tmp_path / f"points{extension}"
    for names in (["x", "y"], ["x", "y", "z"]):
        FORMATS[extension](pd.DataFrame(dict(zip(names, VECTORS.T, strict=False)) | {"label": LABELS}), path)
        with pytest.warns(tp.InputWarning, match="'x', 'y'.* are read as dimensions"):
            assert np.array_equal(read_embeddings(path), VECTORS[:, : len(names)])
        assert read_labels(path).tolist() == LABELS.tolist()
        FORMATS[extension](pd.DataFrame(dict(zip(names, VECTORS.T, strict=False))), path)
        with pytest.warns(tp.InputWarning, match="'x', 'y'.* are read as dimensions"):
            assert np.array_equal(read_embeddings(path), VECTORS[:, : len(names)])
        with pytest.raises(tp.InputError, match="does not say which of its entries are the labels"):
            read_labels(path)


def test_labels_of_a_split_and_predictions_in_an_archive(tmp_path: Path) -> None:
    path, paths = tmp_path / "data.npz", [f"{n}.png" for n in range(len(LABELS))]
    np.savez(path, embeddings=VECTORS, paths=paths, y_true=LABELS)
    assert read_labels(path).tolist() == LABELS.tolist()
    np.savez(path, X_test=VECTORS, y_test=LABELS, X_train=VECTORS, y_train=LABELS)
    with pytest.raises(tp.InputError, match=r"such as '.*data\.npz:y_test'"):
        read_labels(path)


def advice_followed(read: Callable[[Path], object], path: Path) -> None:
    """Do what an error says after "Write it again: "."""
    with pytest.raises(tp.InputError, match="Write it again: ") as refused:
        read(path)
    exec(str(refused.value).partition("Write it again: ")[2].removesuffix("."), {"pandas": pd})


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("a.csv", "f0;f1;label\n0.5;1;3\n1;2;3\n", [[0.5, 1], [1, 2]]),
        ("a.csv", "0,5;1,5;7\n0,25;1,5;8\n", [[0.5, 1.5, 7], [0.25, 1.5, 8]]),
        ("a.tsv", "f0,f1,label\n1,2,3\n4,5,3\n", [[1, 2], [4, 5]]),
        ("a.csv", "f0\tf1\tlabel\n1\t2\t3\n", [[1, 2]]),
        ("a.tsv", "0,5;1,5;7\n0,25;1,5;8\n", [[0.5, 1.5, 7], [0.25, 1.5, 8]]),
    ],
)
def test_tables_with_another_delimiter(tmp_path: Path, name: str, text: str, values: list[list[float]]) -> None:
    path = tmp_path / name
    path.write_text(text)
    advice_followed(read_embeddings, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.InputWarning)  # columns without names
        assert read_embeddings(path).tolist() == values


@pytest.mark.parametrize("text", ["id,text,label\n1,a; b; c,2\n", "cat;dog\nbird;cat\n", "a;b;c,0.5\nx;y;z,0.5\n"])
def test_other_delimiters_within_texts(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert len(entries_of(Location(tmp_path / "a.csv"))) == text.partition("\n")[0].count(",") + 1


@pytest.mark.parametrize("cells", [["[0.1, 0.2]", "[0.3, 1]"], ["[0.1 0.2]", "[0.3\n 1. ]"], ["0.1 0.2", "0.3 1"]])
@pytest.mark.parametrize("extension", [".csv", ".tsv"])
def test_vectors_as_text(tmp_path: Path, extension: str, cells: list[str]) -> None:
    path = tmp_path / f"a{extension}"
    pd.DataFrame({"label": ["x", "x"], "v": cells}).to_csv(
        path, index=False, sep="," if extension == ".csv" else "\t"
    )
    advice_followed(read_embeddings, path)
    assert read_embeddings(path.with_suffix(".parquet")).tolist() == [[0.1, 0.2], [0.3, 1.0]]
    assert read_labels(path.with_suffix(".parquet")).tolist() == ["x", "x"]


def test_x_and_y_in_one_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=VECTORS, y=LABELS)
    assert read_labels(tmp_path / "data.npz").tolist() == LABELS.tolist()
    assert np.array_equal(read_embeddings(tmp_path / "data.npz"), VECTORS)
    np.savez(tmp_path / "data.npz", x=SURE, y=SPLIT, vectors_of_all=VECTORS, kind=LABELS)
    with pytest.raises(tp.InputError, match=r"kind.*Choose one by a colon and its name, or give the labels"):
        read_labels(tmp_path / "data.npz")
    assert np.array_equal(read_embeddings(tmp_path / "data.npz"), VECTORS)


@each_format
def test_confidences_and_ids_are_no_dimensions(tmp_path: Path, extension: str) -> None:
    path = write(tmp_path / f"data{extension}", confidence=SURE, id=range(24), index=range(24))
    assert np.array_equal(read_embeddings(path), VECTORS)


@each_format
@pytest.mark.parametrize("command", ["evaluate", "fnmr", "collisions"])
@pytest.mark.parametrize("with_gallery", [False, True])
def test_columns_named_by_an_option_are_no_dimensions(
    tmp_path: Path, extension: str, command: str, with_gallery: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"kind": SPLIT + 7, "sure": SURE} if command == "evaluate" else {}
    queries = write(tmp_path / f"queries{extension}", species=LABELS, camera=SPLIT, **own)
    gallery = write(tmp_path / f"gallery{extension}", VECTORS[::-1], y=LABELS, camera=1 - SPLIT)
    np.save(tmp_path / "bare.npy", VECTORS)
    np.save(tmp_path / "other.npy", VECTORS[::-1])
    options = [f"{queries}:species", "--groups", f"{queries}:camera", "--json", "-"]
    if own:
        options += ["--categories", f"{queries}:kind", "--confidence", f"{queries}:sure"]
    if with_gallery:
        options += ["--gallery-labels", f"{gallery}:y", "--gallery-groups", f"{gallery}:camera", "--gallery"]
    tables, arrays = (
        [path, *options, *([other] * with_gallery)]
        for path, other in ((queries, gallery), (tmp_path / "bare.npy", tmp_path / "other.npy"))
    )
    expected, _ = run(capsys, command, *arrays)
    assert run(capsys, command, *tables) == (expected, "")


def test_the_principal_components_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "bare.npy", VECTORS)
    expected, _ = run(capsys, "pcf", tmp_path / "bare.npy")
    for extension in FORMATS:
        path = write(tmp_path / f"data{extension}", y=LABELS * 100, id=range(24))
        assert run(capsys, "pcf", path) == (expected, "")


@each_format
def test_columns_that_may_not_be_dimensions_cause_a_warning(
    tmp_path: Path, extension: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / f"data{extension}", split=SPLIT, species=LABELS + 7)
    np.save(tmp_path / "labels.npy", LABELS)
    for command in (["evaluate"], ["fnmr"], ["collisions"], ["pcf"]):
        labels = [] if command == ["pcf"] else [tmp_path / "labels.npy"]
        _, err = run(capsys, *command, path, *labels)
        assert err.count("\n") == 1
        assert (
            f"Warning: {path}: 'split', 'species' are read as dimensions, in addition to 4 numbered columns." in err
        )
    write(path, split=SPLIT, y=LABELS)
    _, err = run(capsys, "evaluate", path)
    assert (
        f"Warning: {path}: 'split' is read as a dimension, in addition to 4 numbered columns. Left out: 'y'." in err
    )


SERIES = {
    "numbers": list(map(str, range(12))),
    "from 1": [f"x{at}" for at in range(1, 13)],
    "with zeros in front": [f"emb_{at:03d}" for at in range(12)],
    "in the order of text": sorted(f"f{at}" for at in range(12)),
    "with spaces": [f" dim {at} " for at in range(12)],
    "one": ["f7"],
}


@pytest.mark.parametrize("names", SERIES.values(), ids=SERIES)
def test_names_that_count(names: list[str]) -> None:
    assert outside(names) == []
    assert outside([*names, "id2", "species"]) == ["id2", "species"] or len(names) == 1


def test_names_that_do_not_count() -> None:
    assert outside(["f0", "f1", "f3"]) == ["f0", "f1", "f3"]
    assert outside(["f0", "f1", "f3"], ["f2", "label"]) == []
    assert outside(["f0", "f1", "f01"]) == ["f0", "f1", "f01"]
    assert outside(["a", "b"]) == ["a", "b"]
    assert outside(["a", "2", "c"]) == ["a", "2", "c"]
    assert outside(["f0", "f999999999"]) == ["f0", "f999999999"]


@each_format
def test_honest_tables_are_read_without_a_word(tmp_path: Path, extension: str) -> None:
    for names in SERIES.values():
        path = tmp_path / f"data{extension}"
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, len(names))), columns=names)
        FORMATS[extension](frame.assign(label=np.arange(9) % 2), path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read_embeddings(path).shape == (9, len(names))


@each_format
def test_a_dimension_that_is_the_labels_is_refused(
    tmp_path: Path, extension: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / f"data{extension}", species=LABELS.astype(float))
    np.save(tmp_path / "labels.npy", LABELS)
    np.save(tmp_path / "others.npy", LABELS[::-1])
    np.save(tmp_path / "one.npy", np.zeros(24, int))
    write(tmp_path / f"zeros{extension}", f4=np.zeros(24))
    for command in ("evaluate", "fnmr", "collisions"):
        with pytest.raises(SystemExit) as stopped:
            cli.main([command, str(path), str(tmp_path / "labels.npy")])
        (err,) = capsys.readouterr().err.splitlines()
        assert stopped.value.code == 2
        assert err.startswith(f"Error: {path} contains the labels as one of the dimensions, in column 'species'")
        assert f"read the labels from '{path}:species'" in err
        run(capsys, command, path, tmp_path / "others.npy")
    run(capsys, "collisions", tmp_path / f"zeros{extension}", tmp_path / "one.npy")  # says nothing about the items


def test_a_dimension_without_a_name_that_is_the_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "data.csv"
    np.savetxt(path, np.column_stack([VECTORS, LABELS]), delimiter=",")
    np.save(tmp_path / "labels.npy", LABELS)
    with pytest.raises(SystemExit):
        cli.main(["evaluate", str(path), str(tmp_path / "labels.npy")])
    assert "in column '5'" in capsys.readouterr().err
    out, err = run(capsys, "evaluate", path, f"{path}:5", "--json", "-")
    assert (out, err) == (tp.evaluate(VECTORS, LABELS).to_json() + "\n", "")


@each_format
def test_a_table_of_dimensions_alone_needs_no_labels(
    tmp_path: Path, extension: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / f"data{extension}")
    out, err = run(capsys, "collisions", path, "--json", "-")
    assert (out, err) == (tp.collisions(VECTORS).to_json() + "\n", "")
