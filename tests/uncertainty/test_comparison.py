"""The contents of a comparison of systems, compared with their definitions."""

import json
import math
import re
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.measures.statistics.tests import sign_flip
from tieproof.trials.judge import leaderboard

RANDOM = np.random.default_rng(0)
RELEVANCE = RANDOM.integers(0, 2, size=(30, 12))
RELEVANCE[:, 0] = 1

BY_SCIPY = ("t", "wilcoxon")


def system(seed: int, levels: int = 4, quality: float = 0.5, **options: Any) -> tp.Result:
    """Scores with few different values, so that there are ties."""
    random = np.random.default_rng(seed)
    scores = np.floor(levels * (quality * RELEVANCE + (1 - quality) * random.random(RELEVANCE.shape)))
    return tp.evaluate_scores(scores, RELEVANCE, measures=["AP", "P@1", "RR"], **options)


SYSTEMS = {"base": system(1, quality=0.1), "ours": system(2, quality=0.3), "theirs": system(3, quality=0.2)}


def test_what_was_compared() -> None:
    found = tp.compare(SYSTEMS)
    assert found.systems == ("base", "ours", "theirs")
    assert found.measures == ("AP", "P@1", "RR")
    assert found.pairs == (("base", "ours"), ("base", "theirs"), ("ours", "theirs"))
    assert (found.test, found.correction, found.confidence, found.baseline) == ("sign-flip", "holm", 0.95, None)
    assert found.queries == 30
    assert found.query_ids.tolist() == list(range(30))
    assert dict(found.results) == SYSTEMS
    against = tp.compare(SYSTEMS, baseline="base", measures=["map"])
    assert against.pairs == (("ours", "base"), ("theirs", "base"))
    assert against.measures == ("AP",)
    with pytest.raises(tp.InputError, match="were not compared, because all systems were compared with the baseline"):
        against["ours", "theirs", "AP"]


@pytest.mark.parametrize("measure", ["AP", "P@1", "RR"])
def test_interval_over_ties(measure: str) -> None:
    found = tp.compare(SYSTEMS)["ours", "base", measure]
    ours, base = SYSTEMS["ours"][measure], SYSTEMS["base"][measure]
    assert found.lower == ours.lower - base.upper
    assert found.expected == ours.expected - base.expected
    assert found.upper == ours.upper - base.lower
    assert math.isclose(found.std, math.hypot(ours.std, base.std), rel_tol=1e-12)
    differences = SYSTEMS["ours"].per_query(measure).expected - SYSTEMS["base"].per_query(measure).expected
    assert found.wins == (differences > 1e-12).sum()
    assert found.losses == (differences < -1e-12).sum()
    assert found.draws == 30 - found.wins - found.losses


def test_it_is_the_same_the_other_way_round() -> None:
    found = tp.compare(SYSTEMS)
    turned = tp.compare(dict(reversed(SYSTEMS.items())))
    for a, b in permutations(SYSTEMS, 2):
        for measure in found.measures:
            assert found[a, b, measure] == turned[a, b, measure]
            one, other = found[a, b, measure], found[b, a, measure]
            assert one.interval == tuple(-end for end in reversed(other.interval))
            assert (one.lower, one.expected, one.wins) == (-other.upper, -other.expected, other.losses)
            assert (one.p_value, one.p_lower, one.verdict) == (other.p_value, other.p_lower, other.verdict)


def test_the_same_words_whichever_comes_first() -> None:
    relevance = np.array([[1, 0], [1, 0]])
    tied = tp.evaluate_scores([[1, 0], [0, 0]], relevance, measures=["P@1"])
    last = tp.evaluate_scores([[1, 0], [0, 1]], relevance, measures=["P@1"])
    one = tp.compare({"a": tied, "b": last})["a", "b", "P@1"]
    assert (one.lower, one.upper) == (0.0, 0.5)
    assert tp.compare({"b": last, "a": tied})["a", "b", "P@1"] == one


