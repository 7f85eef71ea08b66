"""Every picture is readable: no text overlaps another or is cut off, no legend covers data, no mark is outside."""

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import tieproof as tp
from layout import faults
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
    plot_confidence_accuracy,
    plot_credible_region,
    plot_credible_retrieval,
    plot_error_reject,
    plot_rank_correlations,
)
from tieproof.show import style

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Draw = Callable[..., Any]

CODES = np.random.default_rng(5).random((600, 12)) < 0.5
LABELS = np.arange(600) % 30

NAMES = ["数据" * 15, "кошка и собака " * 4, "a" * 60, "$\\frac$", "العربية", "query-number-00000000003", "x"]


def measures(names: list[str], count: int = 60, **options: Any) -> tp.Result:
    return tp.evaluate(CODES[:count], LABELS[:count], distance="hamming", measures=names, **options)


def scores(lists: Any, relevance: Any, *names: str, **options: Any) -> tp.Result:
    return tp.evaluate_scores(lists, relevance, measures=list(names), **options)


def named(names: list[str]) -> tp.Result:
    run = {name: {"a": float(i % 3), "b": 1.0, "c": 2.0} for i, name in enumerate(names)}
    return tp.evaluate_run({name: {"a": 1} for name in names}, run, measures=["AP"])


def far_down() -> tp.Result:
    """Scores of about 0.00001."""
    lists = -np.arange(100_000.0)[None]
    lists[:, -5:] = -100_000
    return scores(lists, np.arange(100_000)[None] == 99_999, "AP", "RR")


DEFAULT = list(map(str, tp.DEFAULT_MEASURES))
LONG = ["AP(norm=min)@10", "nDCG(gain=exp)@100", "RBP(p=0.95)@100"]
ONES = ([[3, 1, 0]] * 3, [[1, 0, 0]] * 3)
ZEROS = ([[3, 1, 0]] * 3, [[0, 0, 1]] * 3)
CATEGORIES = np.array([f"the category that has the number {place} and a name that never ends" for place in range(55)])

RESULTS: dict[str, tuple[Callable[[], tp.Result], str]] = {
    "default": (lambda: measures(DEFAULT), "AP"),
    "long names": (lambda: measures(LONG), LONG[0]),
    "one query": (lambda: scores([[1, 1, 0]], [[1, 0, 0]], "AP"), "AP"),
    "all 1": (lambda: scores(*ONES, "AP", "P@1"), "AP"),
    "all 0": (lambda: scores(*ZEROS, "P@1"), "P@1"),
    "no query has a value": (lambda: scores([[2, 1], [2, 1]], [[1, 0], [0, 0]], "RR", empty="nan"), "RR"),
    "tiny": (far_down, "AP"),
    "close to each other": (lambda: measures(["AP"], 600), "AP"),
    "names": (lambda: named(NAMES), "AP"),
    "25 names": (lambda: named([f"query-number-{place:012d}" for place in range(25)]), "AP"),
    "categories": (lambda: measures(["AP", "P@1"], categories=np.array(NAMES)[np.arange(60) % 7]), "AP"),
    "55 categories": (lambda: measures(["AP"], 600, categories=CATEGORIES[np.arange(600) % 55]), "AP"),
    "macro": (lambda: measures(DEFAULT, 600, categories=CATEGORIES[np.arange(600) % 55], average="macro"), "AP"),
}


def curves(count: int, names: list[str]) -> dict[str, Any]:
    random = np.random.default_rng(3)
    return {name: error_reject_curve(random.random(count), random.integers(0, 9, count)) for name in names}


def retrieval(*counts: int) -> CredibleRetrieval:
    held = [Held(mass, *(np.array([count, count]) for count in counts)) for mass in (0.5, 0.9)]
    return CredibleRetrieval(np.array([0, 1]), 0, tuple(held))


@cache
def collisions(count: int, labelled: bool = True, **options: Any) -> tp.Collisions:
    labels = LABELS[:count] if labelled else None
    return tp.collisions(CODES[:count], labels, distance="hamming", **options)


