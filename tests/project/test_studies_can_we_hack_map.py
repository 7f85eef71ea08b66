"""The study of evaluators: each is called as it should be, and the tables say what the reports do."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import original_oml
import tieproof as tp
import zoo
from studies.can_we_hack_map import evaluators, study
from studies.can_we_hack_map.subjects import SUBJECTS, Subject
from tieproof.audit import Finding, Verdict
from tieproof.audit.conventions import CONVENTIONS
from tieproof.audit.data import data_case
from tieproof.audit.examination import Examination, Options
from tieproof.audit.outcomes import Outcome
from tieproof.audit.truth import truth
from tieproof.measures import AP

OURS = [subject for subject in SUBJECTS if subject.package in ("tieproof", "")]
THEIRS = [subject for subject in SUBJECTS if subject not in OURS]


def examination(subject: Subject) -> Examination:
    options = Options(distance=subject.distance or "cosine")
    return Examination(CONVENTIONS[subject.takes], options, lambda case, settings: Outcome({}))


def agrees_without_ties(subject: Subject) -> None:
    looked_at = examination(subject)
    case = data_case(looked_at, "random")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = looked_at.convention.call(getattr(evaluators, subject.function), case, {})
    assert value == pytest.approx(truth(looked_at, case, AP).lower, rel=1e-6)


@pytest.mark.parametrize("subject", OURS, ids=lambda subject: subject.name)
def test_our_lines_compute_average_precision(subject: Subject) -> None:
    if subject.distance is not None:
        agrees_without_ties(subject)


@pytest.mark.heavy
@pytest.mark.parametrize("subject", THEIRS, ids=lambda subject: subject.name)
def test_libraries_compute_average_precision(subject: Subject) -> None:
    if not subject.installed:
        pytest.skip(f"{subject.package} is not installed")
    if subject.module == "oml":
        original_oml.load()
    agrees_without_ties(subject)


def test_deep_hashing_loop_by_hand() -> None:
    queries, gallery = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [-1.0, 1.0], [-1.0, -2.0]])
    # Hamming distances 0, 1 and 2; relevant at ranks 1 and 3.
    value = evaluators.deep_hashing_loop(queries, np.array([7]), gallery, np.array([7, 8, 7]))
    assert value == pytest.approx((1 + 2 / 3) / 2)


def test_paper_method_drops_the_nearest() -> None:
    """Where a query has a twin of another class, D - E puts the twin first, and the query itself stays."""
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    labels = np.array([0, 1, 0, 1])
    # Each: its twin is dropped; the rest is itself (relevant), one irrelevant, one relevant: (1 + 2/3) / 1.
    assert evaluators.paper_method(vectors, labels) == pytest.approx(5 / 3)


FOOLED = Subject("fooled", "f", "embeddings", "", "", "says nothing")
ABSENT = Subject("absent", "f", "embeddings", "no_such_module", "no-such-package", "says nothing")


@pytest.fixture(scope="module")
def audited() -> list[study.Audited]:
    attacks = ["zeros", "nan", "some nan", "infinity", "permuting items", "order search", "interval"]
    report = tp.audit(zoo.stable_sort, attacks=attacks, measure="AP", distance="euclidean")
    return [study.Audited(FOOLED, report), study.audit(ABSENT)]


def test_rows_say_what_the_report_says(audited: list[study.Audited]) -> None:
    report = audited[0].report
    assert report is not None
    best = study.best_blind(report)
    assert best is not None
    assert best.deviations == max(f.deviations for f in report.findings if f.deviations is not None)
    assert study.blind_row(audited[0])[2:5] == ["exploitable", best.attack, f"{best.score:.4f}"]
    name, order, nan, infinity, tied, says = study.other_row(audited[0])
    assert (name, nan, infinity, says) == ("fooled", "refused", "refused", "says nothing")
    assert order.startswith("permuting items; 67 orders of zeros print ")
    assert ", inside: lower " in tied
    assert study.blind_row(audited[1])[1:3] == ["not installed", "not measured"]


def test_verdicts_of_several_attacks() -> None:
    def found(attack: str, verdict: Verdict, score: float | None) -> Finding:
        return Finding(attack, "score", verdict, score, None, None, None, "")

    held, worse = found("nan", Verdict.HELD, 0.1), found("some nan", Verdict.NOT_A_NUMBER, math.nan)
    assert study.said([held, held]) == "held, 0.1000"
    assert study.said([held, worse]) == "nan: held, 0.1000; some nan: not a number"


def test_report_and_picture(audited: list[study.Audited], tmp_path: Path) -> None:
    text = study.render(audited)
    assert "**1 of 1 can be fooled:**" in text
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
    monkeypatch.setattr(study, "best_blind", lambda report: best)
    assert ("A mean average precision above 1 (fooled) is the score of no ranking" in study.render(audited)) is said
    study.draw(audited, tmp_path / "blind.svg")
    assert ("1: no ranking scores more" in (tmp_path / "blind.svg").read_text()) is said
