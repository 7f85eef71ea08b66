"""The study of quantized embeddings: its formats are as described, and its numbers follow from the definitions."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import rankings
import tieproof as tp
from shared_data import load_shared
from studies.quantization import embeddings, study

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

Array = npt.NDArray[Any]

RANDOM = np.random.default_rng(7)
LABELS = np.array([0, 0, 0, 1, 1, 1, 2, 2])
POINTS = RANDOM.standard_normal((8, 4)).astype(np.float32)
POINTS[4] = POINTS[0]
SMALL = tuple(
    form._replace(store=embeddings.signs(3)) if form.distance == "hamming" else form for form in embeddings.FORMS
)
"""The formats of the study, and codes of three bits, which have many ties."""


def test_bfloat16_is_the_nearest() -> None:
    values = np.concatenate([RANDOM.standard_normal(500), [0, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1e-40, 3e38]])
    floats = values.astype(np.float32)
    for value, found in zip(floats, embeddings.as_bfloat16(floats), strict=True):
        below = (np.array([value]).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        above = (below.view(np.uint32) + np.uint32(0x10000)).view(np.float32)
        exact = Fraction(float(value))
        gaps = [abs(Fraction(float(end[0])) - exact) for end in (below, above)]
        even = [end.view(np.uint32)[0] >> 16 & 1 == 0 for end in (below, above)]
        nearest = below if gaps[0] < gaps[1] or (gaps[0] == gaps[1] and even[0]) else above
        assert found == nearest[0], value


@pytest.mark.heavy
def test_bfloat16_is_that_of_ml_dtypes() -> None:
    import ml_dtypes

    floats = RANDOM.standard_normal((100, 7)).astype(np.float32)
    expected = floats.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(embeddings.as_bfloat16(floats), expected)


def test_int8_is_the_nearest_multiple_of_one_unit() -> None:
    unit = max(abs(Fraction(float(value))) for value in POINTS.ravel()) / 127
    for value, found in zip(POINTS.ravel(), embeddings.as_int8(POINTS).ravel().tolist(), strict=True):
        assert abs(Fraction(float(value)) / unit - found) <= Fraction(1, 2) + Fraction(1, 10**12)


def test_forms_have_the_bits_they_say() -> None:
    data = RANDOM.standard_normal((70, 384)).astype(np.float32)
    for form in (*embeddings.FORMS, *embeddings.METHODS):
        stored = form.store(data)
        size = 1 if stored.dtype == bool else 8 * stored.dtype.itemsize
        assert stored.shape[1] * (16 if form.name == "bfloat16" else size) == form.bits, form.name


def test_methods() -> None:
    data = RANDOM.standard_normal((100, 80)) * np.linspace(3, 1, 80) + 0.3
    halves = embeddings.above_medians(data)
    assert halves.sum(axis=0).tolist() == [50] * 64
    components = embeddings.principal_components(data)
    covariance = np.cov(components.T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    assert (np.diff(np.diag(covariance)) <= 1e-10).all()
    near = np.abs(components).sum()  # for orthogonal rotations, the closer to ±1 the larger
    rotated = embeddings.rotated_components(data)
    signed = np.where(rotated, 1, -1)
    left, _, right = np.linalg.svd(signed.T @ components)
    assert np.abs(components @ (left @ right).T).sum() > near


@pytest.mark.parametrize("form", SMALL, ids=lambda form: form.name)
def test_intervals_are_the_definition(form: embeddings.Form) -> None:
    (result,) = study.evaluate(POINTS, LABELS, [form]).values()
    stored = form.store(POINTS)
    for measure in study.MEASURES:
        name, _, cutoff = measure.partition("@")
        found = result[measure]
        top = int(cutoff) if cutoff else None
        expected = rankings.mean(stored, LABELS, form.distance, name, top, form.precision)
        assert [found.lower, found.expected, found.upper] == pytest.approx(expected, rel=1e-12), measure


def test_what_a_program_prints() -> None:
    codes = RANDOM.random((60, 6)) < 0.5
    labels = np.append(np.arange(59) % 4, 9)  # a query that finds nothing
    interval = tp.evaluate(codes, labels, distance="hamming", measures=["AP"])["AP"]
    printed = study.print_in_orders(codes, labels)
    assert printed[study.RELEVANT_LAST] == pytest.approx([interval.lower], rel=1e-12)
    assert printed[study.RELEVANT_FIRST] == pytest.approx([interval.upper], rel=1e-12)
    assert len(printed[study.SHUFFLED]) == len(set(printed[study.SHUFFLED])) == study.SHUFFLES
    for values in printed.values():
        for value in values:
            assert interval.lower - 1e-12 <= value <= interval.upper + 1e-12


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """The report of a small collection, and its folder."""
    labels = np.arange(300) % 5
    vectors = RANDOM.standard_normal((300, 384)) + 2 * np.eye(384)[labels]
    np.savez(tmp_path / "data.npz", embeddings=vectors.astype(np.float32), labels=labels)
    monkeypatch.setattr(
        "sys.argv", ["study.py", "--data", str(tmp_path / "data.npz"), "--quick", "--out", str(tmp_path)]
    )
    study.main()
    return (tmp_path / "report.md").read_text(encoding="utf-8"), tmp_path


def test_report(written: tuple[str, Path]) -> None:
    report, folder = written
    with np.load(folder / "data.npz") as data:
        vectors, labels = data["embeddings"][: study.QUICK], data["labels"][: study.QUICK]
    assert report.startswith("# ")
    assert f"{study.QUICK} descriptions" in report
    for form in (*embeddings.FORMS, *embeddings.METHODS):
        assert f"\n| {form.name} | {form.bits:,} |" in report
    for form in (embeddings.FORMS[0], *embeddings.FORMS[-3:], *embeddings.METHODS[:2]):
        result = study.evaluate(vectors, labels, [form])[form.name]
        row = "".join(f" {study.interval(result[measure])} |" for measure in study.MEASURES)
        assert f"| {form.name} | {form.bits:,} |{row}" in report
    for picture in ("intervals.svg", "methods.svg"):
        assert f"]({picture})" in report
        assert ">nDCG@10</text>" in (folder / picture).read_text()


def test_committed_report_is_what_the_study_prints() -> None:
    data = load_shared(study.DATA)
    chosen = [form for form in embeddings.FORMS if form.bits < 100]
    results = study.evaluate(data["embeddings"], data["labels"], chosen)
    report = Path(study.__file__).with_name("report.md").read_text(encoding="utf-8")
    for row in study.summary(results, chosen).splitlines()[2:]:
        assert row in report


def test_methods_that_differ_are_named() -> None:
    def result(scores: list[float]) -> tp.Result:
        return tp.evaluate_scores([scores], [[1, 0]], measures=["AP"])

    best, tied, worst = result([2, 1]), result([1, 1]), result([1, 2])
    assert study.separate({"a": worst, "b": tied, "c": best}) == "c before a"
    assert study.separate({"a": tied, "b": best}) == "no two of these methods"