@cache
def separate(count: int) -> tp.Collisions:
    data = np.random.default_rng(1).normal(size=(count, 9))
    return tp.collisions(data, np.arange(count) // 2)


def comparison(count: int, names: list[str], baseline: str | None = None) -> tp.Comparison:
    """Systems with ties, each a little better than the one before."""
    relevance = (np.arange(20)[None] % 5 == np.arange(count)[:, None] % 5).astype(int)
    noise = np.random.default_rng(8).normal(size=relevance.shape)
    systems = {
        name: scores(np.round(4 * (relevance * (0.2 + 0.1 * place) + noise)), relevance, "AP", "P@1", "nDCG@10")
        for place, name in enumerate(names)
    }
    return tp.compare(systems, baseline=baseline)


def the_same() -> tp.Comparison:
    result = measures(["AP"])
    return tp.compare({"one": result, "other": result})


def over_ties() -> tp.Distribution:
    return (
        comparison(60, ["a system with a long name", "ours"])
        .over_ties("ours", "a system with a long name", "AP")
        .distribution
    )


OTHERS: dict[str, Draw] = {
    "a distribution": lambda ax: measures(["AP"]).distribution("AP", resolution=1e-4).plot(ax),
    "a distribution of few values": lambda ax: measures(["P@1"], 40).distribution("P@1").plot(ax),
    "a distribution of one value": lambda ax: scores([[2, 1]], [[0, 1]], "AP").distribution("AP").plot(ax),
    "a distribution of a difference": lambda ax: over_ties().plot(ax),
    "comparison": lambda ax: comparison(60, ["base", "ours", "theirs"]).plot(ax),
    "comparison of four queries": lambda ax: comparison(4, ["base", "ours"]).plot(ax),
    "comparison of names": lambda ax: comparison(60, NAMES, baseline="x").plot(ax),
    "comparison of eight": lambda ax: comparison(60, list("abcdefgh")).plot(ax),
    "comparison of a system with itself": lambda ax: the_same().plot(ax),
    "differences": lambda ax: comparison(60, ["base", "ours"]).plot_queries("ours", "base", ax=ax),
    "differences of ten queries": lambda ax: comparison(10, NAMES).plot_queries(NAMES[0], NAMES[1], ax=ax),
    "differences of many queries": lambda ax: comparison(900, ["base", "ours"]).plot_queries("ours", "base", ax=ax),
    "no differences": lambda ax: the_same().plot_queries("one", "other", ax=ax),
    "precision over recall": lambda ax: measures([*tp.measures.PRECISION_RECALL]).plot_precision_recall(ax),
    "collisions": lambda ax: collisions(300).plot(ax),
    "collisions of 600": lambda ax: collisions(600).plot(ax),
    "collisions of 4": lambda ax: collisions(4, labelled=False).plot(ax),
    "collisions without labels": lambda ax: collisions(300, labelled=False).plot(ax),
    "no collisions": lambda ax: separate(50).plot(ax),
    "ranks": lambda ax: collisions(300).plot_ranks(ax),
    "ranks of 4": lambda ax: collisions(4, labelled=False).plot_ranks(ax),
    "no ranks": lambda ax: separate(50).plot_ranks(ax),
    "one rank": lambda ax: separate(2).plot_ranks(ax),
    "a curve": lambda ax: plot_error_reject(error_reject_curve([1, 0], [1, 1]), ax),
    "curves of nothing": lambda ax: plot_error_reject({"P@1": error_reject_curve([0, 0], [1, 1])}, ax),
    "ten curves": lambda ax: plot_error_reject(curves(500, DEFAULT), ax),
    "accuracy": lambda ax: plot_confidence_accuracy(confidence_vs_recall_at_1(LABELS < 3, LABELS), ax),
    "accuracy of one": lambda ax: plot_confidence_accuracy(confidence_vs_recall_at_1([1], [1e-9]), ax),
    "correlations": lambda ax: plot_rank_correlations(
        {x: rank_correlation([1, x, 3, 3], [1, 2, 3, 4]) for x in (0.0, 1.0, 2.0)}, ax
    ),
    "a correlation": lambda ax: plot_rank_correlations({0.0: rank_correlation([1, 2], [1, 2])}, ax),
    "retrieval": lambda ax: plot_credible_retrieval(retrieval(2, 1, 1), ax),
    "an ellipse": lambda ax: plot_credible_region(Ellipsoid(np.zeros(2), np.array([1.0, 2.0]), 2.0), ax),
    "a flat ellipse": lambda ax: plot_credible_region(Ellipsoid(np.zeros(2), np.array([1.0, 1e-6]), 2.0), ax),
    "a cap": lambda ax: plot_credible_region(Cap(np.array([0.0, 1.0]), 0.5), ax),
    "intervals": lambda ax: plot_credible_region(Interval(np.arange(99.0), np.arange(99.0) + 3), ax),
}


@pytest.fixture(autouse=True)
def no_figures_left() -> Any:
    """Close the figures of pyplot, and ignore warnings about letters that the fonts of this machine lack."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield
    plt.close("all")


@pytest.mark.parametrize("name", RESULTS)
def test_pictures_of_results(name: str) -> None:
    make, measure = RESULTS[name]
    result = make()
    assert faults(result.plot()) == []
    assert faults(result.plot_queries(measure)) == []


@pytest.mark.few(12)
@pytest.mark.parametrize("name", OTHERS)
def test_other_pictures(name: str) -> None:
    """They are readable on a dark background, too, which changes no place."""
    with plt.style.context("dark_background"):
        ax = OTHERS[name](None)
        drawn = [line.get_color() for line in ax.lines] + [text.get_color() for text in ax.texts]
        assert not {"black", style.BLACK, "k"} & {color for color in drawn if isinstance(color, str)}
        assert faults(ax) == []


def test_half_of_a_figure_is_enough() -> None:
    _, (left, right) = style.figure("A test", width=12, height=4, columns=2)
    measures(["AP", "P@1"]).plot(left)
    named(NAMES).plot_queries(ax=right)
    assert faults(left) == []
    _, (left, right) = style.figure("A test", width=12, height=4, columns=2)
    collisions(60).plot(left)
    plot_error_reject(curves(60, ["P@1", "AP@R"]), right)
    assert faults(left) == []


def test_results_are_seen_on_a_dark_background() -> None:
    with plt.style.context("dark_background"):
        means, queries = measures(["AP"]).plot(), measures(["AP"]).plot_queries()
    assert {line.get_color() for line in means.lines} == {style.BLUE, "white"}
    assert queries.collections[2].get_color().tolist() == [[1, 1, 1, 1]]


def svg(ax: Any, path: Path) -> bytes:
    style.write(ax.figure.figure, path)
    return path.read_bytes()


@pytest.mark.long
def test_same_bytes_of_the_same_data_in_any_order(tmp_path: Path) -> None:
    """The exception are collisions by query and rank, whose rows are the queries in the given order."""
    random = np.random.default_rng(2)
    names = np.array([f"query {place}" for place in range(20)])
    lists, relevance = random.integers(3, size=(20, 12)), random.random((20, 12)) < 0.4
    relevance[:, 0] = True
    of_query, sure = CATEGORIES[np.arange(20) % 3], random.integers(5, size=20)

    def pictures(queries: Any, items: Any) -> list[Any]:
        given: dict[str, Any] = {"measures": ["AP", "P@1"], "empty": "zero"}
        parts = [each[queries][:, items] for each in (lists, relevance)]
        result, other = (
            tp.evaluate_scores(each, parts[1], categories=of_query[queries], **given).named(names[queries])
            for each in (parts[0], parts[0] // 2)
        )
        both = tp.compare({"one": result, "other": other})
        curve = plot_error_reject({"P@1": error_reject_curve(~relevance[queries, 1], sure[queries])})
        hits = confidence_vs_recall_at_1(relevance[queries, 1], sure[queries])
        return [
            result.plot(),
            result.plot_queries(),
            both.plot(),
            both.plot_queries("one", "other"),
            curve,
            plot_confidence_accuracy(hits),
            tp.collisions(CODES[:20][queries], LABELS[:20][queries] % 4).plot_ranks(),
        ]

    expected = [svg(ax, tmp_path / "a.svg") for ax in pictures(np.arange(20), np.arange(12))]
    plt.close("all")
    shuffled = [svg(ax, tmp_path / "a.svg") for ax in pictures(random.permutation(20), random.permutation(12))]
    assert [one == other for one, other in zip(expected, shuffled, strict=True)] == [True] * 7
