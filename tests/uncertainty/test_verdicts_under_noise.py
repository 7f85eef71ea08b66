"""Verdicts of `tp.compare` if all systems were evaluated with noise."""

from dataclasses import asdict

import numpy as np
import pytest

import tieproof as tp

RANDOM = np.random.default_rng(1)
LABELS = np.arange(120) % 12
CENTERS = RANDOM.normal(size=(12, 16))[LABELS]
GOOD, WORSE = (CENTERS + spread * RANDOM.normal(size=(120, 16)) for spread in (0.7, 1.0))


def compared(noise: object, other: object = None, **options: str) -> tp.Difference:
    """The better system against the other one."""
    good = tp.evaluate(GOOD, LABELS, measures=["AP"], noise=noise)
    worse = tp.evaluate(WORSE, LABELS, measures=["AP"], noise=noise if other is None else other)
    return tp.compare({"good": good, "worse": worse}, **options)["good", "worse", "AP"]  # type: ignore[arg-type]


@pytest.mark.parametrize("test", ["sign-flip", "tukey"])
def test_a_difference_is_larger_than_the_noise_or_not(test: str) -> None:
    assert compared("float16", test=test).verdict.name == "better whatever the ties and the noise"
    assert compared(0.2, test=test).verdict.name == "better whatever the ties"


def test_the_bounds_are_those_of_the_two_systems() -> None:
    good, worse = (tp.evaluate(rows, LABELS, measures=["AP"], noise="float16") for rows in (GOOD, WORSE))
    comparison = tp.compare({"good": good, "worse": worse})
    found, turned = comparison["good", "worse", "AP"], comparison["worse", "good", "AP"]
    lower, upper = good["AP"].noise.lower - worse["AP"].noise.upper, good["AP"].noise.upper - worse["AP"].noise.lower
    assert asdict(found)["noise"] == {"lower": lower, "upper": upper}
    assert asdict(turned)["noise"] == {"lower": -upper, "upper": -lower}
    assert found.verdict == turned.verdict
    told = comparison.to_dict()
    assert told["differences"][0]["noise"] == {"lower": lower, "upper": upper}
    without = compared(None)
    assert "noise" not in asdict(without)
    same = {name: value for name, value in asdict(found).items() if name in asdict(without) and name != "verdict"}
    assert same == {name: value for name, value in asdict(without).items() if name != "verdict"}


def test_noise_of_one_system_alone_says_nothing() -> None:
    good = tp.evaluate(GOOD, LABELS, measures=["AP"], noise="float16")
    worse = tp.evaluate(WORSE, LABELS, measures=["AP"])
    assert (
        tp.compare({"good": good, "worse": worse})["good", "worse", "AP"].verdict.name == "better whatever the ties"
    )


@pytest.mark.parametrize("noise", [1e308, np.float32(1e38), np.float16(60_000)])
def test_any_order_is_possible_under_huge_noise(noise: float) -> None:
    """At worst, the only relevant one of two items is last. A scalar of NumPy counts as the number that it is."""
    found = tp.evaluate([[0.0], [1.0], [2.0]], [0, 0, 1], distance="euclidean", measures=["RR"], noise=noise)
    assert found["RR"].noise == tp.Bounds(0.5, 1.0)
    run = tp.evaluate_run({"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}, measures=["RR"], noise=noise)
    assert run["RR"].noise == tp.Bounds(0.5, 1.0)
