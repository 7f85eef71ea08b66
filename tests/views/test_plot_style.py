"""Common properties of the pictures: readable without color, reproducible files, helpful errors."""

import sys
from pathlib import Path

import pytest
from matplotlib import pyplot as plt

from tieproof.errors import MissingExtraError
from tieproof.show import style


def test_looks_differ_in_every_way() -> None:
    for column in zip(*style.LOOKS, strict=True):
        assert len(set(column)) == len(style.LOOKS)


@pytest.fixture(autouse=True)
def no_figures() -> None:
    """Figures that other tests of the process left to pyplot are closed."""
    plt.close("all")


def test_figure_is_unknown_to_pyplot() -> None:
    drawn, axes = style.figure("x", width=4, height=2, rows=2)
    assert drawn.get_size_inches().tolist() == [4, 2]
    assert [ax.figure for ax in axes] == [drawn, drawn]
    assert plt.get_fignums() == []


def test_axes_given_are_used_and_others_are_those_of_pyplot() -> None:
    _, given = style.figure("x")
    assert style.axes_or_new(given, "x") is given
    assert plt.get_fignums() == []
    try:
        assert style.axes_or_new(None, "x") is plt.gca()
    finally:
        plt.close("all")


@pytest.mark.heavy
def test_axes_print_nothing_as_the_last_line_of_a_cell() -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    assert formatters.DisplayFormatter().format(style.figure("x")[1])[0]
    assert formatters.DisplayFormatter().format(style.axes_or_new(style.figure("x")[1], "x")) == ({}, {})


@pytest.mark.parametrize("extension", style.METADATA)
def test_same_figure_gives_the_same_bytes(extension: str, tmp_path: Path) -> None:
    def draw(name: str) -> bytes:
        drawn, ax = style.figure("x")
        ax.plot([1, 2], [3, 4], label="a")
        ax.legend()
        path = tmp_path / f"{name}{extension}"
        style.write(drawn, path)
        return path.read_bytes()

    assert draw("first") == draw("second")


def test_letters_that_no_font_here_has(tmp_path: Path) -> None:
    drawn, ax = style.figure("x")
    ax.set_title("\U00012000")  # cuneiform
    style.write(drawn, tmp_path / "a.svg")
    assert "\U00012000" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    with pytest.warns(UserWarning, match="missing from font"):
        style.write(drawn, tmp_path / "a.png")


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"This needs the extra 'plot'.*pip install 'tieproof\[plot\]'"):
        style.figure("This")
    with pytest.raises(MissingExtraError, match="'plot'"):
        style.axes_or_new(None, "This")
