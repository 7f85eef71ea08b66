"""The study of comparisons: its systems, samples and verdicts, compared with their definitions on a small input."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from shared_data import FOLDER, load_shared
from studies.compare import cases, peers, simulation, study
from studies.compare.systems import Differences, codes, noisy, samples, values, with_distractors
from tieproof.analyses.compare.verdicts import RULES, Evidence, rule_of

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

RANDOM = np.random.default_rng(0)
LABELS = np.repeat(np.arange(12), 6)
EMBEDDINGS = RANDOM.normal(size=(72, 16)) + 2 * np.eye(16)[LABELS]
DATA = with_distractors(EMBEDDINGS, LABELS, 60)
SMALL = simulation.Size(60, 20, 3, (8, 12))


def test_items() -> None:
    assert len(DATA.embeddings) == len(DATA.labels) == 60
    assert (DATA.labels >= 0).sum() == 30
    assert len(np.unique(DATA.labels[DATA.labels < 0])) == 30
    for row, label in zip(DATA.embeddings, DATA.labels.tolist(), strict=True):
        (place,) = np.flatnonzero((row == EMBEDDINGS).all(axis=1))
        assert LABELS[place] == label if label >= 0 else LABELS[place] % 2


def test_codes_tie_and_embeddings_do_not() -> None:
    of_codes, of_floats = values(codes(DATA.embeddings, 8), DATA), values(DATA.embeddings, DATA)
    assert (of_codes.lower < of_codes.upper).any()
    assert (of_floats.lower == of_floats.upper).all()
    assert len(of_codes.lower) == len(peers.queries_of(DATA))
    assert (noisy(DATA, 0.5, 1) == noisy(DATA, 0.5, 1)).all()


def test_an_exchange_leaves_neither_better() -> None:
    one, other = (values(codes(noisy(DATA, 0.5, seed), 8), DATA) for seed in (1, 2))
    drawn = Differences.of(one, other).at(samples(len(one.lower), 10, 4000, 0))
    exchanged = drawn.exchanged(3)
    assert (np.abs(exchanged.expected) == np.abs(drawn.expected)).all()
    assert (exchanged.upper - exchanged.lower == drawn.upper - drawn.lower).all()
    assert abs((exchanged.expected.mean(axis=0) > 0).mean() - 0.5) < 0.04


def test_verdicts_are_those_of_compare() -> None:
    relevance = np.eye(12)
    for seed in range(20):
        random = np.random.default_rng(seed)
        quality = random.random(2)
        one, other = (
            tp.evaluate_scores(
                np.floor(4 * (share * relevance + random.random((12, 12)))), relevance, measures=["AP"]
            )
            for share in quality.tolist()
        )
        drawn = Differences.of(one.per_query("AP"), other.per_query("AP"))
        (found,) = simulation.verdicts(drawn.at(np.arange(12)[:, None]))
        assert found == tp.compare({"one": one, "other": other})["one", "other", "AP"].verdict.name


@pytest.mark.parametrize("equal", [False, True])
def test_there_is_always_one_verdict(equal: bool) -> None:
    """The verdict is the same for both orders of the systems; it only depends on which system is ahead."""
    given = set()
    for p_value in (0.01, 0.5):
        for p_lower in (p_value, 1.0):
            for lower, upper in ((0.1, 0.3), (-0.1, 0.3), (0.2, 0.2), (0.0, 0.0)):
                for p_noise in (p_lower, 1.0):
                    for smallest in (0.0, 0.25):
                        ends = lower, upper, 0.05
                        evidence = Evidence(equal, p_value, p_lower, *ends, p_noise=p_noise, smallest=smallest)
                        given.add(rule_of(evidence).name)
    assert given == ({RULES[0].name} if equal else {rule.name for rule in RULES[1:]})


@pytest.mark.heavy
def test_programs_break_ties_as_the_report_says() -> None:
    bits = codes(DATA.embeddings, 8)
    qrels, run, backwards = peers.judgments(DATA), peers.as_run(bits, DATA), peers.as_run(bits, DATA, backwards=True)
    found = values(bits, DATA)
    distances = (bits[:, None] != bits).sum(axis=2)
    by_name = tp.evaluate_distances(60 * distances - np.arange(60), labels=DATA.labels, measures=["AP"])
    np.testing.assert_allclose(peers.by_trec_eval(run, qrels), by_name.per_query("AP").lower, rtol=1e-6)
    assert (peers.by_trec_eval(backwards, qrels) == peers.by_trec_eval(run, qrels)).all()
    printed = peers.by_ranx(run, qrels)
    assert (found.lower - 1e-9 <= printed).all()
    assert (printed <= found.upper + 1e-9).all()
    assert (printed != peers.by_ranx(backwards, qrels)).any()


@pytest.mark.heavy
def test_p_values_are_those_of_the_programs() -> None:
    from ranx.statistical_tests import paired_student_t_test

    one, other = RANDOM.random((2, 15))
    found = peers.p_values(np.column_stack([one - other, np.zeros(15)]))
    np.testing.assert_allclose(found, [paired_student_t_test(one, other)[0], 1.0], rtol=1e-12)


@pytest.mark.heavy
def test_the_report_is_reproducible() -> None:
    report = study.render({"small": DATA}, SMALL)
    assert study.render({"small": DATA}, SMALL) == report
    for pair in (cases.SAME_RUN, cases.TWO_PROGRAMS):
        (row,) = (line for line in report.splitlines() if line.startswith(f"| {pair} | 12 "))
        assert [cell.strip() for cell in row.split("|")[3:5]] == ["100.0 %", "0.0 %"]


@pytest.mark.heavy
def test_quick_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_shared("phocnet.npz")
    monkeypatch.setattr(
        "sys.argv", ["study.py", "--data", str(FOLDER / "phocnet.npz"), "--quick", "--out", str(tmp_path)]
    )
    study.main()
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# How often comparisons are wrong")


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_the_experiment_of_pyterrier() -> None:
    """PyTerrier itself, if it is installed, gives the same means and the same p-value."""
    pyterrier = pytest.importorskip("pyterrier", reason="PyTerrier is not installed")
    import pandas as pd

    qrels = peers.judgments(DATA)
    runs = [peers.as_run(codes(noisy(DATA, 0.5, seed), 16), DATA) for seed in (1, 2)]

    def frame(found: Mapping[str, Mapping[str, float]], value: str) -> Any:
        rows = [(query, item, each) for query, items in found.items() for item, each in items.items()]
        return pd.DataFrame(rows, columns=["qid", "docno", value])

    results = [frame(run, "score") for run in runs]
    for result in results:
        result["rank"] = result.groupby("qid").score.rank(ascending=False, method="first").astype(int) - 1
    topics = pd.DataFrame({"qid": list(qrels), "query": "any"})
    table = pyterrier.Experiment(results, topics, frame(qrels, "label"), ["map"], baseline=0)
    one, other = (peers.by_trec_eval(run, qrels) for run in runs)
    np.testing.assert_allclose(table["map"], [one.mean(), other.mean()], rtol=1e-6)
    np.testing.assert_allclose(table["map p-value"][1], peers.p_values((other - one)[:, None])[0], rtol=1e-6)
