"""A result for each category of queries, and means over categories."""

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import oracle
import tieproof as tp
from tieproof.inputs.readers.text import read

RANDOM = np.random.default_rng(11)
QUERIES, GALLERY = RANDOM.integers(0, 3, size=(30, 3)), RANDOM.integers(0, 3, size=(25, 3))
LABELS, GALLERY_LABELS = RANDOM.integers(0, 4, 30), RANDOM.integers(0, 4, 25)
KINDS = RANDOM.choice(["cats", "dogs", "owls"], 30)


def evaluate(chosen: Any = slice(None), **options: Any) -> tp.Result:
    return tp.evaluate(
        QUERIES[chosen],
        LABELS[chosen],
        gallery=GALLERY,
        gallery_labels=GALLERY_LABELS,
        distance="euclidean",
        **options,
    )


def test_a_category_is_the_evaluation_of_its_queries_alone() -> None:
    result = evaluate(categories=KINDS)
    assert result.categories == ("cats", "dogs", "owls")
    for name in result.categories:
        alone = evaluate(name == KINDS).to_dict()
        found = result.category(name)
        assert found.query_ids.tolist() == np.flatnonzero(name == KINDS).tolist()
        assert found.to_dict() | {"ties": {}} == alone | {"ties": {}}
        ignored = {"zero_vectors": 0}  # the values of all queries
        assert found.to_dict()["ties"] | ignored == alone["ties"] | ignored
        of_all = result.per_query("AP").std
        assert (found.per_query("AP").std == of_all[found.query_ids]).all()


def test_categories_change_nothing_else() -> None:
    assert {**evaluate(categories=KINDS).to_dict(), "categories": 0, "categories_left_out": 0} == {
        **evaluate().to_dict(),
        "categories": 0,
        "categories_left_out": 0,
    }
    assert evaluate().categories == ()
    assert "categories" not in evaluate().to_dict()


@pytest.mark.parametrize("measure", ["AP", "RR", "P@2"])
def test_macro_is_the_mean_of_means_over_all_orderings(measure: str) -> None:
    """Three queries in two categories; every ordering of their ties together, in fractions."""
    rankings: list[oracle.Ranking] = [[[1, 0], [1]], [[0, 1, 0]], [[1, 0, 1, 0]]]
    kinds = ["a", "a", "b"]
    name, _, cutoff = measure.partition("@")

    def value(ordering: oracle.Ordering) -> Fraction:
        return oracle.DEFINITIONS[name](ordering, oracle.Context(tuple(g for g in ordering if g), int(cutoff or 9)))

    each = [[value(ordering) for ordering in every_arrangement(ranking)] for ranking in rankings]
    exact = oracle.estimates([(x + y) / 4 + z / 2 for x, y, z in itertools.product(*each)])
    found = tp.evaluate_scores(
        [[-float(place) for place, tie in enumerate(ranking) for _ in tie] for ranking in rankings],
        [[float(grade) for tie in ranking for grade in tie] for ranking in rankings],
        measures=[measure],
        categories=kinds,
        average="macro",
    )[measure]
    assert [found.lower, found.expected, found.upper] == pytest.approx(
        [float(exact.lower), float(exact.expected), float(exact.upper)], rel=1e-12
    )
    assert found.std == pytest.approx(exact.std, rel=1e-12)


def every_arrangement(ranking: oracle.Ranking) -> list[oracle.Ordering]:
    """All orderings, each as often as it results from permutations of the items."""
    parts = itertools.product(*(itertools.permutations(tie) for tie in ranking))
    return [tuple(itertools.chain.from_iterable(part)) for part in parts]


def test_macro_without_categories_is_over_labels() -> None:
    result = evaluate(average="macro", measures=["AP", "P@5"])
    classes = [evaluate(label == LABELS, measures=["AP", "P@5"]) for label in range(4)]
    for measure in result.measures:
        for part in ("lower", "expected", "upper"):
            values = [getattr(each[measure], part) for each in classes]
            assert getattr(result[measure], part) == math.fsum(values) / 4
        variances = [each[measure].std ** 2 for each in classes]
        assert result[measure].std == pytest.approx(math.sqrt(sum(variances)) / 4, rel=1e-12)
    assert result.categories == (0, 1, 2, 3)
    assert result.category(2).to_dict() == evaluate(categories=LABELS, measures=["AP", "P@5"]).category(2).to_dict()
    assert result.to_dict()["setting"]["average"] == "macro"