def lost_and_won(queries: int = 60, lost: int = 60) -> tp.Comparison:
    """The first system, "base", loses so many queries, and wins none."""
    relevance = np.eye(queries, queries + 1)
    scores = np.where(np.arange(queries)[:, None] < lost, -relevance, relevance)
    results = {"base": scores, "ours": relevance}
    return tp.compare({name: tp.evaluate_scores(each, relevance, measures=["RR"]) for name, each in results.items()})


def test_counts_of_queries_name_their_system(tmp_path: Path) -> None:
    """In every form: the counts beside "ours is better" are those of ours, or have another name."""
    found = lost_and_won()
    assert found["base", "ours", "RR"].verdict.better == "ours"
    words = "ours is better whatever the ties; ours won 60, lost 0, drew 0"
    assert f"base - ours: {words}" in found.to_text(width=200)
    assert words in found.to_markdown()
    assert words in found._repr_html_()
    found.report(tmp_path / "page.html")
    page = " ".join(re.sub(r"<[^>]*>", " ", (tmp_path / "page.html").read_text("utf-8")).split())
    assert "ours is better whatever the ties" in page
    assert "base won 0, lost 60, drew 0" in page
    neither = lost_and_won(60, 3)
    assert "too few queries to tell; base won 0, lost 3, drew 57" in neither.to_text(width=200)
    (said,) = found.to_dict()["differences"]
    assert (said["a"], said["wins"], said["losses"], said["verdict"]["better"]) == ("base", 0, 60, "ours")


@pytest.mark.parametrize("lost", [1, 5, 6, 60])
def test_too_few_queries_are_those_that_allow_no_significant_p_value(lost: int) -> None:
    """Of n queries that differ, the smallest p-value is 2 / 2^n, which is below 0.05 from 6 queries on."""
    found = lost_and_won(60, lost)["base", "ours", "RR"]
    assert (found.p_value <= 0.05) == (lost >= 6)
    assert (found.verdict.name == "too few queries to tell") == (lost < 6)
    assert found.verdict.name != "no difference shown"


def test_a_tiny_difference_of_many_queries_shows_no_difference() -> None:
    """On 398 queries each system is first as often as the other; one query gives 1/12 and 1/13."""
    others, relevance = np.tile(-np.arange(1.0, 13.0), (399, 1)), np.eye(1, 13).repeat(399, axis=0)
    results = {}
    for name, ranks in {"a": [1, 2] * 199 + [13], "b": [2, 1] * 199 + [12]}.items():
        scores = np.column_stack([0.5 - np.array(ranks), others])
        results[name] = tp.evaluate_scores(scores, relevance, measures=["RR"])
    found = tp.compare(results)["a", "b", "RR"]
    assert found.expected == pytest.approx((1 / 13 - 1 / 12) / 399, rel=1e-9)
    assert found.verdict.name == "no difference shown"
    assert found.verdict.sentence.startswith("No difference shown: 'b' is ahead of 'a' by 2e-05 of RR in expectation")


def test_a_footnote_on_p_values_names_its_pair() -> None:
    relevance = np.eye(12, 13)
    good, bad = relevance, -relevance
    mixed = np.where(np.arange(12)[:, None] < 3, -relevance, relevance)
    results = {
        name: tp.evaluate_scores(each, relevance, measures=["RR"])
        for name, each in {"good": good, "bad": bad, "mixed": mixed}.items()
    }
    said = tp.compare(results).to_text(width=200)
    assert "\ngood - mixed in RR: With 3 queries that differ, no p-value below 0.2500 is possible.\n" in said
    assert said.count("is possible") == 1


