"""The study of how often an audit is wrong: its evaluators are as described, its numbers are those of its audits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from studies.audit_rates import audits, honest, rankings, study
from studies.audit_rates.audits import Audit, Task
from studies.audit_rates.families import FAMILIES, Evaluator, name_of
from studies.audit_rates.rates import Rate
from studies.audit_rates.study import PROOFS
from tieproof.trials.audit.recall import Deck, K, almost_as_near
from tieproof.trials.audit.targets import load

FOLDER = Path(study.__file__).parent
pytestmark = pytest.mark.heavy  # distances and intervals are scipy's

RANDOM = np.random.default_rng(3)
LABELS = np.arange(24) % 4
QUERIES = np.arange(12) % 4


def score(evaluator: Evaluator, takes: str, blind: bool) -> float:
    """The score of an evaluator for all-equal or random data, whose classes are in order."""
    labels, queries = np.sort(LABELS), np.sort(QUERIES)

    def fill(shape: tuple[int, int]) -> rankings.Array:
        return np.zeros(shape) if blind else RANDOM.normal(size=shape)

    if takes == "recall":
        found = RANDOM.permuted(np.tile(np.arange(24), (12, 1)), axis=1)[:, :5]
        truth = np.tile(np.arange(20), (12, 1)), np.tile(np.repeat(np.arange(5.0), 4), (12, 1))
        return float(evaluator(found, np.ones(found.shape), truth))
    if takes == "embeddings":
        return float(evaluator(fill((24, 5)), labels))
    if takes == "gallery":
        return float(evaluator(fill((12, 5)), queries, fill((24, 5)), labels))
    if takes == "relevance":
        return float(evaluator(fill((12, 24)), (queries[:, None] == labels).astype(int)))
    if takes == "scores":
        return float(evaluator(fill((12, 24)), queries, labels))
    names = [f"d{place:02}" for place in range(24)]
    rows = fill((12, 24)).tolist()
    qrels = {
        f"q{query:02}": {name: int(label == queries[query]) for name, label in zip(names, labels, strict=True)}
        for query in range(12)
    }
    return float(
        evaluator(qrels, {query: dict(zip(names, row, strict=True)) for query, row in zip(qrels, rows, strict=True)})
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_evaluators_are_found_by_their_names_and_keep_the_limits(name: str) -> None:
    family = FAMILIES[name]
    for strength in family.strengths:
        found = load(name_of(family, strength, 4))
        assert found is load(name_of(family, strength, 4))
        assert 0 <= score(found, family.takes, blind=False) <= 1
        try:
            assert 0 <= score(found, family.takes, blind=True) <= 1
        except ValueError:
            assert family.whole  # such an evaluator may refuse equal vectors


def test_every_fault_that_only_special_data_shows_is_proved_without_an_audit() -> None:
    alike = {name for name, family in FAMILIES.items() if family.whole or family.thorough}
    assert {name for name in alike if FAMILIES[name].kind != "honest"} == {*PROOFS}
    for name, proof in PROOFS.items():
        found, usual = proof(FAMILIES[name].make(100, 0))
        assert found > usual + 0.004 if FAMILIES[name].kind == "guilty" else abs(found - usual) > 1e-4, name


@pytest.mark.parametrize(
    ("honest_one", "guilty_one"),
    [
        ("minus one on the diagonal", "zero on the diagonal"),
        ("negative cosines tied", "negative cosines merged"),
        ("itself left out", "distance zero is self"),
        ("itself left out", "near duplicates left out"),
        ("guard, lower bound", "guard"),
        ("all classes", "successful classes only"),
        ("itself left out", "failing items dropped"),
        ("whole lists", "union of lists"),
        ("no ties by label", "ties of 40 to 100"),
        ("no ties by label", "even numbers"),
        ("no ties by label", "full blocks"),
        ("ranks in two bytes", "ranks in a byte"),
        ("labels in eight bytes", "labels in a byte"),
        ("labels in eight bytes", "labels in two bytes"),
        ("batches", "first thousand"),
        ("batches", "last batch of one"),
        ("cache by content", "cache by repr"),
        ("cache by content", "cache by id"),
        ("labels in eight bytes", "strides ignored"),
        ("fresh chance, thorough", "half a deviation"),
        ("worst ranks", "dense ranks"),
        ("worst ranks", "mean ranks"),
        ("precision of 500", "negated bytes"),
        ("no cap", "subtracted bytes"),
        ("labels in eight bytes", "labels in float32"),
        ("labels in eight bytes", "labels in four bytes"),
        ("no cap", "a cap"),
        ("no cap", "whole batches"),
        ("labels in eight bytes", "above a million pairs"),
    ],
)
def test_the_construction_proves_nothing_against_one_that_looks_alike(honest_one: str, guilty_one: str) -> None:
    try:
        found, usual = PROOFS[guilty_one](FAMILIES[honest_one].make(100, 0))
    except ValueError:
        return  # it refuses the data
    if FAMILIES[guilty_one].kind == "guilty":
        assert found <= usual + 0.02
    else:
        assert found == pytest.approx(usual, abs=1e-12)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.takes == "recall"])
def test_honest_evaluators_of_recall_stay_in_the_interval_of_random_lists_and_guilty_ones_leave_it(name: str) -> None:
    family, outside = FAMILIES[name], False
    for seed in range(40):
        deck = Deck(np.random.default_rng(seed), 8, 60)
        ranking = deck.ranking((2, 14))
        lists = ranking.at(deck.random.integers(0, 30, size=K) if seed % 2 else deck.some())
        if seed % 4 == 1:  # ids of no item, filling, claims
            lists = replace(lists, found=lists.found + 2**32, distances=0 * lists.distances)
        elif seed % 4 == 3:
            lists.found[:4], lists.true_ids[4:, 4:] = -1, -1
            lists.found[4:, 5:] = -1
        if seed == 2:
            ranking = almost_as_near(deck.random, 8, 60, 1.0, 2.0**-12)
            lists = ranking.at(np.arange(K) + K)
        if seed == 4:
            lists = ranking.at(np.arange(K) + 2)  # 10 items of a tie of which 8 are neighbors
        # A truth that is filled up lists no more neighbors than there are, so that nothing else can be credited.
        least, most = ranking.recall(lists.found) if seed % 4 != 3 else (0.0, ranking.recall(lists.found)[1])
        value = family.make(100, seed)(*lists.arguments())
        outside |= not least - 1e-4 <= value <= most + 1e-4
    assert outside == (family.kind == "guilty")


def test_other_names_are_no_evaluators() -> None:
    for name in ("absent__100__0", "lower_bound,_gallery__x__0", "nothing"):
        with pytest.raises(tp.InputError, match="has no"):
            load(f"studies.audit_rates.families:{name}")


@pytest.mark.parametrize("measure", rankings.MEASURES)
def test_measures_are_those_of_tieproof(measure: str) -> None:
    scores = RANDOM.permuted(np.tile(np.arange(30.0), (9, 1)), axis=1)
    relevant = RANDOM.random((9, 30)) < 0.3
    search = rankings.Search(-scores, relevant, np.zeros(9))
    found = rankings.MEASURES[measure](rankings.ranked(search, np.zeros(scores.shape)))
    expected = tp.evaluate_scores(scores, relevant.astype(int), measures=[measure]).per_query(measure).lower
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_keys_break_ties_and_nothing_else() -> None:
    search = rankings.Search(np.array([[1.0, 0, 1, 2, 1]]), np.array([[True, False, False, True, True]]), np.zeros(1))
    assert rankings.ranked(search, np.array([[3, 9, 1, 0, 2]])).tolist() == [[False, False, True, True, True]]


@pytest.mark.parametrize("takes", ["embeddings", "gallery", "scores"])
@pytest.mark.parametrize("rule", honest.TIES)
def test_chance_gives_the_expected_value_in_the_mean(rule: str, takes: str) -> None:
    """Over 200 seeds of the same measure, the mean is within four standard errors."""
    seeds = range(0, 200 * len(rankings.MEASURES), len(rankings.MEASURES))
    scores = [score(FAMILIES[f"{rule}, {takes}"].make(100, seed), takes, blind=True) for seed in seeds]
    expected = score(FAMILIES[f"expected value, {takes}"].make(100, 0), takes, blind=True)
    assert abs(np.mean(scores) - expected) < 4 * np.std(scores) / np.sqrt(len(scores))


def test_names_that_are_near_are_not_near_in_a_hash() -> None:
    family = FAMILIES["hash of names, run"]
    scores = [score(family.make(100, seed), "run", blind=True) for seed in range(0, 1000, 5)]
    expected = score(FAMILIES["expected value, gallery"].make(100, 0), "gallery", blind=True)
    assert abs(np.mean(scores) - expected) < 4 * np.std(scores) / np.sqrt(len(scores))


@pytest.mark.parametrize("name", ["ties by label", "towards the upper bound"])
def test_stronger_faults_gain_more(name: str) -> None:
    family = FAMILIES[name]
    means = [
        np.mean([score(family.make(strength, seed), family.takes, blind=True) for seed in range(40)])
        for strength in (100, 50, 20, 0)
    ]
    assert means == sorted(means, reverse=True)
    assert means[0] == pytest.approx(1)
    expected = score(FAMILIES["expected value, gallery"].make(100, 0), "gallery", blind=True)
    assert means[-1] == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("name", ["data order", "data order, embeddings", "by name", "from the end"])
def test_faults_of_order_gain_where_classes_are_in_order(name: str) -> None:
    family = FAMILIES[name]
    fair = FAMILIES[f"expected value, {'embeddings' if family.takes == 'embeddings' else 'gallery'}"]
    assert score(family.make(100, 0), family.takes, blind=True) > 1.2 * score(
        fair.make(100, 0), fair.takes, blind=True
    )


def test_memory() -> None:
    first, best = (FAMILIES[name].make(100, 0) for name in ("cache by shape", "best so far"))
    good = np.eye(4)[LABELS]
    bad = RANDOM.normal(size=(24, 4))
    assert first(bad, LABELS) == first(good, LABELS) < 1
    assert best(good, LABELS) == best(bad, LABELS) == 1


def test_averages() -> None:
    values, labels = np.array([0.1, 0.4, 0.4, 0.8]), np.array([0, 0, 0, 1])
    assert rankings.geometric_mean(values, labels) == pytest.approx((0.1 * 0.4 * 0.4 * 0.8) ** 0.25)
    assert rankings.macro_average(values, labels) == pytest.approx(0.55)
    assert rankings.median(values, labels) == pytest.approx(0.4)
    assert rankings.trimmed_mean(np.arange(10.0), np.zeros(10)) == pytest.approx(4.5)
    assert rankings.trimmed_mean(np.array([*range(9), 90.0]), np.zeros(10)) == pytest.approx(4.5)


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    for trials in (1, 10, 430):  # without any error, the upper end is known in closed form
        assert Rate(0, trials).interval() == pytest.approx((0, 1 - 0.025 ** (1 / trials)))
        assert Rate(trials, trials).interval() == pytest.approx((0.025 ** (1 / trials), 1))
    assert [str(Rate(*each)) for each in ((0, 430), (5, 5), (0, 0))] == ["0.0 to 0.9 %", "47.8 to 100.0 %", "any"]


def test_finished_audits_are_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "audits.json"
    wanted = [Task("lower bound, gallery", 100, 0), Task("data order", 20, 1)]
    done = [Audit(*wanted[0], False, True, {}), Audit(*wanted[1], True, False, {"exploitable": ["zeros"]})]
    audits.write(path, audits.version(), done)
    assert sorted(audits.read(path)) == sorted(done)
    before = path.read_bytes()
    assert audits.make(wanted, path) == done
    assert path.read_bytes() == before
    assert audits.version_of(path) == audits.version()
    assert audits.version_of(tmp_path / "absent") == ""


def test_an_audit() -> None:
    found = audits.audit(Task("towards the upper bound", 100, 0))
    assert found.exploitable
    assert not found.held
    assert "zeros" in found.verdicts["exploitable"]
    found = audits.audit(Task("lower bound, gallery", 100, 0))
    assert (found.exploitable, found.held, found.verdicts) == (False, True, {})


def test_report_counts() -> None:
    fake = [
        Audit("one shuffle, gallery", 100, 0, True, False, {"exploitable": ["zeros", "constant"]}),
        Audit("one shuffle, gallery", 100, 1, False, False, {"gains a little": ["zeros"]}),
        Audit("data order", 10, 0, False, True, {}),
        Audit("median, expected value", 100, 0, True, False, {"exploitable": ["zeros"]}),
        Audit("strides ignored", 100, 0, False, False, {"changes": ["memory layout"]}),
        Audit("strides ignored", 100, 1, False, True, {}),
    ]
    text = study.render(fake)
    assert "| honest | 2 | 1 | 1.3 to 98.7 % | 1 | 0 |" in text
    assert "Attacks that accuse honest evaluators, and how often: zeros (1), constant (1)." in text
    assert "| data order | as the data comes, for so many % of queries | 10 | 1 | 0 | 0.0 to 97.5 % | 0 | 1 |" in text
    assert "| the number changes | 2 | 1 | 1.3 to 98.7 % | 0 | 1 |" in text
    assert "| strides ignored | reads arrays as they lie in memory | " in text
    assert text.count("\n| data order |") == 1
    assert "| a blind system gains, the strongest of each family | 0 | 0 | any | 0 | 0 |" in text
    assert "No attack accuses an honest evaluator." in study.render(fake[1:])


def test_report_and_documentation_are_what_the_audits_say() -> None:
    found = audits.read(FOLDER / study.FILE)
    assert (FOLDER / "report.md").read_text(encoding="utf-8") == study.render(found)
    assert study.summary(found) in study.DOCUMENT.read_text(encoding="utf-8")