def test_the_order_of_queries_and_the_names_change_no_bit() -> None:
    for average in ("micro", "macro"):
        expected = evaluate(categories=KINDS, average=average)
        order = RANDOM.permutation(30)
        assert evaluate(order, categories=KINDS[order], average=average).to_json() == expected.to_json()
        # If categories were sorted differently, their means would be added in another order.
        renamed = np.array([{"cats": "z", "dogs": "a", "owls": "m"}[name] for name in KINDS.tolist()])
        assert evaluate(categories=renamed, average=average).to_dict()["measures"] == expected.to_dict()["measures"]


@pytest.mark.parametrize(
    ("empty", "names", "counted", "without"),
    [
        ("skip", ("a",), 1, ("b",)),
        ("zero", ("a", "b"), 2, ()),
        ("one", ("a", "b"), 2, ()),
        ("nan", ("a",), 1, ("b",)),
    ],
)
def test_a_category_with_nothing_relevant(
    empty: Any, names: tuple[str, ...], counted: int, without: tuple[str, ...]
) -> None:
    relevance = [[1, 0], [0, 0], [0, 0], [0, 1]]
    result = tp.evaluate_scores(
        [[2.0, 1.0]] * 4, relevance, measures=["RR"], categories=list("abaa"), average="macro", empty=empty
    )
    assert result.categories == names
    assert result.categories_left_out == without
    of_a = result.category("a")
    assert of_a.empty_ids.tolist() == [2]
    means = {"skip": 0.75, "nan": 0.75, "zero": 0.5, "one": 2.5 / 3}
    assert of_a["RR"].lower == means[empty]
    assert result["RR"].lower == {"skip": 0.75, "nan": 0.75, "zero": 0.25, "one": (2.5 / 3 + 1) / 2}[empty]
    for name in without:
        with pytest.raises(tp.InputError, match="No query of the category 'b' has a relevant item"):
            result.category(name)
        assert "1 further category has no query with a relevant item, and so no mean." in " ".join(
            str(result).split()
        )
    assert "Evaluated 2 of 3 queries" in of_a.to_text(explain=True) or empty in ("zero", "one")


def test_frame_and_columns() -> None:
    result = evaluate(categories=KINDS, measures=["AP", "P@1"])
    frame = result.to_frame()
    assert list(frame.columns) == ["query", "category", "measure", "lower", "expected", "upper", "std"]
    assert frame["category"].tolist() == KINDS[result.query_ids].tolist() * 2
    means = frame[frame.measure == "AP"].groupby("category")["expected"].mean()
    for name in result.categories:
        assert result.category(name)["AP"].expected == pytest.approx(means[name], rel=1e-12)
    assert "category" not in evaluate().columns()


def test_json() -> None:
    result = evaluate(categories=KINDS, measures=["AP"])
    found = result.to_dict()["categories"]
    assert list(found) == ["cats", "dogs", "owls"]
    cats = result.category("cats")["AP"]
    assert found["cats"]["measures"]["AP"] == {
        "lower": cats.lower,
        "expected": cats.expected,
        "upper": cats.upper,
        "std": cats.std,
    }
    assert sum(each["ties"]["queries"] for each in found.values()) == result.ties.queries
    assert sum(each["ties"]["ambiguous_ties"] for each in found.values()) == result.ties.ambiguous_ties


def test_table() -> None:
    text = str(evaluate(categories=KINDS, measures=["AP", "P@1"]))
    rows = re.findall(r"^(AP|P@1) +(\(all queries\)|cats|dogs|owls) +\d\.\d{4} ", text, re.MULTILINE)
    names = ["(all queries)", "cats", "dogs", "owls"]
    assert rows == [(measure, name) for measure in ("AP", "P@1") for name in names]
    macro = " ".join(evaluate(average="macro").to_text(explain=True).split())
    assert "AP (mean of them)" in macro
    assert "Means are over 4 categories, each with the mean over its queries." in macro


def test_table_of_many_categories() -> None:
    names = [f"{place:02d}" for place in range(30)]
    result = evaluate(categories=np.array(names), measures=["AP", "P@1"])
    known = result.categories
    text = result.to_text(explain=True)
    for measure in result.measures:
        lower = {name: result.category(name)[measure].lower for name in known}
        shown = re.findall(rf"^{re.escape(measure)} +(\d\d) +(\d\.\d{{4}}) ", text, re.MULTILINE)
        ranked = sorted(f"{value:.4f}" for value in lower.values())
        assert [value for _, value in shown] == ranked[:5] + ranked[-5:]
        assert all(f"{lower[name]:.4f}" == value for name, value in shown)
        assert len({name for name, _ in shown}) == 10
    assert text.count(f"({len(known) - 10} more)") == 2
    assert (
        f"Of {len(known)} categories, the 5 with the lowest and the 5 with the highest 'lower' are shown; the "
        "JSON of the result has all of them." in " ".join(text.split())
    )