def test_queries_that_decide() -> None:
    found = tp.compare(SYSTEMS)
    of_each = found.per_query("ours", "base", "AP")
    ours, base = SYSTEMS["ours"].per_query("AP"), SYSTEMS["base"].per_query("AP")
    assert of_each.lower.tolist() == (ours.lower - base.upper).tolist()
    assert of_each.upper.tolist() == (ours.upper - base.lower).tolist()
    assert np.allclose(of_each.std, np.hypot(ours.std, base.std), rtol=1e-12)
    deciding = found.deciding("ours", "base", "AP", 5)
    sizes = np.abs(ours.expected - base.expected)
    assert [each.query for each in deciding] == np.argsort(-sizes, kind="stable")[:5].tolist()
    first = deciding[0]
    assert first.a.lower == ours.lower[first.query]
    assert first.difference.expected == of_each.expected[first.query]
    assert len(found.deciding("ours", "base", "P@1", 1000)) == 30 - found["ours", "base", "P@1"].draws


def test_as_json_and_as_columns() -> None:
    found = tp.compare(SYSTEMS, baseline="base")
    data = json.loads(found.to_json())
    assert data == found.to_dict()
    assert (data["queries"], data["test"], data["baseline"]) == (30, "sign-flip", "base")
    assert data["systems"]["ours"]["AP"]["lower"] == SYSTEMS["ours"]["AP"].lower
    (of_ap,) = (each for each in data["differences"] if (each["a"], each["measure"]) == ("ours", "AP"))
    assert of_ap["expected"] == found["ours", "base", "AP"].expected
    assert of_ap["verdict"]["name"] == found["ours", "base", "AP"].verdict.name
    table = found.columns()
    assert list(table) == ["a", "b", "measure", "query", "lower", "expected", "upper", "std"]
    assert {len(column) for column in table.values()} == {2 * 3 * 30}
    rows = (table["a"] == "theirs") & (table["measure"] == "RR")
    assert table["expected"][rows].tolist() == found.per_query("theirs", "base", "RR").expected.tolist()


def test_as_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tp.compare(SYSTEMS, baseline="base", measures=["AP", "RR"])
    frame = found.to_frame()
    assert list(frame) == ["a", "b", "measure", "query", "lower", "expected", "upper", "std"]
    means = frame.groupby(["a", "b", "measure"])[["lower", "expected", "upper"]].mean()
    for a, b, measure in [("ours", "base", "AP"), ("theirs", "base", "RR")]:
        one = found[a, b, measure]
        assert np.allclose(means.loc[a, b, measure], [one.lower, one.expected, one.upper], atol=1e-12)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(tp.MissingExtraError, match=r"Comparison\.to_frame needs the extra 'pandas'"):
        found.to_frame()


def test_in_short() -> None:
    assert repr(tp.compare(SYSTEMS, baseline="base", measures=["AP"])) == (
        "<Comparison of base, ours, theirs on 30 queries: 2 better in expectation>"
    )


@pytest.mark.parametrize(
    "test", ["sign-flip", "tukey", *(pytest.param(test, marks=pytest.mark.heavy) for test in BY_SCIPY)]
)
def test_the_same_in_any_order(test: Any) -> None:
    order = RANDOM.permutation(30)

    def shuffled(seed: int, quality: float) -> tp.Result:
        random = np.random.default_rng(seed)
        scores = np.floor(4 * (quality * RELEVANCE + (1 - quality) * random.random(RELEVANCE.shape)))
        return tp.evaluate_scores(scores[order], RELEVANCE[order], measures=["AP", "P@1", "RR"]).named(order)

    again = {"base": shuffled(1, 0.1), "ours": shuffled(2, 0.3), "theirs": shuffled(3, 0.2)}
    expected = tp.compare(SYSTEMS, test=test)
    assert tp.compare(again, test=test).to_json() == expected.to_json()
    mixed = tp.compare({"base": SYSTEMS["base"], "ours": again["ours"], "theirs": again["theirs"]}, test=test)
    assert mixed.to_json() == expected.to_json()
    of_each = (found.per_query("ours", "base", "AP").lower.tolist() for found in (mixed, expected))
    assert next(of_each) == next(of_each)


