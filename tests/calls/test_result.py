"""The contents of a result, and its texts."""

import copy
import json
import math
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tieproof as tp

# For query 0, item 1 (relevant) is tied with item 2; items 3 and 4 are tied and far. Item 4 is alone in its class.
POINTS = np.array([[0.0], [1.0], [-1.0], [5.0], [5.0]])
LABELS = ["a", "a", "b", "b", "c"]


def result(**options: Any) -> tp.Result:
    return tp.evaluate(POINTS, LABELS, distance="euclidean", measures=["AP", "P@1"], **options)


def test_estimates() -> None:
    # Queries 0: item 1 at rank 1 or 2. 1: item 0 first. 2: item 3 at rank 3 or 4. 3: item 2 at rank 4.
    found = result()
    assert found.query_ids.tolist() == [0, 1, 2, 3]
    values = found.per_query("AP")
    assert values.lower.tolist() == [1 / 2, 1, 1 / 4, 1 / 4]
    assert values.expected.tolist() == [3 / 4, 1, 7 / 24, 1 / 4]
    assert values.upper.tolist() == [1, 1, 1 / 3, 1 / 4]
    np.testing.assert_allclose(values.std, [1 / 4, 0, 1 / 24, 0], rtol=1e-12)
    mean = found["AP"]
    assert mean.lower == 0.5
    np.testing.assert_allclose(mean.expected, (3 / 4 + 1 + 7 / 24 + 1 / 4) / 4, rtol=1e-12)
    np.testing.assert_allclose(mean.std, np.sqrt(1 / 16 + 1 / 24**2) / 4, rtol=1e-12)


def test_ties() -> None:
    assert result().ties == tp.TieSummary(
        queries=4, ties=2, ambiguous_ties=2, queries_with_ambiguous_ties=2, largest_tie=2, zero_vectors=1
    )


def test_skipped() -> None:
    assert {reason: ids.tolist() for reason, ids in result().skipped.items()} == {"no relevant item": [4]}


def test_json() -> None:
    found = result()
    data = json.loads(found.to_json())
    assert data == found.to_dict()
    assert data["measures"]["P@1"] == {"lower": 0.25, "expected": 0.375, "upper": 0.5, "std": 0.125}
    assert data["ties"]["ambiguous_ties"] == 2
    assert data["skipped"] == {"no relevant item": 1}


def test_names_are_measures_too() -> None:
    found = result()
    assert found["map"] == found["AP"] == found[tp.measures.AP]
    assert found.measures == ("AP", "P@1")
    with pytest.raises(tp.InputError, match=r"no measure 'RR'; it has AP, P@1"):
        found["RR"]


def test_a_result_is_a_mapping_of_estimates() -> None:
    found: Any = result()
    assert isinstance(found, Mapping)
    assert (len(found), list(found), list(found.keys())) == (2, ["AP", "P@1"], ["AP", "P@1"])
    assert list(found.values()) == [found["AP"], found["P@1"]]
    assert dict(found) == dict(found.items()) == {**found} == {"AP": found["AP"], "P@1": found["P@1"]}
    for name in ("AP", "map", " ap ", tp.measures.AP, "P_1", tp.P @ 1):
        assert name in found
        assert found.get(name) == found[name]
        assert name in found.keys()  # noqa: SIM118
    for absent in ("RR", "mAPP", "map@10", "", 3, None, tp.P, ("AP",)):
        assert absent not in found
        assert found.get(absent, "none") == "none"
        assert (absent, found["AP"]) not in found.items()
        with pytest.raises(KeyError):
            found[absent]
    assert ("map", found["AP"]) in found.items()
    assert ("AP", found["P@1"]) not in found.items()


def test_equality_and_copies_are_those_of_an_object() -> None:
    found = result()
    assert found == found
    assert found != result()
    assert {found: "it"}[found] == "it"
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert other.to_json() == found.to_json()
        assert other["AP"] == found["AP"]
    with pytest.raises(tp.InputError) as caught:
        found["RR"]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("as_number", [float, np.float64, math.sqrt, "%.3f".__mod__])
def test_an_estimate_does_not_convert_to_a_number(as_number: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"Take \.expected, .* or \.lower for a claim"):
        as_number(result()["AP"])


def test_an_estimate_as_text() -> None:
    estimate = tp.Estimate(0.25, 0.5, 2 / 3, 0.125)
    assert f"{estimate:.3f}" == "0.250 ≤ 0.500 ≤ 0.667"
    assert f"{estimate:7.1%}" == "  25.0% ≤   50.0% ≤   66.7%"
    assert f"{estimate}" == str(estimate) == f"0.25 ≤ 0.5 ≤ {2 / 3}"
    assert repr(estimate) == f"Estimate(lower=0.25, expected=0.5, upper={2 / 3}, std=0.125)"
    assert f"{tp.Estimate(*[math.nan] * 4):.2f}" == "nan ≤ nan ≤ nan"
    assert str(result().per_query("P@1")) == "[0. 1. 0. 0.] ≤ [0.5 1.  0.  0. ] ≤ [1. 1. 0. 0.]"
    with pytest.raises(ValueError, match="format"):
        f"{estimate:nothing}"


def test_frame() -> None:
    pytest.importorskip("pandas")
    frame = result().to_frame()
    assert list(frame.columns) == ["query", "measure", "lower", "expected", "upper", "std"]
    assert len(frame) == 8
    of_ap = frame[frame.measure == "AP"]
    assert of_ap["query"].tolist() == [0, 1, 2, 3]
    assert of_ap.upper.tolist() == result().per_query("AP").upper.tolist()


def test_table() -> None:
    text = str(result())
    for part in ("measure", "lower", "expected", "upper", "tie std", "AP", "0.5000", "P@1", "4 more"):
        assert part in text
    assert "\x1b" not in text


def test_estimates_are_ordered_everywhere() -> None:
    random = np.random.default_rng(0)
    for seed in range(20):
        data = random.integers(0, 2 + seed % 3, size=(40, 3))
        found = tp.evaluate(data, random.integers(0, 5, size=40), distance="cityblock", empty="zero")
        for measure in found.measures:
            for estimate in (found[measure], found.per_query(measure)):
                assert np.all(estimate.lower <= estimate.expected)
                assert np.all(estimate.expected <= estimate.upper)


def test_ragged_lists() -> None:
    scores = [[0.5, 0.5], [0.3, 0.2, 0.1], [1.0]]
    found = tp.evaluate_scores(scores, [[1, 0], [0, 0, 1], [1]], measures=["RR"]).per_query("RR")
    np.testing.assert_allclose(found.lower, [1 / 2, 1 / 3, 1], rtol=1e-15)
    np.testing.assert_allclose(found.upper, [1, 1 / 3, 1], rtol=1e-15)


def test_scores_and_distances_mirror_each_other() -> None:
    random = np.random.default_rng(1)
    scores, relevance = random.integers(0, 6, size=(9, 30)), random.choice([-1, 0, 0, 1, 2], size=(9, 30))
    of_scores = tp.evaluate_scores(scores, relevance).to_dict()["measures"]
    assert tp.evaluate_distances(-scores, relevance).to_dict()["measures"] == of_scores
    assert tp.evaluate_scores(list(scores), list(relevance)).to_dict()["measures"] == of_scores


def test_integers_beyond_float64_keep_their_order() -> None:
    scores = [[2**60 + 1, 2**60]]
    assert tp.evaluate_scores(scores, [[0, 1]], measures=["RR"])["RR"].upper == 0.5
    assert tp.evaluate_distances(scores, [[0, 1]], measures=["RR"])["RR"].lower == 1
