"""The pictures of confidences show the right numbers, which are read back from the axes."""

import sys
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
import pytest

import tieproof as tp
from tieproof.measures.confidence import (
    Cap,
    CredibleRetrieval,
    Ellipsoid,
    Held,
    Interval,
    confidence_vs_recall_at_1,
    error_reject_curve,
    rank_correlation,
)
from tieproof.measures.confidence.pictures import (
    POINTS,
    plot_confidence_accuracy,
    plot_credible_region,
    plot_credible_retrieval,
    plot_error_reject,
    plot_rank_correlations,
)
from tieproof.show import style

matplotlib.use("Agg")

RANDOM = np.random.default_rng(6)


def new_axes() -> Any:
    return style.figure("A test")[1]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("count", [1, 30, 3000])
def test_curves(count: int) -> None:
    curves = {
        name: error_reject_curve(RANDOM.random(count), RANDOM.integers(0, levels, count))
        for name, levels in (("P@1", 3), ("AP@R", 10**9))
    }
    ax = plot_error_reject(curves, new_axes())
    assert legend(ax) == [f"1 - {name}, upper area {curve.area.upper:.4f}" for name, curve in curves.items()]
    for line, band, curve in zip(ax.lines, ax.collections, curves.values(), strict=True):
        across, up = line.get_data()
        assert len(across) == min(count, POINTS)
        shown = {float(x): float(y) for x, y in zip(curve.rejected, curve.error.expected, strict=True)}
        assert [shown[x] for x in across.tolist()] == up.tolist()
        assert (across[-1], up[-1]) == (0, curve.error.expected[-1])
        outline = band.get_paths()[0].vertices
        assert {*outline[:, 1]} <= {*curve.error.lower, *curve.error.upper}
    assert len(plot_error_reject(curves["P@1"], new_axes()).lines) == 1


def test_more_curves_than_colors() -> None:
    names = [f"confidences in {place} digits" for place in range(10)]
    curves = {name: error_reject_curve(RANDOM.random(9), RANDOM.random(9)) for name in names}
    ax = plot_error_reject(curves, new_axes())
    assert [text.split(",")[0] for text in legend(ax)] == names
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}) == 10
    places = [tuple(line.get_markevery()) for line in ax.lines[:7]]
    assert len({*places}) == 7


def test_accuracy() -> None:
    found = confidence_vs_recall_at_1(RANDOM.random(50) < 0.5, RANDOM.integers(0, 9, 50))
    ax = plot_confidence_accuracy(found, new_axes())
    assert ax.lines[0].get_xdata().tolist() == found.thresholds.tolist()
    assert ax.lines[0].get_ydata().tolist() == found.accuracy[1:].tolist()
    assert [line.get_ydata()[0] for line in ax.lines[1:]] == [found.accuracy[0], found.mean, found.best]


def test_rank_correlations() -> None:
    found = {x: rank_correlation(np.append(np.full(10, x), np.arange(20)), np.arange(30)) for x in (7.0, 2.5)}
    ax = plot_rank_correlations(found, new_axes())
    assert ax.lines[0].get_xdata().tolist() == [2.5, 7.0]
    assert ax.lines[0].get_ydata().tolist() == [found[2.5].coefficient, found[7.0].coefficient]
    heights = {*ax.collections[0].get_paths()[0].vertices[:, 1]}
    assert heights == {value for each in found.values() for value in (each.orders.lower, each.orders.upper)}


def test_regions() -> None:
    ax = plot_credible_region(Ellipsoid(np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 1.0]), 3.0), new_axes())
    assert [ax.lines[0].get_xdata().min(), ax.lines[0].get_ydata().max()] == pytest.approx([-0.5, 5.0])
    ax = plot_credible_region(Ellipsoid(np.array([1.0]), np.array([0.5]), 3.0), new_axes())
    assert ax.collections[0].get_segments()[0].tolist() == [[-0.5, 0], [2.5, 0]]
    shapes = {
        scale: plot_credible_region(Ellipsoid(np.zeros(2), np.array([1.0, scale]), 1.0), new_axes())
        for scale in (0.2, 0.01)
    }
    assert [ax.get_aspect() for ax in shapes.values()] == [1, "auto"]
    ax = plot_credible_region(Cap(np.array([0.0, 1.0]), np.pi / 6), new_axes())
    assert ax.get_title() == "within 30.0 degrees"
    assert ax.lines[1].get_xdata()[[0, -1]] == pytest.approx([-0.5, 0.5])
    ax = plot_credible_region(Interval(np.array([0.0, 1.0]), np.array([2.0, 5.0])), new_axes())
    assert [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()] == [[0, 2], [1, 5]]


def retrieval() -> CredibleRetrieval:
    counts = [np.array(values) for values in ([1, 4], [1, 2], [2, 2])]
    return CredibleRetrieval(np.array([0, 1]), 3, (Held(0.9, *counts), Held(0.5, *(count // 2 for count in counts))))


def test_retrieval() -> None:
    found = retrieval()
    ax = plot_credible_retrieval(found, new_axes())
    for line, name in zip(ax.lines[1:], ("coverage", "recall", "precision"), strict=True):
        assert line.get_xdata().tolist() == [0.5, 0.9]
        assert line.get_ydata().tolist() == [getattr(found[mass], name) for mass in (0.5, 0.9)]
    # Where two curves coincide, the wider one is visible on both sides of the narrower one.
    assert [line.get_linewidth() for line in ax.lines[1:]] == [5, 2.5, 1]
    assert [line.get_markersize() for line in ax.lines[1:]] == [10, 6.5, 3.5]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_error_reject(error_reject_curve([1], [1])),
        lambda: plot_confidence_accuracy(confidence_vs_recall_at_1([1], [1])),
        lambda: plot_rank_correlations({0.0: rank_correlation([1, 2], [1, 2])}),
        lambda: plot_credible_region(Interval(np.array(0.0), np.array(1.0))),
        lambda: plot_credible_retrieval(retrieval()),
    ],
)
def test_axes_of_their_own_or_what_to_install(draw: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    try:
        assert draw() is plt.gca()
    finally:
        plt.close("all")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(tp.MissingExtraError, match=r"pip install 'tieproof\[plot\]'"):
        draw()