@pytest.mark.heavy
@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr"])
def test_p_values_are_those_of_scipy_and_statsmodels(correction: Any) -> None:
    from scipy import stats
    from statsmodels.stats import multitest

    method = "fdr_bh" if correction == "fdr" else correction
    values = {name: result.per_query("AP").expected for name, result in SYSTEMS.items()}
    tests: dict[Any, Any] = {"t": stats.ttest_rel, "wilcoxon": stats.wilcoxon}
    for test, by_scipy in tests.items():
        found = tp.compare(SYSTEMS, test=test, correction=correction)
        expected = [by_scipy(values[a].round(12), values[b].round(12)).pvalue for a, b in found.pairs]
        raw = [found[a, b, "AP"].p_value for a, b in found.pairs]
        np.testing.assert_allclose(raw, expected, rtol=1e-6)
        corrected = [found[a, b, "AP"].corrected_p_value for a, b in found.pairs]
        np.testing.assert_allclose(corrected, multitest.multipletests(expected, method=method)[1], rtol=1e-6)


def test_p_lower_is_the_largest_over_all_orderings_of_ties() -> None:
    """Each query takes any value within its interval over orderings of ties, and no choice has a larger p-value."""
    found = tp.compare(SYSTEMS, measures=["AP"], correction=None)
    for a, b in found.pairs:
        a, b = (a, b) if found[a, b, "AP"].expected > 0 else (b, a)
        of_each = found.per_query(a, b, "AP")
        shares = RANDOM.random((30, 200)) ** RANDOM.integers(1, 8, size=200)
        drawn = of_each.lower[:, None] + shares * (of_each.upper - of_each.lower)[:, None]
        limit = found[a, b, "AP"].p_lower
        assert (sign_flip(drawn) <= limit).all()
        assert found[a, b, "AP"].p_value <= limit


def test_p_lower_has_all_ties_against_the_system_ahead() -> None:
    found = tp.compare(SYSTEMS, measures=["AP"])["base", "ours", "AP"]
    assert found.expected < 0
    of_each = tp.compare(SYSTEMS).per_query("ours", "base", "AP")
    assert found.p_lower == max(found.p_value, sign_flip(of_each.lower[:, None])[0])


def test_means_over_categories() -> None:
    names = np.array(["dog", "cat", "owl"])[np.arange(30) % 3]
    macro = {
        name: system(seed, quality=quality, categories=names, average="macro")
        for name, seed, quality in (("base", 1, 0.1), ("ours", 2, 0.3))
    }
    found = tp.compare(macro)["ours", "base", "AP"]
    assert found.expected == macro["ours"]["AP"].expected - macro["base"]["AP"].expected
    low, high = found.interval
    assert low < found.expected < high
    # With categories of equal size, each query has the same weight: the test of the sum is the same.
    micro = tp.compare({name: system(seed, quality=q) for name, seed, q in (("base", 1, 0.1), ("ours", 2, 0.3))})
    assert math.isclose(found.p_value, micro["ours", "base", "AP"].p_value, rel_tol=0.2)


def test_a_system_and_itself() -> None:
    """The ties of both are assumed to break independently, but the verdict is still "the same"."""
    found = tp.compare({"base": SYSTEMS["base"], "again": SYSTEMS["base"]})["base", "again", "AP"]
    assert found.verdict.name == "the same"
    assert (found.expected, found.p_value, found.effect_size, found.draws) == (0.0, 1.0, None, 30)
    assert found.interval == (0.0, 0.0)
    assert found.lower < 0 < found.upper


