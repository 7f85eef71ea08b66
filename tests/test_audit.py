"""Attacks on evaluators: each broken one is caught by the attack meant for it, and no right one is accused."""

import pytest

import tieproof as tp
import zoo
from tieproof.audit import ATTACKS, Verdict

SEEDS = [0, 1, 2]

CAUGHT: dict[str, tuple[str, str]] = {
    "upper": ("zeros", "exploitable"),
    "stable_sort": ("zeros", "exploitable"),
    "cut_before_the_tie_rule": ("zeros", "exploitable"),
    "near_in_the_file": ("zeros", "exploitable"),
    "drops_the_nearest": ("duplicates", "exploitable"),
    "nan_is_nearest": ("nan", "exploitable"),
    "nan_passes_through": ("nan", "not a number"),
    "divides_by_distinct_distances": ("zeros", "exploitable"),
    "expects_sorted_classes": ("permuting items", "depends on order"),
    "by_size_of_numbers": ("scaling", "changes"),
    "likes_class_zero": ("relabelling", "changes"),
    "breaks_ties_by_chance": ("calling again", "changes"),
}
"""Evaluators of the zoo, the attack meant for each, and its verdict."""

BLIND = [attack.name for attack in ATTACKS.values() if attack.kind == "blind"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CAUGHT)
def test_every_defect_is_caught_by_its_attack(name: str, seed: int) -> None:
    attack, verdict = CAUGHT[name]
    report = tp.audit(getattr(zoo, name), attacks=[attack], seed=seed)
    assert report.finding(attack).verdict == verdict
    assert not report.held
    assert report.exploitable == (verdict == "exploitable")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["lower", "expected", "lower_of_gallery"])
def test_honest_evaluators_are_acquitted(name: str, seed: int) -> None:
    report = tp.audit(getattr(zoo, name), seed=seed, distance="euclidean", measure="AP")
    assert [finding for finding in report.findings if not finding.verdict.harmless] == []
    assert report.held
    assert not report.exploitable
    assert {finding.attack for finding in report.findings} >= {*BLIND, "order search", "interval", "permuting items"}


@pytest.mark.parametrize("seed", range(6))
def test_chance_is_no_exploit(seed: int) -> None:
    """Ties broken by chance give blind systems the scores of random embeddings, now more, now less."""
    report = tp.audit(zoo.breaks_ties_by_chance, attacks=[*BLIND, "order search"], seed=seed)
    assert not report.exploitable
    assert {finding.verdict for finding in report.findings} <= {Verdict.HELD, Verdict.REFUSED, Verdict.CHANGES}


def test_the_defect_is_named_and_nothing_else_is_blamed() -> None:
    report = tp.audit(zoo.by_size_of_numbers)
    assert {f.attack for f in report.findings if not f.verdict.harmless} <= {"scaling", "denormals", "underflow"}
    report = tp.audit(zoo.nan_is_nearest, attacks=BLIND)
    assert {f.attack for f in report.findings if f.verdict is Verdict.EXPLOITABLE} == {"nan", "some nan"}
