"""The demo: its data is as described, and its sentences are true."""

import numpy as np
import pytest

from tieproof import cli
from tieproof.cli import demo
from tieproof.data import load_digits
from tieproof.evaluation.result import Result


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return demo.run()


def test_digits() -> None:
    pixels, labels = load_digits()
    assert (pixels.shape, pixels.dtype.name, pixels.min(), pixels.max()) == ((1797, 64), "uint8", 0, 16)
    assert (labels.shape, labels.dtype.name) == ((1797,), "uint8")
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


@pytest.mark.heavy
def test_digits_are_those_of_scikit_learn() -> None:
    from sklearn import datasets

    digits = datasets.load_digits()
    pixels, labels = load_digits()
    assert np.array_equal(pixels, digits.data)
    assert np.array_equal(labels, digits.target)


def test_what_the_text_says_of_the_pixels(results: dict[str, Result]) -> None:
    pixels = results[demo.PIXELS]
    assert f"{pixels['P@1'].lower:.4f}" == f"{pixels['P@1'].upper:.4f}"
    assert 0 < pixels.ties.queries_with_ambiguous_ties < pixels.ties.queries


def test_what_the_text_says_of_the_codes(results: dict[str, Result]) -> None:
    codes = results[demo.CODES]
    assert codes.setting.dimensions == 64
    for measure in demo.MEASURES:
        assert codes[measure].lower + 0.04 < codes[measure].upper


def test_what_the_text_says_of_the_zeros(results: dict[str, Result]) -> None:
    zeros = results[demo.ZEROS]
    assert (zeros.ties.ties, zeros.ties.largest_tie, zeros.ties.zero_vectors) == (1797, 1796, 1797)
    for measure in demo.MEASURES:
        assert zeros[measure].upper == 1 > results[demo.PIXELS][measure].upper
        assert zeros[measure].lower < 0.06 < results[demo.CODES][measure].lower


def test_text(results: dict[str, Result]) -> None:
    text = demo.render(results, width=100)
    assert text == demo.render(results, width=100)
    assert text.isascii()
    assert all(line == line.rstrip() and len(line) <= 100 for line in text.split("\n"))
    for measure in demo.MEASURES:
        for name, result in results.items():
            row = f"{result[measure].upper:.4f}   {result[measure].std:.4f}"
            assert any(line.startswith(measure) and name in line and line.endswith(row) for line in text.split("\n"))
    assert text.endswith("tieproof evaluate embeddings.npy labels.npy")


def test_command(results: dict[str, Result], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["demo"])
    assert stopped.value.code == 0
    assert capsys.readouterr() == (demo.render(results) + "\n", "")
