"""The wording of reports: singular and plural, and names that are written from right to left."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from page_cases import codes
from tieproof.errors import InputError
from tieproof.show.pages import query_table
from tieproof.show.pages.page import Axis, isolated

pytest.importorskip("jinja2")

HEBREW = "\u05d0\u05d1"


def test_bits_are_bits(tmp_path: Path) -> None:
    vectors, labels = codes(20)
    tp.collisions(vectors, labels, distance="hamming").report(tmp_path / "page.html")
    assert "<dt>Bits</dt><dd>6</dd>" in (tmp_path / "page.html").read_text()
    tp.collisions(np.float32(vectors), labels).report(tmp_path / "page.html")
    assert "<dt>Dimensions</dt><dd>6</dd>" in (tmp_path / "page.html").read_text()


def test_pages_of_rates_speak_of_tied_pairs(tmp_path: Path) -> None:
    tp.fnmr_at_fmr_of_distances([1, 2, 2], [2, 3], fmr=0.5, method="exact").report(tmp_path / "page.html")
    assert "over all orderings of tied pairs</li>" in (tmp_path / "page.html").read_text()


def test_one_tie_that_costs(tmp_path: Path) -> None:
    tp.evaluate_scores([[0.9, 0.5, 0.5]], [[0, 1, 0]]).report(tmp_path / "page.html")
    assert "This query accounts for 100.0 % of the sum of all differences" in (tmp_path / "page.html").read_text()


def test_each_table_says_in_which_order_it_is(tmp_path: Path) -> None:
    vectors, labels = codes(20)
    results = {
        "a": tp.evaluate(vectors, labels, measures=["AP"]),
        "b": tp.evaluate(~vectors, labels, measures=["AP"]),
    }
    results["a"].report(tmp_path / "a.html")
    tp.compare(results).report(tmp_path / "b.html")
    tp.collisions(vectors, labels).report(tmp_path / "c.html")
    tp.collisions(vectors).report(tmp_path / "d.html")
    for name, order in (
        ("a", "those with the lowest lower bound first"),
        ("b", "those with the largest difference first"),
        ("c", "those whose ties cost most first"),
        ("d", "those with the most ties first"),
    ):
        assert f"of 20 queries, {order}." in (tmp_path / f"{name}.html").read_text()


def test_attacks_are_counted_once_whatever_the_measures(tmp_path: Path) -> None:
    def upper_bounds(embeddings: Any, labels: Any) -> dict[str, float]:
        result = tp.evaluate(embeddings, labels, measures=["AP", "RR"])
        return {name: result[name].upper for name in result}

    report = tp.audit(upper_bounds, attacks=["zeros", "nan"], items=60)
    assert len(report.findings) == 4
    report.report(tmp_path / "page.html")
    for text in (str(report), (tmp_path / "page.html").read_text()):
        assert "EXPLOITABLE: 1 of 2 attacks shows" in text


def test_why_there_is_no_interval_over_queries(tmp_path: Path) -> None:
    vectors, labels = codes(20)
    kinds = ["a", *["b"] * 19]
    tp.evaluate(vectors, labels, categories=kinds, average="macro").report(tmp_path / "page.html")
    said = "The category &#39;a&#39; has a single query, which does not show how much queries differ."
    assert said in (tmp_path / "page.html").read_text()


def test_items_are_counted_as_they_are_listed(tmp_path: Path) -> None:
    """Iterating over a data frame gives the names of its columns."""

    class Frame(list[str]):
        def __len__(self) -> int:
            return 20

    vectors, labels = codes(20)
    result = tp.evaluate(vectors, labels)
    with pytest.raises(InputError, match="items has 2 entries, but 20 were evaluated"):
        result.report(tmp_path / "page.html", items=Frame(["a", "b"]))


def test_of_many_tables_without_room_the_first_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_table, "CHARACTERS", 100)
    vectors, labels = codes(20)
    results = {name: tp.evaluate(vectors, labels, measures=["AP", "P@1"]) for name in "abcd"}
    tp.compare(results).report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "There is no room for AP: a - c, AP: a - d," in text
    assert "AP: c - d, P@1: a - b and 5 more of every query in a page" in text


def test_verdicts_are_said_once(tmp_path: Path) -> None:
    scores, relevance = np.array([[1.0, 1.0], [2.0, 1.0]] * 2), np.array([[1, 0]] * 4)
    results = {
        name: tp.evaluate_scores(own, relevance, measures=["RR"]) for name, own in (("a", scores), ("b", 0 * scores))
    }
    comparison = tp.compare(results)
    assert comparison["a", "b", "RR"].verdict.name == "queries or ties could explain it"
    comparison.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "<li><b>Queries or ties could explain it</b>: &#39;a&#39; is ahead of" in text
    assert "could explain it</b>: Queries" not in text


def test_differences_stay_between_minus_one_and_one() -> None:
    axis = Axis.around([-1.0, 0.0])
    assert (axis.low, axis.high) == (-1.0, 0.5)
    assert Axis.around([-1.5, 0.0]).low < -1.5


def test_first_rows_have_no_minus_zero(tmp_path: Path) -> None:
    scores, relevance = [[2.0, 1.0], [1.0, 2.0]], [[1, 0], [1, 0]]
    one = tp.evaluate_scores(scores, relevance, measures=["RR"])
    tp.compare({"a": one, "b": one}).report(tmp_path / "page.html")
    assert "-0.0000" not in (tmp_path / "page.html").read_text()


def test_names_from_right_to_left_do_not_turn_a_difference_round(tmp_path: Path) -> None:
    assert isolated("plain <b>") == "plain <b>"
    assert isolated(f"{HEBREW} 7") == f"\u2068{HEBREW} 7\u2069"
    one = tp.evaluate_scores([[2.0, 1.0]] * 2, [[1, 0]] * 2, measures=["RR"])
    tp.compare({f"{HEBREW}1": one, f"{HEBREW}2": one}).report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.count(f"\u2068{HEBREW}1\u2069 - \u2068{HEBREW}2\u2069") >= 4
    assert f"{HEBREW}1 - " not in text
