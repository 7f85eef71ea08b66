"""The study of distributions: its numbers follow from all orders of ties."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from shared_data import load_shared
from studies.distributions import study

pytestmark = pytest.mark.heavy  # a study is not a promise of the library


def test_most_likely_score() -> None:
    """Of the six orders of [1, 0, 0] and [1, 0], which have means of AP, 5/12 is printed as 0.4167."""
    result = tp.evaluate_scores([[1, 1, 1], [1, 1]], [[1, 0, 0], [1, 0]], measures=["AP"])
    means = [(a + b) / 2 for a in (1, Fraction(1, 2), Fraction(1, 3)) for b in (1, Fraction(1, 2))]
    printed = [f"{float(mean):.4f}" for mean in means]
    score, chance = study.most_likely(result.distribution("AP"))
    assert printed.count(score) == max(map(printed.count, printed))
    assert chance == pytest.approx(printed.count(score) / 6)


def test_the_program_is_the_mean_of_the_distribution() -> None:
    for row in study.slides(quick=True):
        assert row.low - 1e-9 <= row.program <= row.high + 1e-9
        assert row.high - row.low <= 1e-5


def test_neighbors_are_ranked_by_expected_score() -> None:
    random = np.random.default_rng(0)
    embeddings = random.standard_normal((60, 70)).astype(np.float32)
    found = study.ranked(embeddings, np.arange(60) % 6)
    assert len(found) == len(study.SYSTEMS) - 1
    for each in found:
        assert each.ahead.expected >= each.behind.expected
        assert each.can_swap == (each.behind.upper > each.ahead.lower)
        chances = [each.over_ties.better, each.over_ties.equal, each.over_ties.worse]
        assert sum(chance.low for chance in chances) <= 1 <= sum(chance.high for chance in chances)


def test_report_has_the_interval_of_the_codes() -> None:
    arrays = load_shared("package-sections.npz")
    embeddings, labels = arrays["embeddings"], arrays["labels"]
    result = tp.evaluate(embeddings[:, :64] > 0, labels, distance="hamming", measures=["AP"])
    report = (Path(study.__file__).parent / "report.md").read_text(encoding="utf-8")
    assert f"{result['AP'].lower:.4f} to {result['AP'].upper:.4f}" in report.split("| 64 signs |")[1]
