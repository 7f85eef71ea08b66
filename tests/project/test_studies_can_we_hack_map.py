"""The study of evaluators: each is called correctly, and the tables agree with the audits' reports."""

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
import zoo
from studies.can_we_hack_map import study
from studies.can_we_hack_map.evaluators import of_embeddings, of_scores
from studies.can_we_hack_map.subjects import SUBJECTS, Subject
from tieproof.measures import parse
from tieproof.trials.audit import Finding, Verdict
from tieproof.trials.audit.changes import data_case
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.examination import Examination, Options
from tieproof.trials.audit.outcomes import SINGLE, Outcome
from tieproof.trials.audit.targets import load
from tieproof.trials.audit.truth import truth

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

OURS = [subject for subject in SUBJECTS if subject.package in ("tieproof", "")]
THEIRS = [subject for subject in SUBJECTS if subject not in OURS]

DIGITS = {"MTEB": 0.51e-5}
"""The tolerance for rounded numbers."""


def examination(subject: Subject) -> Examination:
    options = Options(distance=subject.distance or "cosine")
    return Examination(CONVENTIONS[subject.takes], options, lambda case, settings: Outcome({}))


def agrees_without_ties(subject: Subject) -> None:
    looked_at = examination(subject)
    case = data_case(looked_at, "random")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = looked_at.convention.call(load(subject.target), case, {})
    values = value if isinstance(value, dict) else {SINGLE: value}
    assert [*values] == [*subject.numbers]
    known = subject.known
    for name, measure in (known if isinstance(known, dict) else {SINGLE: known}).items():
        expected = truth(looked_at, case, parse(measure)).lower
        assert values[name] == pytest.approx(expected, rel=1e-6, abs=DIGITS.get(subject.name, 0)), name


@pytest.mark.parametrize("subject", OURS, ids=lambda subject: subject.name)
def test_our_lines_compute_average_precision(subject: Subject) -> None:
    if subject.distance is not None:
        agrees_without_ties(subject)


@pytest.mark.heavy
@pytest.mark.parametrize("subject", THEIRS, ids=lambda subject: subject.name)
def test_libraries_compute_what_the_table_says(subject: Subject) -> None:
    if not subject.installed:
        pytest.skip(f"{subject.package} is not installed")
    agrees_without_ties(subject)


@pytest.mark.heavy
def test_accuracy_of_the_nearest_classes_by_hand() -> None:
    pytest.importorskip("sklearn")
    scores = np.array([[0.9, 0.1, 0.5, 0.2], [0.1, 0.2, 0.8, 0.9], [0.1, 0.5, 0.3, 0.4]])
    # The classes by their best items: 5, 7, 9 for the first query, 9, 7, 5 for the second, 5, 9, 7 for the third.
    found = of_scores.sklearn_top_k_accuracy(scores, np.array([5, 7, 7]), np.array([5, 5, 7, 9]))
    assert found == pytest.approx({"k=1": 1 / 3, "k=2": 2 / 3})


def test_deep_hashing_loop_by_hand() -> None:
    queries, gallery = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [-1.0, 1.0], [-1.0, -2.0]])
    # Hamming distances 0, 1 and 2; relevant at ranks 1 and 3.
    value = of_embeddings.deep_hashing_loop(queries, np.array([7]), gallery, np.array([7, 8, 7]))
    assert value == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_embeddings_score_less_than_random_ones_by_the_paper_method(value: float) -> None:
    """The cure works on what the paper was about: of equal distances, relevant items come last (section 5.3)."""
    labels = np.repeat(np.arange(10), 12)
    random = np.random.default_rng(0).random((120, 8))
    equal = np.full((120, 8), value)
    assert of_embeddings.paper_method(equal, labels) < 0.8 * of_embeddings.paper_method(random, labels)


def test_paper_method_drops_the_nearest() -> None:
    """If a query has a twin of another class, D - E ranks the twin first, and the query itself remains ranked."""
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    labels = np.array([0, 1, 0, 1])
    # Each: its twin is dropped; the rest is itself (relevant), one irrelevant, one relevant: (1 + 2/3) / 1.
    assert of_embeddings.paper_method(vectors, labels) == pytest.approx(5 / 3)


FOOLED = Subject("fooled", "f", "embeddings", "", "", "says nothing")
ABSENT = Subject("absent", "f", "embeddings", "no_such_module", "no-such-package", "says nothing")


