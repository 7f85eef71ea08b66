"""The pictures of results show the numbers of the result, which are read back from the axes."""

import itertools
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import oracle
import tieproof as tp
from tieproof.errors import InputError, MissingExtraError
from tieproof.evaluation.pictures import PICTURES as OF_RESULTS
from tieproof.evaluation.pictures import height
from tieproof.evaluation.text import evaluated
from tieproof.show import drawing, style
from tieproof.show.files import output

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RANDOM = np.random.default_rng(5)


def codes(count: int, measures: list[str], **options: Any) -> tp.Result:
    """Random codes of four bits, which have many tied distances."""
    labels = np.arange(count) // 2
    return tp.evaluate(RANDOM.random((count, 4)) < 0.5, labels, distance="hamming", measures=measures, **options)


def one_query() -> tp.Result:
    """Items at the same distance, one of them relevant."""
    return tp.evaluate_scores([[1, 1, 0]], [[1, 0, 0]], measures=["AP", "P@1"])


def new_axes() -> Any:
    return style.figure("A test")[1]


def segments(collection: Any) -> Any:
    """The lines of a collection, as (start, end) times (across, up)."""
    return np.array(collection.get_segments())


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


# Measures


@pytest.mark.parametrize("measures", [["AP"], list(map(str, tp.DEFAULT_MEASURES))], ids=["one", "default"])
def test_measures_are_drawn(measures: list[str]) -> None:
    result = codes(12, measures)
    ax = result.plot(new_axes())
    interval, deviation = ax.collections
    marks = {line.get_marker(): line for line in ax.lines if line.get_marker() == "D"}
    lower_ends, upper_ends = [line for line in ax.lines if line.get_marker() == "|"][:2]
    assert [label.get_text() for label in ax.get_yticklabels()] == measures == list(result.measures)
    for place, measure in enumerate(measures):
        value = result[measure]
        assert ax.get_yticks()[place] == place
        assert segments(interval)[place].tolist() == [[value.lower, place], [value.upper, place]]
        assert lower_ends.get_xydata()[place].tolist() == [value.lower, place]
        assert upper_ends.get_xydata()[place].tolist() == [value.upper, place]
        assert marks["D"].get_xydata()[place].tolist() == [value.expected, place]
        np.testing.assert_allclose(segments(deviation)[place][:, 0], value.expected + np.array([-1, 1]) * value.std)
    for heading, name in (("lower", "lower"), ("expected", "expected"), ("upper", "upper"), ("tie std", "std")):
        start = texts(ax).index(heading) + 1
        shown = texts(ax)[start : start + len(measures)]
        assert shown == [f"{getattr(result[measure], name):.4f}" for measure in measures]
    assert ax.get_title("left").replace("\n", " ") == evaluated(result)


def test_measures_of_one_query() -> None:
    ax = one_query().plot(new_axes())
    assert segments(ax.collections[0])[:, :, 0].tolist() == [[0.5, 1.0], [0.0, 1.0]]
    assert ax.get_xlabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["lower to upper", "expected ± tie std"]


def test_height_grows_with_the_measures() -> None:
    try:
        results = [codes(6, list(map(str, names))) for names in (["AP"], tp.DEFAULT_MEASURES)]
        few, many = (result.plot().figure.get_size_inches()[1] for result in results)
        assert few == height(results[0]) < many
    finally:
        plt.close("all")


def rows(ax: Any) -> dict[str, list[float] | None]:
    """The interval beside each name, None for words without one."""
    drawn = {line[0][1]: line[:, 0].tolist() for line in segments(ax.collections[0])}
    names = [label.get_text() for label in ax.get_yticklabels()]
    return {name: drawn.get(place) for place, name in enumerate(names)}


def test_few_categories_are_drawn_under_the_means() -> None:
    result = codes(60, ["AP", "P@1"], categories=np.array(["cats", "dogs"])[np.arange(60) % 2])
    expected: dict[str, Any] = {name: [result[name].lower, result[name].upper] for name in ("AP", "P@1")}
    expected["AP by category:"] = None
    for name in ("cats", "dogs"):
        of_category = result.category(name)["AP"]
        expected[name] = [of_category.lower, of_category.upper]
    assert rows(result.plot(new_axes())) == expected


def test_of_many_categories_the_worst_and_the_best_are_drawn() -> None:
    result = codes(600, ["AP"], categories=np.arange(600) % 55)
    lower = {name: result.category(name)["AP"].lower for name in range(55)}
    ranked = sorted(lower, key=lower.__getitem__)
    names = [label.get_text() for label in result.plot(new_axes()).get_yticklabels()]
    assert names == ["AP", "AP by category:", *map(str, ranked[:5]), "(45 more)", *map(str, ranked[-5:])]


def test_axis_of_a_macro_average_says_so() -> None:
    result = codes(60, ["AP"], categories=np.arange(60) % 3, average="macro")
    assert "mean over the categories" in result.plot(new_axes()).get_xlabel()
    assert "mean over the queries" in one_query().plot(new_axes()).get_xlabel()


