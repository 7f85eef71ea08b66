"""Tensors without numbers that NumPy can read are refused by name, and tensors in lists are read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tieproof as tp

# torch warns that some kinds of tensors are a beta version or deprecated.
pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore:.*(beta state|are deprecated):UserWarning")]

LABELS = [0, 0, 1]


def torch() -> Any:
    return pytest.importorskip("torch")


def fake() -> Any:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        return torch().zeros(3, 2)


UNREADABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "meta": (lambda: torch().zeros(3, 2, device="meta"), "device 'meta', which has no numbers"),
    "sparse": (lambda: torch().eye(3).to_sparse(), r"layout sparse_coo\. Make dense rows, as .* \.to_dense\(\) do"),
    "sparse rows": (lambda: torch().eye(3).to_sparse_csr(), "layout sparse_csr"),
    "float8": (lambda: torch().eye(3).to(torch().float8_e4m3fn), r"torch.float8_e4m3fn.*with .float\(\)"),
    "nested": (
        lambda: torch().nested.nested_tensor([torch().ones(2), torch().ones(3)], layout=torch().jagged),
        "nested tensor, whose rows may differ",
    ),
    "complex conjugates": (lambda: torch().ones(3, 2, dtype=torch().complex64).conj(), "not complex64"),
    "quantized": (
        lambda: torch().quantize_per_tensor(torch().ones(3, 2), 0.1, 0, torch().qint8),
        r"quantized \(torch.qint8\).*\.dequantize\(\)",
    ),
    "fake": (fake, "NumPy cannot read"),
}


@pytest.mark.parametrize("name", [name for name in UNREADABLE if not name.startswith("sparse")])  # which are ranked
def test_unreadable_embeddings(name: str) -> None:
    make, says = UNREADABLE[name]
    with pytest.raises(tp.InputError, match=says) as caught:
        tp.evaluate(make(), LABELS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in UNREADABLE if name != "complex conjugates"])
def test_unreadable_labels(name: str) -> None:
    make, says = UNREADABLE[name]
    with pytest.raises(tp.InputError, match=says):
        tp.evaluate([[0.0], [1.0], [3.0]], make())


def test_negated_views_are_numbers() -> None:
    values = torch().tensor([1 + 3j, 1 + 2j, 1 + 7j]).conj().imag[:, None]
    assert values.is_neg()
    expected = tp.evaluate([[-3.0], [-2.0], [-7.0]], LABELS, distance="euclidean")
    assert tp.evaluate(values, LABELS, distance="euclidean").to_json() == expected.to_json()


def test_lists_of_tensors() -> None:
    vectors, labels = np.array([[0.0, 1.0], [3.0, 1.0], [4.0, 4.0]]), np.array([3, 4, 3])
    expected = tp.evaluate(vectors, labels).to_json()
    for dtype in ("float32", "bfloat16"):
        rows = [torch().tensor(row, dtype=getattr(torch(), dtype), requires_grad=True) for row in vectors]
        assert tp.evaluate(rows, list(torch().tensor(labels))).to_json() == expected
    entries = [[torch().tensor(value) for value in row] for row in vectors]
    assert tp.evaluate(entries, [torch().tensor([label]) for label in labels]).to_json() == expected
    assert tp.evaluate(vectors, tuple(torch().tensor(labels).bfloat16())).to_json() == expected
    columns = [torch().tensor(row) for row in ([1, 0], [0, 1], [1, 1])]
    by_columns = tp.evaluate(vectors, [[1, 0], [0, 1], [1, 1]]).to_json()
    assert tp.evaluate(vectors, columns).to_json() == by_columns
    assert tp.evaluate(vectors, [list(column) for column in columns]).to_json() == by_columns


@pytest.mark.parametrize("whole", [True, False])
def test_bfloat16_labels_that_may_be_rounded(whole: bool) -> None:
    def made(labels: list[int]) -> Any:
        tensor = torch().tensor(labels).bfloat16()
        return tensor if whole else list(tensor)

    assert tp.evaluate([[0.0], [1.0], [3.0]], made([255, 255, 0])).query_ids.tolist() == [0, 1]
    with pytest.raises(tp.InputError, match="below 256"):
        tp.evaluate([[0.0], [1.0], [3.0]], made([256, 257, 0]))
    with pytest.raises(tp.InputError, match="in bfloat16 below 256"):
        tp.evaluate(np.arange(300.0)[:, None], relevance=torch().tensor([[0.0, 257.0]]).bfloat16())


def test_bfloat16_labels_in_files(tmp_path: Any) -> None:
    from tieproof.inputs.readers import read_labels

    safetensors = pytest.importorskip("safetensors.torch")
    for name, highest in (("good", 255), ("bad", 256)):
        tensor = torch().tensor([0, highest]).bfloat16()
        torch().save(tensor, tmp_path / f"{name}.pt")
        safetensors.save_file({"labels": tensor}, tmp_path / f"{name}.safetensors")
    for ending in ("pt", "safetensors"):
        assert read_labels(tmp_path / f"good.{ending}").tolist() == [0, 255]
        with pytest.raises(tp.InputError, match="floats that represent every integer only below 256"):
            read_labels(tmp_path / f"bad.{ending}")
    torch().save(torch().tensor([0.0, 15.0]).to(torch().float8_e4m3fn), tmp_path / "good.pt")
    assert read_labels(tmp_path / "good.pt").tolist() == [0, 15]
    torch().save(torch().tensor([0.0, 17.0]).to(torch().float8_e4m3fn), tmp_path / "bad.pt")
    with pytest.raises(tp.InputError, match=r"every integer only below 16, but row 1 contains 16\.0"):
        read_labels(tmp_path / "bad.pt")


def test_bfloat16_labels_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    labels = np.array([255, 255, 0]).astype(ml_dtypes.bfloat16)
    assert tp.evaluate([[0.0], [1.0], [3.0]], labels).query_ids.tolist() == [0, 1]
    with pytest.raises(tp.InputError, match="below 256"):
        tp.evaluate([[0.0], [1.0], [3.0]], labels + labels)


def test_integers_beside_floats_in_tensors() -> None:
    whole = torch().tensor([2**60 + 1, 1])
    for rows in ([whole, torch().tensor([0.5, 0.5], requires_grad=True)], [[whole[0], 0.5], [whole[1], 0.5]]):
        with pytest.raises(tp.InputError, match="integers that float64 cannot represent exactly"):
            tp.evaluate(rows, [0, 0])


def test_sparse_matrices() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_matrix, sparse.csr_array, sparse.coo_array):
        with pytest.raises(tp.InputError, match=r"scores must not be a sparse matrix .*\.toarray\(\)"):
            tp.evaluate_scores(make(np.eye(3)), np.eye(3))
        with pytest.raises(tp.InputError, match=r"embeddings must not be a sparse matrix .*\.toarray\(\)"):
            tp.fnmr_at_fmr(make(np.eye(3)), LABELS)
        with pytest.raises(tp.InputError, match=r"labels must not be a sparse matrix .*\.toarray\(\)"):
            tp.evaluate(np.eye(3), make(np.eye(3)))
