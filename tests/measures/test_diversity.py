"""alpha-nDCG and ERR-IA: by enumeration of the orders of ties, by ndeval's values, and by its library pyndeval."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, groupby, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status as run_command
from tieproof.measures import diversity

MEASURES = ("alpha_nDCG", "alpha_DCG", "ERR_IA", "nERR_IA")
Qrels = dict[str, dict[str, int]]

QRELS: Qrels = {
    "fruit": {"d1": 1, "d2": 1, "d3": 0},
    "company": {"d1": 1, "d3": 2},
    "record": {"d4": 1, "d5": 1},
    "none": {"d1": 0},
}
RANKING = ["d2", "d9", "d1", "d4", "d3"]
OF_NDEVAL = {
    "alpha-nDCG@5": 0.7216788694863389,
    "ERR-IA@5": 0.4478063540090772,
    "nERR-IA@5": 0.6397694524495677,
    "alpha-DCG@5": 0.5211585454326839,
    "alpha-nDCG@2": 0.3800937667159343,
    "ERR-IA@20": 0.44483099886284916,
}
"""What pyndeval 0.0.8 returns for this ranking."""


def subtopics_of(qrels: Qrels, document: str) -> set[str]:
    return {subtopic for subtopic, grades in qrels.items() if grades.get(document, 0) > 0}


def gains_of(qrels: Qrels, ranking: list[str], alpha: Fraction) -> list[Fraction]:
    """The gain at each rank: the definition of Clarke et al. 2008."""
    gains = []
    for rank, document in enumerate(ranking):
        before = [subtopics_of(qrels, other) for other in ranking[:rank]]
        counts = [sum(subtopic in each for each in before) for subtopic in subtopics_of(qrels, document)]
        gains.append(sum(((1 - alpha) ** count for count in counts), Fraction(0)))
    return gains


def greedy(qrels: Qrels, alpha: Fraction) -> list[str]:
    """The ideal ranking of ndeval: the next document gains most, and of several it has the largest id."""
    left, ranking = set(chain.from_iterable(qrels.values())), list[str]()
    while left:
        ranking.append(max(left, key=lambda each: (gains_of(qrels, [*ranking, each], alpha)[-1], each)))
        left.remove(ranking[-1])
    return ranking


def discounted(measure: str, gains: list[Fraction], cutoff: int) -> Fraction:
    divisors = [Fraction(rank if "ERR" in measure else math.log2(rank + 1)) for rank in range(1, cutoff + 1)]
    return sum((gain / of_rank for gain, of_rank in zip(gains, divisors, strict=False)), Fraction(0))


def divisor(measure: str, qrels: Qrels, cutoff: int, alpha: Fraction) -> Fraction:
    ideal = gains_of(qrels, greedy(qrels, alpha), alpha)
    if measure in ("alpha_DCG", "ERR_IA"):
        actual = sum(any(grade > 0 for grade in grades.values()) for grades in qrels.values())
        ideal = [actual * (1 - alpha) ** before for before in range(cutoff)]
    return discounted(measure, ideal, cutoff)


def orders(scores: dict[str, float]) -> Iterator[list[str]]:
    """All rankings that have these scores."""
    falling = sorted(scores, key=lambda document: -scores[document])
    ties = [list(tie) for _, tie in groupby(falling, key=scores.__getitem__)]
    for order in product(*map(permutations, ties)):
        yield [document for tie in order for document in tie]


def drawn(random: np.random.Generator, documents: int, subtopics: int) -> Qrels:
    grades = random.integers(0, 3, (subtopics, documents)) * random.integers(0, 2, (subtopics, documents))
    grades[0, 0] = 1
    return {f"s{i}": {f"d{j}": int(grade) for j, grade in enumerate(row)} for i, row in enumerate(grades)}


def approximately(value: Any) -> Any:
    return pytest.approx(float(value), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", [1000, 1])
def test_all_orders_of_ties(seed: int, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of one combination, the bounds are outer bounds."""
    monkeypatch.setattr(diversity, "MOST_COMBINATIONS", limit)
    random = np.random.default_rng(seed)
    qrels, alpha = drawn(random, 6, 3), [Fraction(1, 2), Fraction(0), Fraction(1, 10), Fraction(9, 10)][seed % 4]
    scores = {f"d{j}": float(score) for j, score in enumerate(random.integers(0, 1 + seed % 3, 5))}
    gains = [gains_of(qrels, order, alpha) for order in orders(scores)]
    for measure, cutoff in product(MEASURES, (1, 3, 20)):
        name = f"{measure}@{cutoff}"
        found = tp.evaluate_diversity({"q": qrels}, {"q": scores}, measures=[name], alpha=float(alpha)).mean[name]
        ideal = divisor(measure, qrels, cutoff, alpha)
        values = [discounted(measure, each, cutoff) / ideal for each in gains]
        assert found.expected == approximately(sum(values) / len(values))
        assert found.lower <= found.expected <= found.upper
        if found.exact:
            assert (found.lower, found.upper) == (approximately(min(values)), approximately(max(values)))
        else:
            assert limit == 1
            assert found.lower <= min(values) * (1 + Fraction(1, 10**12))
            assert found.upper >= max(values) * (1 - Fraction(1, 10**12))
            assert found.upper <= 1.25 * max(values)