def test_small_scores_are_told_apart() -> None:
    lists = -np.arange(1000.0)[None].repeat(2, axis=0)
    result = tp.evaluate_scores(lists, np.arange(1000)[None] >= np.array([[997], [999]]), measures=["RR"])
    for low, high in (result.plot(new_axes()).get_xlim(), result.plot_queries("RR", new_axes()).get_ylim()):
        assert low < 0.001 < high < 0.0012


# Queries


def steps(ax: Any) -> dict[str, Any]:
    """The contents of the steps: their edges, and the lower, upper and expected value of each."""
    (band,) = (patch for patch in ax.patches if hasattr(patch, "get_data"))
    upper, edges, lower = band.get_data()
    lower_line, upper_line, expected_line = map(segments, ax.collections)
    assert lower_line[:, 0, 1].tolist() == lower.tolist()
    assert upper_line[:, 0, 1].tolist() == upper.tolist()
    for line in (lower_line, upper_line, expected_line):
        assert line[:, :, 0].tolist() == list(map(list, itertools.pairwise(edges)))
        assert line[:, 0, 1].tolist() == line[:, 1, 1].tolist()
    return {"edges": edges, "lower": lower, "expected": expected_line[:, 0, 1], "upper": upper}


@pytest.mark.parametrize("count", [2, 6, 60])
def test_every_query_is_drawn_and_sorted(count: int) -> None:
    result = codes(count, ["P@1", "AP"])
    ax = result.plot_queries(ax=new_axes())
    drawn, values = steps(ax), result.per_query("AP")
    assert drawn["edges"].tolist() == list(range(count + 1))
    assert drawn["expected"].tolist() == sorted(values.expected.tolist())
    triples = {
        name: sorted(zip(lower.tolist(), expected.tolist(), upper.tolist(), strict=True))
        for name, (lower, expected, upper) in {
            "drawn": (drawn["lower"], drawn["expected"], drawn["upper"]),
            "result": (values.lower, values.expected, values.upper),
        }.items()
    }
    assert triples["drawn"] == triples["result"]


def test_queries_without_ap() -> None:
    assert codes(6, ["P@1", "AP"]).plot_queries(ax=new_axes()).get_ylabel() == "AP"
    result = codes(6, ["P@1", "RR"])
    assert result.plot_queries(ax=new_axes()).get_ylabel() == "P@1"
    compared = tp.compare({"one": result, "other": codes(6, ["P@1", "RR"], categories=np.zeros(6, int))})
    assert compared.plot_queries("one", "other", ax=new_axes()).get_title("left").startswith("P@1 of ")