def test_equal_categories_are_shown_by_their_names() -> None:
    scores, relevance, names = [[2, 1]] * 30, [[1, 0]] * 30, np.array([f"{place:02d}" for place in range(30)])
    order = np.random.default_rng(1).permutation(30)
    texts = {
        str(tp.evaluate_scores(scores, relevance, measures=["RR"], categories=of)) for of in (names, names[order])
    }
    (text,) = texts
    assert re.findall(r"^RR +(\d\d) ", text, re.MULTILINE) == [*names[:5], *names[-5:]]


def test_lists_and_distances() -> None:
    scores, relevance = [[3, 2, 1], [1, 2], [5, 5, 5]], [[1, 0, 0], [1, 0], [0, 1, 0]]
    result = tp.evaluate_scores(scores, relevance, measures=["RR"], categories=[1, 2, 1])
    assert result.category(1).query_ids.tolist() == [0, 2]
    assert result.category(1)["RR"].lower == (1 + 1 / 3) / 2
    assert result.category(2)["RR"].upper == 0.5
    mirrored = tp.evaluate_distances([[-x for x in row] for row in scores], relevance, categories=[1, 2, 1])
    assert mirrored.category(1)["RR"] == result.category(1)["RR"]


# Batches


def test_batches_in_any_order_and_size() -> None:
    expected = tp.evaluate(GALLERY, GALLERY_LABELS, categories=KINDS[:25], average="macro")
    for sizes in ([25], [1, 9, 15], [20, 5]):
        evaluator = tp.Evaluator(average="macro")
        order = RANDOM.permutation(25)
        for part in [*np.split(order, np.cumsum(sizes)[:-1]), order[:3]]:
            evaluator.update(GALLERY[part], GALLERY_LABELS[part], part, categories=KINDS[part])
        assert evaluator.compute().to_json() == expected.to_json()


def test_batches_that_disagree() -> None:
    evaluator = tp.Evaluator()
    evaluator.update(GALLERY, GALLERY_LABELS, categories=KINDS[:25])
    with pytest.raises(tp.InputError, match="Some batches have categories and others have none"):
        evaluator.update(GALLERY, GALLERY_LABELS)
    with pytest.raises(tp.InputError, match="number of categories is 2, but the number of queries is 25"):
        evaluator.update(GALLERY, GALLERY_LABELS, categories=["cats", "dogs"])
    with pytest.raises(tp.InputError, match="categories of this batch have the shape"):
        evaluator.update(GALLERY, GALLERY_LABELS, categories=np.arange(25))
    other = "cats" if KINDS[0] != "cats" else "dogs"
    evaluator.update(GALLERY[:1], GALLERY_LABELS[:1], indices=[0], categories=[other])
    with pytest.raises(tp.InputError, match="Index 0 was given twice, with different categories"):
        evaluator.compute()


# Runs

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}, "7": {"d4": 0}}
RUN = {"q1": {"d1": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}, "q3": {"d1": 1.0, "d3": 1.0}}
BY_QUERY: dict[Any, str] = {"q1": "short", "q2": "long one", "q3": "short", 7: "short", "q99": "never asked"}
LINES = "\ufeffq1 short\n\nq2\tlong one \r\n q3 short\n7 short\nq99 never asked\n"


def forms(folder: Path) -> list[Any]:
    path = folder / "categories.txt"
    path.write_bytes(LINES.encode())
    rows = [(str(query), name) for query, name in BY_QUERY.items()]
    return [
        BY_QUERY,
        path,
        str(path),
        *(pd.DataFrame(rows, columns=[key, "category"]) for key in ("query_id", "qid")),
    ]


def test_runs(tmp_path: Path) -> None:
    expected = tp.evaluate_run(QRELS, RUN, categories=BY_QUERY, average="macro", measures=["RR"])
    assert expected.categories == ("long one", "short")
    assert expected.category("short").query_ids.tolist() == ["q1", "q3"]
    assert expected.category("short").empty_ids.tolist() == ["7"]
    assert expected.category("short")["RR"].lower == 0.75
    assert expected["RR"].lower == (0.5 + 0.75) / 2
    assert tp.evaluate_run(QRELS, RUN, categories=BY_QUERY, measures=["RR"])["RR"].lower == 2 / 3
    for form in forms(tmp_path):
        got = tp.evaluate_run(QRELS, RUN, categories=form, average="macro", measures=["RR"])
        assert got.to_json() == expected.to_json()


