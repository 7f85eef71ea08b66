"""The choice of an array of a file by its name and shape, and the hints of the errors."""

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
from shared_data import FOLDER, load_shared
from tieproof import cli
from tieproof.inputs.readers import read_confidences, read_embeddings, read_labels

Array = npt.NDArray[Any]

VECTORS = np.random.default_rng(1).integers(-9, 9, size=(6, 4)).astype(np.float32)
LABELS = np.array([4, 4, 5, 5, 6, 6])
SURE = np.arange(6) / 8

MEANT: dict[str, dict[str, Array]] = {
    "names that end so": {"phocnet_labels": LABELS[None], "phocnet_features": VECTORS},
    "names that end so, in capitals": {"Test-Labels": LABELS, "Test.Embeddings": VECTORS},
    "names that end so, in a group": {"test/my_vectors": VECTORS, "test/my_class": LABELS, "test/texts": LABELS},
    "names that end so beside others": {"a_label": LABELS, "b_features": VECTORS, "c": VECTORS, "d": LABELS},
    "names that end so, and a number": {"a_features": VECTORS, "num_features": np.array(4), "a_class_id": LABELS},
    "a row": {"a": VECTORS, "b": LABELS[None]},
    "a column": {"a": LABELS[:, None], "b": VECTORS},
    "a row beside what has one axis": {"a": VECTORS, "b": LABELS, "c": LABELS[None, ::-1]},
    "ids": {"a": VECTORS, "id": np.arange(6), "b": LABELS},
    "confidences": {"a": VECTORS, "confidence": SURE, "b": LABELS},
    "confidences that end so": {"a": VECTORS, "my_confidences": SURE, "b": LABELS},
    "persons": {"a": VECTORS, "person_id": LABELS},
}


@pytest.mark.parametrize("arrays", MEANT.values(), ids=MEANT)
def test_arrays_are_chosen_by_name_and_shape(tmp_path: Path, arrays: dict[str, Array]) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    assert np.array_equal(read_embeddings(path), VECTORS)
    assert read_labels(path).tolist() == LABELS.tolist()
    if any("conf" in name for name in arrays):
        assert read_confidences(path).tolist() == SURE.tolist()


def test_labels_of_several_classes_by_the_end_of_their_name(tmp_path: Path) -> None:
    classes = np.eye(6, dtype=np.int8)
    np.savez(tmp_path / "data.npz", a_features=VECTORS, a_labels=classes)
    assert np.array_equal(read_labels(tmp_path / "data.npz"), classes)
    assert np.array_equal(read_embeddings(tmp_path / "data.npz"), VECTORS)


def test_a_single_vector_and_a_single_dimension(tmp_path: Path) -> None:
    for vectors, others in ((VECTORS[:1], LABELS[:1]), (VECTORS[:, :1], LABELS)):
        np.savez(tmp_path / "data.npz", a=vectors, b=others)
        assert np.array_equal(read_embeddings(tmp_path / "data.npz"), vectors)
        assert read_labels(tmp_path / "data.npz").tolist() == others.tolist()


UNCLEAR: dict[str, dict[str, Array]] = {
    "two of each": {"train": VECTORS, "train_y": LABELS, "test": VECTORS, "test_y": LABELS},
    "two of each that end so": {"a_labels": LABELS, "a_features": VECTORS, "b_labels": LABELS, "b_features": VECTORS},
    "others first": {"text": np.array(3), "kinds": LABELS, "a": VECTORS, "b": VECTORS, "colors": LABELS},
    "one name in two groups": {"one/labels": LABELS, "two/labels": LABELS, "a": VECTORS, "b": VECTORS},
    "floats before labels": {"age": SURE, "kinds": LABELS, "a": VECTORS, "b": VECTORS},
    "numbered": {"f0": LABELS, "f1": LABELS, "f2": LABELS, "m0": VECTORS, "m1": VECTORS},
}