def test_published_values() -> None:
    run = {"q": {document: -float(rank) for rank, document in enumerate(RANKING)}}
    found = tp.evaluate_diversity({"q": QRELS}, run, measures=[*OF_NDEVAL]).mean
    for name, value in OF_NDEVAL.items():
        assert found[name].lower == found[name].expected == found[name].upper == pytest.approx(value, rel=1e-12)
        assert found[name].exact


@pytest.mark.heavy
@pytest.mark.parametrize("alpha", [0.5, 0.1])
def test_ndeval(alpha: float) -> None:
    ndeval = pytest.importorskip("pyndeval").ndeval
    random, names = np.random.default_rng(5), [name for name in OF_NDEVAL if not name.endswith("@1")]
    for _ in range(20):
        qrels = drawn(random, 12, 4)
        ranking = random.permutation([f"d{j}" for j in range(14)]).tolist()
        run = {document: float(20 - rank) for rank, document in enumerate(ranking)}
        theirs = ndeval(
            [("q", subtopic, document, grade) for subtopic, of in qrels.items() for document, grade in of.items()],
            [("q", document, score) for document, score in run.items()],
            names,
            alpha=alpha,
        )["q"]
        ours = tp.evaluate_diversity({"q": qrels}, {"q": run}, measures=names, alpha=alpha).mean
        assert {name: ours[name].expected for name in names} == pytest.approx(theirs, rel=1e-12)


def test_order_of_data_changes_no_bit() -> None:
    random = np.random.default_rng(3)
    qrels = drawn(random, 40, 5)
    run = {f"d{j}": float(score) for j, score in enumerate(random.integers(0, 4, 40))}
    shuffled = {
        subtopic: dict(random.permutation(np.array([*qrels[subtopic].items()], dtype=object)))
        for subtopic in reversed(qrels)
    }
    found = tp.evaluate_diversity({"q": qrels}, {"q": run})
    again = tp.evaluate_diversity({"q": shuffled}, {"q": dict(reversed(run.items()))})
    assert again.to_dict() == found.to_dict()


def test_long_ties_have_certain_bounds() -> None:
    random = np.random.default_rng(4)
    qrels = drawn(random, 300, 6)
    found = tp.evaluate_diversity({"q": qrels}, {"q": dict.fromkeys(qrels["s0"], 1.0)})
    for name, score in found.mean.items():
        assert not score.exact
        assert 0 <= score.lower < score.expected < score.upper, name
    assert "too many orders" in str(found)


def test_which_queries_count() -> None:
    qrels = {"a": {"s": {"d": 1}}, "b": {"s": {"d": 1}}, "c": {"s": {"d": 0}}}
    found = tp.evaluate_diversity(qrels, {"a": {"d": 1.0}, "c": {"d": 1.0}, "other": {"d": 1.0}}, measures="ERR_IA@1")
    assert found.mean["ERR_IA@1"] == tp.DiversityScore(0.5, 0.5, 0.5, True)
    assert (found.not_in_run, found.skipped) == (["b"], ["c"])


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("# a comment\nq1 fruit d1 1\nq1\tfruit  d2 1\r\nq1 company d3 1\nq2 a x 0")
    (tmp_path / "run").write_text("q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.5 t\nq1 Q0 d3 3 0.5 t\n")
    found = tp.evaluate_diversity(tmp_path / "qrels", tmp_path / "run", measures=["ERR_IA@2"])
    assert found.mean["ERR_IA@2"] == tp.DiversityScore(0.5, 0.55, 0.6, True)
    paths = str(tmp_path / "qrels"), str(tmp_path / "run")
    assert run_command("diversity", *paths, "-m", "ERR_IA@2", "--json", "-") == 0
    assert capsys.readouterr().out == f"{found.to_json()}\n"