def test_queries_that_are_left_out_are_in_no_category() -> None:
    result = tp.evaluate_run(
        {**QRELS, "q4": {"d1": 1}}, RUN, categories={**BY_QUERY, "q4": "gone"}, missing="skip", measures=["RR"]
    )
    assert result.categories == ("long one", "short")
    assert len(result.skipped["no document in the run"]) == 1


FILES = {
    "q1\n": "FILE has no category on line 1: 'q1'. A line has a query and its category.",
    "q1 a\n\nq2 b\nq1 c\n": "FILE has query 'q1' a second time on line 4, as 'c' instead of 'a'. Keep one of them.",
    "\n \n": "FILE has only empty lines. A line has a query and its category.",
}


@pytest.mark.parametrize("text", FILES)
def test_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "categories"
    path.write_text(text)
    with pytest.raises(tp.InputError) as error:
        read(path, "query", "category")
    assert str(error.value) == FILES[text].replace("FILE", str(path))


# Refused


def of_run(**options: Any) -> Callable[[], tp.Result]:
    return lambda: tp.evaluate_run(QRELS, RUN, **options)


def of_evaluate(**options: Any) -> Callable[[], tp.Result]:
    return lambda: evaluate(**options)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "too few": (of_evaluate(categories=["a"]), r"number of categories is 1, but .* queries is 30. Pass exactly one"),
    "nan": (of_evaluate(categories=[*range(29), np.nan]), r"The categories must be .* row 29 contains nan"),
    "none": (
        of_evaluate(categories=[*KINDS[:29].tolist(), None]),
        r"The categories .* row 29 is None\. Leave out rows without one",
    ),
    "fractions": (of_evaluate(categories=np.arange(30) / 2), r"row 1 contains 0.5"),
    "columns": (of_evaluate(categories=np.zeros((30, 2), int)), r"categories must have the shape \(items,\)"),
    "unknown mean": (of_evaluate(average="median"), r"Unknown average='median'. Known: micro, macro"),
    "unknown category": (
        lambda: evaluate(categories=KINDS).category("dgos"),
        r"no category 'dgos'; it has 'cats', 'dogs', 'owls'",
    ),
    "one of many": (lambda: evaluate(categories=range(30)).category(99), r"no category 99; .* 19 and 10 more\."),
    "no categories": (lambda: evaluate().category("cats"), r"has no categories. Pass categories="),
    "macro of triples": (
        lambda: tp.evaluate(GALLERY, relevance=[(0, 1)], average="macro"),
        r"average='macro' is the mean over categories of queries. Pass categories, one",
    ),
    "macro of columns": (
        lambda: tp.evaluate(GALLERY, np.ones((25, 2), int), average="macro"),
        r"labels in columns can put a query into several",
    ),
    "macro of scores": (lambda: tp.evaluate_scores([[1.0]], [[1]], average="macro"), r"Pass categories, one"),
    "macro of a run": (of_run(average="macro"), r"Pass categories, one"),
    "unknown mean of a run": (of_run(average="mean"), r"Unknown average='mean'"),
    "scores": (lambda: tp.evaluate_scores([[1.0]], [[1]], categories=[1, 2]), r"number of categories is 2"),
    "unknown mean of batches": (lambda: tp.Evaluator(average="x"), r"Unknown average='x'"),  # type: ignore[arg-type]
    "a run by position": (of_run(categories=["a", "b", "c"]), r"not list, because the queries of a run have names"),
    "a run's query without one": (
        of_run(categories={"q1": "a", "7": "b"}),
        r"The categories lack 2 of 4 queries of the qrels; the first is 'q2'",
    ),
    "a run's query with nan": (
        of_run(categories={**BY_QUERY, "q2": float("nan")}),
        r"The category of query 'q2' is nan. Give every query a category",
    ),
    "a query twice": (
        of_run(categories={**BY_QUERY, "7": "b"}),
        r"The categories name query '7' twice, as 'short' and as 'b'",
    ),
    "a frame": (
        of_run(categories=pd.DataFrame({"name": ["q1"], "category": ["a"]})),
        r"must have a column for the query, called query_id or .*\. The columns are name, category",
    ),
    "no file": (of_run(categories="nowhere.txt"), r"nowhere.txt does not exist"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, text = REFUSED[name]
    with pytest.raises(tp.InputError) as error:
        call()
    assert re.search(text, str(error.value)), str(error.value)
    assert "\n" not in str(error.value)