@pytest.mark.parametrize("arrays", UNCLEAR.values(), ids=UNCLEAR)
def test_a_hint_leads_to_another_answer(tmp_path: Path, arrays: dict[str, Array]) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    for read, expected in ((read_embeddings, VECTORS), (read_labels, LABELS)):
        with pytest.raises(tp.InputError) as caught:
            read(path)
        message = str(caught.value)
        assert all(f"'{name}' ({array.dtype}, shape {array.shape})" in message for name, array in arrays.items())
        hint = re.search(r"such as '([^']*)'", message)
        assert hint is not None or (read is read_labels and "or give the labels in another file" in message)
        assert hint is None or np.array_equal(read(hint[1]), expected)


def test_without_anything_that_fits_there_is_no_hint(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, a=VECTORS, b=VECTORS)
    with pytest.raises(tp.InputError, match=r"None of them has the shape \(n,\) of labels\. Give"):
        read_labels(path)
    np.savez(path, a=LABELS, b=LABELS)
    with pytest.raises(tp.InputError, match=r"None of them has the shape \(n, d\) of embeddings\. Give"):
        read_embeddings(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.save(tmp_path / "x.npy", VECTORS)
    with zipfile.ZipFile(path, "w") as archive:
        for _ in range(2):
            archive.write(tmp_path / "x.npy", "a.npy")
    for location in (path, f"{path}:a"):
        with pytest.raises(tp.InputError, match="contains the array 'a' more than once"):
            read_embeddings(location)


@pytest.mark.heavy
def test_keys_that_are_the_same_as_text(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "data.pt"
    torch.save({1: torch.eye(2), "1": torch.eye(3)}, path)
    for location in (path, f"{path}:1"):
        with pytest.raises(tp.InputError, match=r"'1' \(float32, shape \(2, 2\)\), '1' \(float32, shape \(3, 3\)\)"):
            read_embeddings(location)
    torch.save({1: torch.eye(2), "1": torch.arange(2), 2: torch.tensor(5)}, path)  # told apart by their shapes
    assert np.array_equal(read_embeddings(path), np.eye(2))
    assert read_labels(path).tolist() == [0, 1]
    with pytest.raises(tp.InputError, match="several entries called '1'"):
        read_labels(f"{path}:1")


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["meta", "nested", "jagged", "quantized", "complex"])
def test_tensors_that_are_no_numbers(tmp_path: Path, kind: str) -> None:
    torch = pytest.importorskip("torch")
    rows = [torch.zeros(2), torch.zeros(3)]
    make = {
        "meta": lambda: torch.zeros(2, 2, device="meta"),
        "nested": lambda: torch.nested.nested_tensor(rows),
        "jagged": lambda: torch.nested.nested_tensor(rows, layout=torch.jagged),
        "quantized": lambda: torch.quantize_per_tensor(torch.zeros(2, 2), 0.5, 0, torch.quint8),
        "complex": lambda: torch.zeros(2, 2, dtype=torch.complex64).conj(),
    }
    torch.save(make[kind](), tmp_path / "data.pt")
    with pytest.raises(tp.InputError, match=r"data\.pt (is|contains|must contain real numbers, not complex)"):
        read_embeddings(tmp_path / "data.pt")


def test_phocnet_is_simply_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    data = load_shared("phocnet.npz")
    with pytest.raises(SystemExit) as stopped:
        cli.main(["evaluate", str(FOLDER / "phocnet.npz"), "-m", "AP", "--json", "-"])
    out, err = capsys.readouterr()
    assert (stopped.value.code, err) == (0, "")
    expected = tp.evaluate(data["phocnet_features"], data["phocnet_labels"].ravel(), measures=["AP"])
    assert out == expected.to_json() + "\n"


def test_types_are_named_as_people_do(tmp_path: Path) -> None:
    words = np.full((6, 4), "x" * 21)
    np.savez(tmp_path / "data.npz", a=words, b=words.astype("S"), c=VECTORS, d=VECTORS.astype(">f8"))
    with pytest.raises(tp.InputError) as caught:
        read_embeddings(tmp_path / "data.npz")
    assert "'a' (strings, shape (6, 4)), 'b' (bytes, shape (6, 4)), 'c' (float32, shape" in str(caught.value)
    assert "'d' (float64, shape (6, 4))" in str(caught.value)
    with pytest.raises(tp.InputError, match=r"data\.npz:a must contain real numbers, not strings"):
        read_embeddings(f"{tmp_path}/data.npz:a")