@pytest.fixture(scope="module")
def audited() -> list[study.Audited]:
    attacks = ["zeros", "nan", "some nan", "infinity", "permuting items", "order search", "interval"]
    report = tp.audit(zoo.stable_sort, attacks=attacks, measure="AP", distance="euclidean", items=60)
    return [study.Audited(FOOLED, report), study.audit(ABSENT)]


def test_rows_say_what_the_report_says(audited: list[study.Audited]) -> None:
    (number,) = study.numbers(audited)
    best = study.best_blind(number)
    assert best is not None
    blind = [f.deviations for f in number.findings if f.deviations is not None and f.attack != "order search"]
    assert best.deviations == max(blind)
    assert study.blind_row(number)[:5] == ["fooled", "AP", "as in the study", "zeros", "zeros"]
    assert study.blind_row(number)[5] == f"{best.score:.4f}"
    name, order, nan, infinity, tied, says = study.other_row(number)
    assert (name, nan, infinity, says) == ("fooled", "refused", "refused", "says nothing")
    assert re.match(r"permuting items; \d+ orders of zeros give ", order)
    assert re.match(r"\d\.\d+ \(inside the interval\); AP has the lower bound ", tied)


def test_a_search_for_the_best_order_fools_nobody() -> None:
    def found(attack: str, verdict: Verdict, deviations: float) -> Finding:
        return Finding(attack, SINGLE, verdict, 0.5, 0.1, 0.1, deviations, "")

    searched = [found("order search", Verdict.EXPLOITABLE, 9.0), found("zeros", Verdict.HELD, 1.0)]
    number = study.Number(FOOLED, "AP", searched)
    assert not study.fooled(number)
    assert study.blind_row(number)[3:5] == ["none", "zeros"]
    number = study.Number(FOOLED, "AP", [*searched, found("nan", Verdict.EXPLOITABLE, 4.0)])
    number.findings.append(found("constant", Verdict.EXPLOITABLE, 5.0))  # type: ignore[attr-defined]
    assert study.blind_row(number)[3:5] == ["constant, nan", "constant"]


def test_numbers_of_one_evaluator() -> None:
    several = FOOLED._replace(measures={"AP": "AP", "upper": None})
    assert several.known == {"AP": "AP"}
    report = tp.audit(zoo.several, attacks=["zeros", "nan"], measure=several.known, items=60)
    lower, upper = study.numbers([study.Audited(several, report)])
    assert (lower.title, upper.title) == ("fooled, AP", "fooled, upper")
    assert (study.fooled(lower), study.fooled(upper)) == (False, True)
    text = study.render([study.Audited(several, report)])
    assert "**1 of 2 numbers can be fooled:**" in text
    assert "| zeros | exploitable | upper: " in text
    assert text.count("| zeros | exploitable |") == 1


def test_verdicts_of_several_attacks() -> None:
    def found(attack: str, verdict: Verdict, score: float | None) -> Finding:
        return Finding(attack, "score", verdict, score, None, None, None, "")

    held, worse = found("nan", Verdict.HELD, 0.1), found("some nan", Verdict.NOT_A_NUMBER, math.nan)
    assert study.said([held, held]) == "held, 0.1000"
    assert study.said([held, worse]) == "nan: held, 0.1000; some nan: not a number"


def test_report_and_picture(audited: list[study.Audited], tmp_path: Path) -> None:
    text = study.render(audited)
    assert "**1 of 1 numbers can be fooled:**" in text
    assert "and so not measured: absent." in text
    assert "print(tp.audit('zoo:stable_sort', attacks=[" in text
    assert "### fooled" in text
    rows = [line for line in text.splitlines() if line.startswith("| fooled")]
    assert len(rows) == 2
    study.draw(audited, tmp_path / "blind.svg")
    assert "best blind system" in (tmp_path / "blind.svg").read_text()


@pytest.mark.parametrize(("score", "said"), [(1.0, False), (1.5, True)])
def test_a_score_above_one_has_its_sentence(
    score: float, said: bool, audited: list[study.Audited], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = Finding("zeros", "blind", Verdict.EXPLOITABLE, score, 0.1, 0.01, 9.0, "")
    monkeypatch.setattr(study, "best_blind", lambda number: best)
    assert ("No ranking has a score above 1 (fooled, AP):" in study.render(audited)) is said
    study.draw(audited, tmp_path / "blind.svg")
    assert ("1: no ranking scores more" in (tmp_path / "blind.svg").read_text()) is said
