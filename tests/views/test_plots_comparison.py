"""The pictures of comparisons show the numbers of the comparison, which are read back from the axes."""

from typing import Any

import matplotlib
import numpy as np
import pytest

import tieproof as tp
from tieproof.errors import InputError
from tieproof.show import style

matplotlib.use("Agg")

NAMES = ("base", "ours", "theirs")


def compared(names: tuple[str, ...] = NAMES, count: int = 30, **options: Any) -> tp.Comparison:
    relevance = (np.arange(12)[None] % 4 == np.arange(count)[:, None] % 4).astype(int)
    noise = np.random.default_rng(4).normal(size=relevance.shape)
    results = {
        name: tp.evaluate_scores(np.round(3 * relevance * place + 4 * noise), relevance, measures=["AP", "P@1"])
        for place, name in enumerate(names)
    }
    return tp.compare(results, **options)


def new_axes() -> Any:
    return style.figure("A test")[1]


def test_every_difference_is_drawn_with_both_intervals() -> None:
    found = compared()
    ax = found.plot(new_axes())
    ties, queries = (np.array(each.get_segments()) for each in ax.collections)
    lines = [(measure, pair) for measure in found.measures for pair in (None, *found.pairs)]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [measure if pair is None else f"{pair[0]}\n- {pair[1]}" for measure, pair in lines]
    drawn = [(place, found[*pair, measure]) for place, (measure, pair) in enumerate(lines) if pair is not None]
    assert [segment[:, 0].tolist() for segment in ties] == [[each.lower, each.upper] for _, each in drawn]
    assert [segment[0, 1] for segment in ties] == [place for place, _ in drawn]
    assert [tuple(segment[:, 0].tolist()) for segment in queries] == [each.interval for _, each in drawn]
    marks = next(line for line in ax.lines if line.get_marker() == "D")
    assert marks.get_xdata().tolist() == [each.expected for _, each in drawn]
    marks = next(line for line in ax.lines if line.get_marker() == "o")
    assert marks.get_xdata().tolist() == [each.lower for _, each in drawn]
    ax.figure.canvas.draw()
    assert "\u2212" not in "".join(label.get_text() for label in (*ax.get_xticklabels(), *ax.get_yticklabels()))
    said = [text.get_text().replace("\n", " ") for text in ax.texts]
    assert said == [
        f"{each.verdict.better} is {each.verdict.name}" if each.verdict.better else each.verdict.name
        for _, each in drawn
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "ties: lower to upper",
        "queries: 95% interval",
        "lower",
        "expected",
    ]
    assert ax.get_title("left") == "Differences on 30 queries, sign-flip test, holm correction"


def test_of_many_differences_the_first_measures_are_drawn() -> None:
    found = compared(tuple("abcdefgh"), correction=None)
    ax = found.plot(new_axes())
    assert len(found.pairs) == 28
    assert len(ax.texts) == 28
    title = ax.get_title("left").replace("\n", " ")
    assert title == "Differences on 30 queries, sign-flip test; the first 1 of 2 measures"
    assert len(ax.get_yticklabels()) == 28 + 1  # the pairs, and the name of the measure


def test_differences_of_queries_are_drawn_and_sorted() -> None:
    found = compared()
    ax = found.plot_queries("ours", "base", "P@1", new_axes())
    values = found.per_query("ours", "base", "P@1")
    (band,) = (patch for patch in ax.patches if hasattr(patch, "get_data"))
    upper, _, lower = band.get_data()
    expected = np.array(ax.collections[2].get_segments())[:, 0, 1]
    drawn = zip(lower.tolist(), expected.tolist(), upper.tolist(), strict=True)
    assert sorted(drawn) == sorted(
        zip(values.lower.tolist(), values.expected.tolist(), values.upper.tolist(), strict=True)
    )
    assert expected.tolist() == sorted(values.expected.tolist())
    difference = found["ours", "base", "P@1"]
    assert ax.get_title("left") == (
        f"P@1 of ours - base\nours won {difference.wins}, lost {difference.losses}, drew {difference.draws}"
    )
    with pytest.raises(InputError, match="no system 'nobody'"):
        found.plot_queries("ours", "nobody")