def test_queries_with_nothing_relevant() -> None:
    relevance = RELEVANCE * (np.arange(30) < 20)[:, None]
    random = np.random.default_rng(1)
    scores = random.integers(0, 4, size=(2, 30, 12))
    options: Any = {"measures": ["AP"], "empty": "nan"}
    nan = [tp.evaluate_scores(each, relevance, **options) for each in scores]
    skip = [tp.evaluate_scores(each, relevance, measures=["AP"]) for each in scores]
    found, expected = (tp.compare(dict(zip("ab", each, strict=True)))["a", "b", "AP"] for each in (nan, skip))
    assert found == expected
    assert np.isnan(tp.compare(dict(zip("ab", nan, strict=True))).per_query("a", "b", "AP").lower[20:]).all()


def test_records_are_compared_as_their_results(tmp_path: Path) -> None:
    """A record has one hash of what is relevant to all queries, so that other labels are refused, too."""
    random, labels = np.random.default_rng(3), np.arange(30) % 5
    results = {name: tp.evaluate(random.normal(size=(30, 4)), labels, measures=["AP"]) for name in "ab"}
    names = [f"image {place}" for place in random.permutation(30)]
    for result in list(results.values()):
        result.save(tmp_path / "run.tieproof")
        saved = tp.load(tmp_path / "run.tieproof")
        for one, other in ((saved, results["b"]), (results["b"], saved), (saved, saved)):
            expected = tp.compare({"a": result if one is saved else one, "b": result if other is saved else other})
            assert tp.compare({"a": one, "b": other}).to_json() == expected.to_json()
            tp.compare({"a": one.named(names), "b": other.named(names)} if one is other else {"a": one, "b": other})
        result.named(names).save(tmp_path / "named.tieproof")
        tp.compare({"a": tp.load(tmp_path / "named.tieproof"), "b": results["b"].named(names)})
    swapped = np.append(labels[1::-1], labels[2:])
    tp.evaluate(random.normal(size=(30, 4)), swapped, measures=["AP"]).save(tmp_path / "other.tieproof")
    for other in (results["a"], saved):
        with pytest.raises(tp.InputError, match="have different labels, or their queries were named in different"):
            tp.compare({"other": tp.load(tmp_path / "other.tieproof"), "a": other})


SETTINGS: dict[str, tuple[dict[str, Any], str, str]] = {
    "distance": ({"distance": "euclidean"}, "distance = cosine", "distance = euclidean"),
    "precision": ({"precision": "float16"}, "precision = None", "precision = float16"),
    "gallery": ({"gallery": np.eye(13, 9), "gallery_labels": [0, 1, 2] * 4 + [3]}, "gallery = 12", "gallery = 13"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_difference_of_settings_is_told(setting: str, tmp_path: Path) -> None:
    """Wherever scores are shown side by side; and nothing is told of equal settings."""
    options, mine, other = SETTINGS[setting]
    rows, labels = np.random.default_rng(1).normal(size=(12, 9)), [0, 1, 2] * 4
    sides: dict[str, Any] = {"gallery": rows + 0.5, "gallery_labels": labels} if setting == "gallery" else {}
    one = tp.evaluate(rows, labels, measures=["P@1"], **sides)
    systems = {"one": one, "another": tp.evaluate(rows, labels, measures=["P@1"], **{**sides, **options})}
    comparison, table = tp.compare(systems), tp.table(systems)
    sentence = f"which may be why their scores differ: one has {mine}; another has {other}."
    texts = [
        comparison.to_text(explain=True),
        comparison.to_markdown(),
        str(table),
        leaderboard(systems).to_text(explain=True),
    ]
    for text in texts[:3]:
        assert sentence in " ".join(text.split())
    assert mine in texts[3]
    assert other in texts[3]
    assert comparison.to_dict()["different_settings"] == {"one": mine, "another": other}
    comparison.report(tmp_path / "page.html")
    assert other in (tmp_path / "page.html").read_text()
    same = tp.compare({"one": one, "again": one})
    assert same.to_dict()["different_settings"] == {}
    assert "different settings" not in str(same)
