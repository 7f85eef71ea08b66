"""A system that leaves out answers on purpose: no mean rises, whichever answers it leaves out."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from oracle import DEFINITIONS, Context
from tieproof.trials.judge import leaderboard

MEASURES = [
    *("AP", "AP@R", "AP@2", "AP(norm=min)@2", "AP(norm=hits)", "AP(trapezoid)", "P@1", "P@2", "P@9", "RelP@2", "R@2"),
    *("F1@2", "Rprec", "Success@1", "Success@2", "RR", "RR@2", "INP", "RBP", "RBP@2", "AUC", "bpref"),
    *("nDCG", "nDCG@2", "nDCG(gain=exp)", "nDCG(ideal=list)", "ERR", "ERR@2"),
]

LABELS = ([0, 0, 1, 1, 1], [0, 0, 0, 1, 2])


def vectors(seed: int, count: int) -> Any:
    """Points of a small grid, so that many distances are tied."""
    return np.random.default_rng(seed).integers(0, 3, (count, 2)).astype(float)


def means(embeddings: Any, labels: Any, absent: Any, measures: list[str], **options: Any) -> Any:
    """Lower, expected and upper of every measure, if the answers in `absent` are left out; queries come first."""
    answers = embeddings.copy()
    answers[list(absent)] = np.nan
    n = len(labels)
    if "gallery_labels" in options:
        options["gallery"] = answers[n:]
    result = tp.evaluate_answers(answers[:n], labels, distance="euclidean", measures=measures, **options)
    return np.array([[getattr(result[name], bound) for name in measures] for bound in ("lower", "expected", "upper")])


def gains(embeddings: Any, labels: Any, measures: list[str], **options: Any) -> Any:
    """The largest gain of each measure over all ways to leave out one more answer, by bound."""
    found = {
        absent: means(embeddings, labels, absent, measures, **options)
        for size in range(len(embeddings) + 1)
        for absent in itertools.combinations(range(len(embeddings)), size)
    }
    steps = [
        found[tuple(sorted({*absent, one}))] - found[absent]
        for absent in found
        for one in range(len(embeddings))
        if one not in absent
    ]
    return np.max(steps, axis=0)


@pytest.mark.trials
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("labels", LABELS)
def test_leaving_out_any_set_of_items(seed: int, labels: list[int]) -> None:
    """Leave-one-out, in which an item without an answer is a query without an answer, too."""
    assert gains(vectors(seed, 5), labels, MEASURES).max() <= 1e-12


@pytest.mark.trials
@pytest.mark.parametrize("seed", range(3))
def test_leaving_out_any_set_of_queries_and_gallery_items(seed: int) -> None:
    assert gains(vectors(seed, 6), [0, 1], MEASURES, gallery_labels=[0, 0, 1, 2]).max() <= 1e-12


@pytest.mark.parametrize("seed", range(2))
def test_leaving_out_any_set_of_items_with_groups(seed: int) -> None:
    groups = [0, 1, 0, 1, 1]
    assert gains(vectors(seed, 5), LABELS[0], MEASURES, groups=groups).max() <= 1e-12


def test_making_room_for_relevant_items_by_the_milder_rule() -> None:
    """The rule of version 1.0, of which the documentation says that a missing answer can pay, and the exception."""
    embeddings, labels = np.array([[0.0], [1.0], [2.0], [9.0]]), [0, 1, 0, 2]
    before, after = (means(embeddings, labels, absent, ["AP"], unanswered="last") for absent in ([], [1]))
    assert after[0] > before[0]
    harsh = means(embeddings, labels, [1], ["AP"])
    assert harsh[0] <= before[0]
    embeddings, labels = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), [0, 0, 1, 0, 1]
    assert gains(embeddings, labels, ["AP(norm=hits)@3"]).max() > 0.01


def test_a_query_without_an_answer_has_the_worst_ranking() -> None:
    for seed in range(3):
        embeddings, labels = vectors(seed, 6), [0, 0, 0, 1, 1, 2]
        absent = np.where(np.arange(6)[:, None] == 0, np.nan, embeddings)
        found = tp.evaluate_answers(absent, labels, measures=MEASURES)
        for name in MEASURES:
            query = found.per_query(name)
            assert query.lower[0] == query.upper[0]
            name, _, cutoff = name.partition("@")
            if cutoff == "R":
                name, cutoff = f"{name}@R", ""
            context = Context((1, 1), int(cutoff) if cutoff else None)
            orders = set(itertools.permutations((1, 1, 0, 0, 0)))
            worst = min(DEFINITIONS[name](order, context) for order in orders)
            assert query.lower[0] == pytest.approx(float(worst), abs=1e-12)


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("cutoff", [None, 1, 3])
def test_a_relevant_item_that_falls_behind_another_item(name: str, cutoff: int | None) -> None:
    """The step of the proof: this exchange raises no measure but AP(norm=hits)@k, and ranks, better if smaller."""
    if cutoff is None and name in ("P", "RelP", "R", "F1", "Success", "FullRecall"):
        return
    rises = False
    for order in itertools.product((0, 1), repeat=6):
        context = Context((1,) * sum(order), cutoff)
        for at in range(5):
            if order[at : at + 2] == (1, 0):
                fallen = (*order[:at], 0, 1, *order[at + 2 :])
                rises |= DEFINITIONS[name](fallen, context) > DEFINITIONS[name](order, context)
    assert rises == (name == "FirstRank" or (name == "AP(norm=hits)" and cutoff == 3))


def test_a_board_mixes_no_rules_for_what_is_left_out(tmp_path: Path) -> None:
    """The same answers once by each rule; and a complete answer, to which the rule makes no difference."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    labels, absent = np.arange(40) % 4, np.where(np.arange(40)[:, None] % 5 == 0, np.nan, rows)
    results = {
        "complete": tp.evaluate(rows, labels, measures=["AP"]),
        "honest": tp.evaluate_answers(absent, labels, measures=["AP"]),
        "cheat": tp.evaluate_answers(absent, labels, measures=["AP"], unanswered="last"),
    }
    for name, result in results.items():
        result.save(tmp_path / f"{name}.tieproof")
    data = {name: {"embeddings": rows if name == "complete" else absent, "labels": labels} for name in results}
    for compares in (
        lambda: leaderboard(tmp_path, verify=data),
        lambda: leaderboard(results),
        lambda: tp.table(results),
    ):
        with pytest.raises(tp.InputError, match=r"have different unanswered=: '(worst|last)' and '(worst|last)'"):
            compares()
    (tmp_path / "honest.tieproof").unlink()
    notes = {each.name: each.notes for each in leaderboard(tmp_path).standings}
    assert notes == {"complete": ("unanswered = worst",), "cheat": ("unanswered = last",)}
    del results["cheat"]
    assert not any(each.notes for each in leaderboard(results).standings)