def test_few_queries_are_named() -> None:
    result = tp.evaluate_run(
        {name: {"d": 1} for name in ("first", "second")},
        {"first": {"d": 1.0, "e": 2.0}, "second": {"d": 2.0, "e": 1.0}},
        measures=["RR"],
    )
    ax = result.plot_queries("RR", new_axes())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["first", "second"]
    assert ax.get_xticks().tolist() == [0.5, 1.5]
    assert steps(ax)["expected"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("count", [drawing.STEPS + 2, 3 * drawing.STEPS])
def test_many_queries_are_drawn_as_means_of_neighbors(count: int) -> None:
    result = codes(count, ["AP"])
    ax = result.plot_queries("AP", new_axes())
    drawn = steps(ax)
    widths = np.diff(drawn["edges"])
    assert len(widths) == drawing.STEPS
    assert set(widths.tolist()) <= {count // drawing.STEPS, count // drawing.STEPS + 1}
    for name in ("lower", "expected", "upper"):
        np.testing.assert_allclose(np.sum(drawn[name] * widths) / count, getattr(result["AP"], name), rtol=1e-12)
    np.testing.assert_allclose(
        drawn["expected"][0], np.sort(result.per_query("AP").expected)[: widths[0]].mean(), rtol=1e-12
    )
    assert f"{count:,} queries" in ax.get_title("right")
    assert "means of" in ax.get_xlabel()


def test_queries_without_a_value_are_left_out() -> None:
    result = tp.evaluate_scores([[2, 1], [2, 1], [1, 1]], [[1, 0], [0, 0], [1, 0]], measures=["RR"], empty="nan")
    ax = result.plot_queries("RR", new_axes())
    assert steps(ax)["lower"].tolist() == [0.5, 1.0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "0"]


def test_picture_of_queries_says_what_it_shows() -> None:
    ax = one_query().plot_queries("P@1", new_axes())
    assert (ax.get_title("right"), ax.get_ylabel(), ax.get_xlabel()) == (
        "P@1 of 1 query",
        "P@1",
        "queries, sorted by their expected P@1",
    )
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["lower to upper", "expected"]


def test_measure_that_the_result_does_not_have() -> None:
    with pytest.raises(InputError, match=r"no measure 'AUC'; it has AP, P@1"):
        one_query().plot_queries("AUC")
    assert plt.get_fignums() == []


# Both

PICTURES = [tp.Result.plot, tp.Result.plot_queries]


@pytest.mark.parametrize("picture", PICTURES)
def test_given_axes_leave_pyplot_alone(picture: Any) -> None:
    before = dict(matplotlib.rcParams)
    ax = new_axes()
    assert picture(one_query(), ax=ax) is ax
    assert plt.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("picture", PICTURES)
def test_without_axes_the_figure_is_one_of_pyplot(picture: Any) -> None:
    try:
        assert picture(one_query()) is plt.gca()
        assert len(plt.get_fignums()) == 1
    finally:
        plt.close("all")


def test_a_cell_of_a_notebook_that_ends_with_a_picture_prints_nothing() -> None:
    ax = one_query().plot()
    plt.close("all")
    assert ax._ipython_display_() is None  # IPython calls this instead of printing what an object is


def test_precision_over_recall_is_that_of_all_orderings() -> None:
    rankings: list[oracle.Ranking] = [[[0], [1, 0, 1], [1, 0]], [[1, 0, 0, 1], [0, 0]]]
    scores = [[-float(place) for place, tie in enumerate(ranking) for _ in tie] for ranking in rankings]
    grades = [[grade for tie in ranking for grade in tie] for ranking in rankings]
    result = tp.evaluate_scores(scores, grades, measures=["AP", *tp.measures.PRECISION_RECALL])
    ax = result.plot_precision_recall(new_axes())
    (band,), (line,) = ax.collections, ax.lines
    assert line.get_xdata().tolist() == [tenths / 10 for tenths in range(11)]
    corners = band.get_paths()[0].vertices
    curves = []
    for ranking in rankings:
        relevant = tuple(grade for tie in ranking for grade in tie if grade)
        curves.append(
            [
                [
                    oracle.interpolated_precision(Fraction(tenths, 10))(ordering, oracle.Context(relevant, None))
                    for tenths in range(11)
                ]
                for ordering in oracle.orderings(ranking)
            ]
        )
    for place, across in enumerate(line.get_xdata()):
        values = [[curve[place] for curve in each] for each in curves]
        lower, upper = (float(sum(map(end, values)) / 2) for end in (min, max))
        expected = float(sum(sum(each) / len(each) for each in values) / 2)
        up = corners[corners[:, 0] == across, 1]
        assert (up.min(), up.max()) == pytest.approx((lower, upper), rel=1e-12)
        assert line.get_ydata()[place] == pytest.approx(expected, rel=1e-12)
    for each in curves:  # one ordering gives the whole lower edge, and one the whole upper edge
        assert [*map(min, zip(*each, strict=True))] in each
        assert [*map(max, zip(*each, strict=True))] in each


def test_precision_over_recall_needs_levels_of_recall() -> None:
    result = tp.evaluate_scores([[2, 1]], [[0, 1]], measures=["AP", "IPrec(recall=0.5)"])
    with pytest.raises(InputError, match=r"no precision at several levels of recall\. Evaluate it with measures="):
        result.plot_precision_recall(new_axes())


@pytest.mark.parametrize("other", ["IPrec(recall=0.7,hits=exact)", "IPrec(recall=0.75,rel=2)"])
def test_one_curve_does_not_mix_definitions_of_precision(other: str) -> None:
    result = tp.evaluate_scores([[2, 1]], [[0, 2]], measures=[*tp.measures.PRECISION_RECALL, other])
    with pytest.raises(InputError, match=r"IPrec\(.* belong to different curves"):
        result.plot_precision_recall(new_axes())


@pytest.mark.parametrize(("picture", "name"), [*zip(PICTURES, ["plot", "plot_queries"], strict=True)])
def test_without_matplotlib(picture: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=rf"Result\.{name} needs the extra 'plot'.*tieproof\[plot\]"):
        picture(one_query())


def test_a_picture_is_written_to_a_path(tmp_path: Path) -> None:
    found = tp.evaluate_scores([[2, 1, 1]], [[0, 1, 0]], measures=["AP", "P@1"])
    axes = found.plot(tmp_path / "x.png")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["AP", "P@1"]
    with output(tmp_path / "y.png", OF_RESULTS) as write:
        write(found)
    assert (tmp_path / "x.png").read_bytes() == (tmp_path / "y.png").read_bytes()
    found.plot_queries(ax=str(tmp_path / "q.svg"))
    found.distribution("AP").plot(tmp_path / "d.pdf")
    assert {path.name for path in tmp_path.iterdir()} == {"x.png", "y.png", "q.svg", "d.pdf"}
    with pytest.raises(tp.InputError, match=r"x\.gif has the extension '\.gif', which cannot be written here"):
        found.plot(tmp_path / "x.gif")
