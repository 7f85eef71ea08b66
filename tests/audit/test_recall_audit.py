"""Audits of evaluators of recall: the attack made for a trick sees it, and no right evaluator is accused."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neighbor_recall_oracle as oracle
import tieproof as tp
import zoo_recall
from pages import BLOCK, text_of
from tieproof.trials.audit import ATTACKS
from tieproof.trials.audit.cases import RecallLists
from tieproof.trials.audit.recall import FIRST, Deck, K, RecallTrial, WholeRanking, almost_as_near

pytestmark = pytest.mark.trials

DOCS = Path(__file__).parents[2] / "docs"
OWN = [name for name, attack in ATTACKS.items() if attack.kind == "recall"]


@pytest.mark.trials
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["lower", "expected", "upper", "by_definition", "rounded"])
def test_no_right_evaluator_is_accused(name: str, seed: int) -> None:
    report = tp.audit(getattr(zoo_recall, name), takes="recall", seed=seed)
    assert report.held, report
    assert [finding.attack for finding in report.findings] == OWN
    assert "lists score what they found" in " ".join(str(report).split())


@pytest.mark.trials
@pytest.mark.parametrize(("items", "queries"), [(40, 40), (41, 300), (1000, 40)])
def test_other_sizes(items: int, queries: int) -> None:
    assert tp.audit(zoo_recall.lower, items=items, queries=queries).held
    assert tp.audit(zoo_recall.by_distances, items=items, queries=queries).exploitable


GUILTY: dict[str, tuple[str, str]] = {
    "without_the_nearest": ("true neighbors", "outside the interval"),
    "jaccard": ("partial lists", "outside the interval"),
    "all_that_is_listed": ("beyond the cut", "exploitable"),
    "as_often_as_found": ("repeated ids", "exploitable"),
    "in_32_bits": ("ids out of range", "exploitable"),
    "by_distances": ("stale truth", "exploitable"),
    "unless_farther": ("nan distances", "exploitable"),
    "within_a_percent": ("almost as near", "exploitable"),
    "within_a_millionth": ("small distances", "exploitable"),
    "whole_tie": ("whole tie", "exploitable"),
    "cut_truth": ("cut truth", "exploitable"),
    "of_the_returned": ("few answers", "exploitable"),
    "of_answered_queries": ("unanswered queries", "exploitable"),
    "by_ids": ("ties at the cut", "depends on order"),
    "noisy": ("same lists again", "changes"),
    "rank_by_rank": ("order of found items", "depends on order"),
    "first_queries": ("order of lists", "depends on order"),
    "without_item_zero": ("names of items", "changes"),
    "crashes_on_padding": ("few answers", "crashed"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", GUILTY)
def test_every_trick_is_seen(name: str, seed: int) -> None:
    attack, verdict = GUILTY[name]
    report = tp.audit(getattr(zoo_recall, name), takes="recall", attacks=[attack], seed=seed)
    assert report.finding(attack).verdict == verdict, report
    assert report.exploitable == (verdict == "exploitable")


def test_every_attack_has_a_guilty_evaluator() -> None:
    guilty = {attack for attack, _ in GUILTY.values()}
    assert guilty | {"claimed distances", "padded truth"} == set(OWN)
    assert tp.audit(zoo_recall.by_distances, attacks=["claimed distances"]).exploitable
    assert tp.audit(zoo_recall.as_often_as_found, attacks=["padded truth"]).exploitable


def test_a_difference_that_rounding_explains_is_a_small_gain() -> None:
    """A tolerance of a millionth counts items that are farther by 2^-20, but none that are farther by 2^-10."""
    found = tp.audit(zoo_recall._within(1e-6, 0.0), takes="recall", attacks=["almost as near"])
    assert found.finding("almost as near").verdict == "gains a little"
    assert not found.exploitable
    assert not found.held


# The numbers


def test_the_interval_is_that_of_the_definition() -> None:
    """Over every choice of the nearest items, in fractions."""
    deck = Deck(np.random.default_rng(0), 3, 14)
    for tie in ((0, 1), (K - 2, K + 2), (7, 14)):
        ranking = deck.ranking(tie)
        for places in (FIRST, FIRST // 2, FIRST + 4, np.r_[FIRST[:5], FIRST[-5:] + 4]):
            found = ranking.at(places).found
            exact = []
            for row, ids, distances in zip(found.tolist(), ranking.ids, ranking.distances.tolist(), strict=True):
                by_id = [distances[place] for place in np.argsort(ids)]
                exact.append(oracle.recall(row, by_id, K))
            least, most = ranking.recall(found)
            assert least == pytest.approx(float(sum(each.lower for each in exact) / 3), rel=1e-12)
            assert most == pytest.approx(float(sum(each.upper for each in exact) / 3), rel=1e-12)


def test_rankings_are_what_they_say() -> None:
    random = np.random.default_rng(1)
    ranking = WholeRanking.drawn(random, 5, 240, (4, 18))
    steps = np.diff(ranking.distances, axis=1) > 0
    assert (steps == ~np.isin(np.arange(239), np.arange(4, 17))).all()
    assert (np.sort(ranking.ids, axis=1) == np.arange(240)).all()
    for exponent in (-4, -23):
        near = almost_as_near(random, 2, 40, 2.0**-20, 2.0**exponent).distances
        assert (near[:, K - 1] == 2.0**-20).all()
        assert ((near[:, K : 2 * K] - near[:, K - 1 : K]) == 2.0 ** (exponent - 20)).all()
        assert (np.diff(near[:, : K + 1], axis=1) > 0).all()
    lists = ranking.at(FIRST)
    again = RecallLists.unpack(lists.pack())
    assert all((getattr(lists, name) == getattr(again, name)).all() for name in vars(lists))


def test_trials_are_about_what_was_found() -> None:
    """Ids of no item, and -1, find nothing; an item that occurs again counts once."""
    ranking = Deck(np.random.default_rng(2), 4, 60).ranking()
    lists = ranking.at(FIRST)
    assert RecallTrial.of("", ranking, lists)[2:4] == (1.0, 1.0)
    assert ranking.recall(lists.found + 60) == ranking.recall(np.full_like(lists.found, -1)) == (0.0, 0.0)
    assert ranking.recall(ranking.at(np.zeros(K, dtype=int)).found) == (0.1, 0.1)


# Options


@pytest.mark.trials
def test_percent_and_errors() -> None:
    report = tp.audit(zoo_recall.percent, limits=(0, 100))
    assert report.held
    assert report.finding("repeated ids").interval == (10.0, 10.0)
    assert tp.audit(zoo_recall.error, larger_is_better=False).held
    wrong = tp.audit(
        lambda found, distances, truth: 1 - zoo_recall.by_distances(found, distances, truth), larger_is_better=False
    )
    assert wrong.finding("claimed distances").verdict == "exploitable"
    assert wrong.finding("claimed distances").interval == (1.0, 1.0)


def test_numbers_by_name() -> None:
    report = tp.audit(zoo_recall.several)
    assert report.finding("ties at the cut", "lower").verdict == "held"
    assert report.finding("ties at the cut", "by ids").verdict == "depends on order"
    assert "attack                measure  verdict           score   recall" in report.to_text(explain=True)


def test_a_process_of_its_own_changes_no_number() -> None:
    attacks = ["partial lists", "few answers", "nan distances", "names of items"]
    here, apart = (
        tp.audit("zoo_recall:by_distances", attacks=attacks, isolate=isolate, takes="recall")
        for isolate in (False, True)
    )
    assert [f.__dict__ | {"reproduce": ""} for f in here.findings] == [
        f.__dict__ | {"reproduce": ""} for f in apart.findings
    ]


def test_the_first_parameter_tells_that_it_is_a_recall() -> None:
    assert (
        tp.audit(zoo_recall.lower, attacks=["repeated ids"]).takes == "(found, distances, truth), lists of neighbors"
    )
    with pytest.raises(tp.InputError, match="do not tell how to call it"):
        tp.audit(lambda ids, distances, truth: 0.5)


def test_evaluators_cannot_change_the_lists_of_others() -> None:
    def clears(found: Any, distances: Any, truth: Any) -> float:
        score = zoo_recall.lower(found, distances, truth)
        for array in (found, distances, *truth):
            array[:] = 0
        return score

    assert tp.audit(clears).held


def test_a_number_that_is_none() -> None:
    report = tp.audit(zoo_recall.nan_for_all, takes="recall")
    assert {str(finding.verdict) for finding in report.findings[:14]} == {"not a number"}

    def crashes(found: Any, distances: Any, truth: Any) -> float:
        return [0.5][len(found)]

    with pytest.raises(tp.InputError, match="fails on the true neighbors"):
        tp.audit(crashes)


def test_findings_are_printed_again(capsys: pytest.CaptureFixture[str]) -> None:
    found = tp.audit("zoo_recall:by_distances", takes="recall").finding("claimed distances")
    exec(found.reproduce, {})
    assert float(capsys.readouterr().out) == found.score == 1.0


def test_pages_and_tables_show_the_recall(tmp_path: Path) -> None:
    report = tp.audit("tieproof.trials.audit.examples:within_the_distance", takes="recall")
    assert report.exploitable
    assert "whole tie             exploitable  1.0000  0.2000 to 0.6000" in report.to_text(explain=True)
    assert "| repeated ids | score | exploitable | 1.0000 | 0.1000 |" in report.to_markdown()
    assert report.to_dict()["findings"][3]["interval"] == [0.1, 0.1]
    assert json.loads(report.to_json()) == report.to_dict()
    report.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<th scope="col">recall</th>' in page
    assert "<td>0.2000 to 0.6000</td>" in page
    assert "random embeddings</th>" not in page
    assert tp.audit("tieproof.trials.audit.examples:neighbor_recall", takes="recall").held


# The page on public benchmarks

FORMULAS: list[str] = []
if DOCS.exists():
    sys.path.insert(0, str(DOCS))
    import recall_formulas
    import recall_harnesses

    sys.path.remove(str(DOCS))
    FORMULAS = [harness.name for harness in recall_harnesses.HARNESSES]

FOUND = {
    "ann-benchmarks": {
        *("partial lists", "repeated ids", "ids out of range", "stale truth", "claimed distances", "almost as near"),
        *("small distances", "whole tie", "few answers", "padded truth"),
    },
    "big-ann-benchmarks": {"partial lists", "almost as near", "small distances", "whole tie", "padded truth"},
    "VectorDBBench": {"repeated ids", "padded truth"},
    "DiskANN": {"partial lists", "whole tie", "padded truth"},
    "cuVS, C++": {"repeated ids"},
    "cuVS, Python": {"padded truth"},
    "RAFT": {
        *("partial lists", "repeated ids", "ids out of range", "stale truth", "almost as near", "small distances"),
        *("whole tie", "padded truth"),
    },
    "MLPerf Storage": {"padded truth"},
    "MLPerf Storage, epsilon": {"partial lists", "almost as near", "small distances", "whole tie", "padded truth"},
}
"""The attacks from which an index gains, by the formulas of public benchmarks."""

BY_IDS = {"VectorDBBench", "cuVS, C++", "cuVS, Python", "MLPerf Storage"}
"""The benchmarks whose number depends on which items of a tie the truth lists."""


@pytest.mark.trials
@pytest.mark.parametrize("name", FORMULAS)
def test_public_benchmarks(name: str) -> None:
    report = next(each for each in recall_harnesses.HARNESSES if each.name == name).audited()
    gains = {finding.attack for finding in report.findings if finding.verdict == "exploitable"}
    others = {finding.attack for finding in report.findings if not finding.verdict.harmless} - gains
    assert gains == FOUND["ann-benchmarks" if name == "VIBE" else name]
    assert others == ({"ties at the cut"} if name in BY_IDS else set())


@pytest.mark.trials
@pytest.mark.skipif(not FORMULAS, reason="no docs beside the tests")
def test_the_page_shows_what_the_script_finds() -> None:
    shown = (DOCS / "recall_harnesses.md").read_text(encoding="utf-8")
    assert shown == recall_harnesses.render(), "run python docs/recall_harnesses.py"


@pytest.mark.skipif(not FORMULAS, reason="no docs beside the tests")
def test_formulas_for_one_query_at_a_time() -> None:
    """Two of the formulas have a definition in the oracle, which is written from their descriptions."""
    deck = Deck(np.random.default_rng(3), 8, 60)
    for tie in ((0, 1), (8, 14)):
        ranking = deck.ranking(tie).scaled(2.0**-12)
        lists = ranking.at(deck.some())
        truth = lists.true_ids, lists.true_distances
        rows = [*zip(*lists.arguments()[:2], *truth, strict=True)]
        ann = [oracle.ann_benchmarks(far, true, K, "k-nn") for _, far, _, true in rows]
        big = [oracle.big_ann(found.tolist(), ids.tolist(), true, K) for found, _, ids, true in rows]
        for name, exact in (("ann_benchmarks", ann), ("vibe", ann), ("big_ann", big)):
            value = getattr(recall_formulas, name)(lists.found, lists.distances, truth)
            assert value == pytest.approx(float(sum(exact) / len(exact)), rel=1e-12)


@pytest.mark.skipif(not FORMULAS, reason="no docs beside the tests")
def test_examples_of_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    (refuse,) = BLOCK.findall(text_of("docs/recall_harnesses.md"))
    (own,) = BLOCK.findall(text_of("docs/audit.md", "Evaluators of recall"))
    ranking = Deck(np.random.default_rng(4), 5, 60).ranking((6, 40))
    lists = ranking.at(FIRST)
    names = {"tp": tp, "found": lists.found, "truth": (lists.true_ids, lists.true_distances)}
    with pytest.raises(ValueError, match="ends within a tie"):
        exec(refuse, names)
    exec(own, names)
    assert "To repair it, count each found id once, up to k." in " ".join(capsys.readouterr().out.split())
