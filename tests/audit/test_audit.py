"""Attacks on evaluators: each attack finds the defect that it is made for, and accuses no correct evaluator."""

import json
import math
import re
import statistics
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
import zoo
import zoo_honest
from pages import run_page
from smaller_audits import few_items
from tieproof.trials.audit import ATTACKS, AuditReport, Command, Finding, Verdict
from tieproof.trials.audit.blind import LAYOUTS_OF
from tieproof.trials.audit.cases import CLASSES, LAYOUTS, Case, Writing, of_unequal_size
from tieproof.trials.audit.changes import data_case
from tieproof.trials.audit.conventions import CONVENTIONS, written_lines
from tieproof.trials.audit.examination import WHERE, Examination, Options
from tieproof.trials.audit.luck import Luck, is_gain, tail
from tieproof.trials.audit.outcomes import Outcome, attempt

SEEDS = [0, pytest.param(1, marks=pytest.mark.heavy), pytest.param(2, marks=pytest.mark.heavy)]
"""One seed is always tested, the others only with the heavy tests."""

audit = partial(tp.audit, items=60, queries=60)
"""Fewer items than usual: a defect that is found with these is found with more."""

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

BLIND = [
    attack.name
    for attack in ATTACKS.values()
    if attack.kind == "blind" and not attack.thorough and WHERE[attack.only](CONVENTIONS["embeddings"], Options())
]


@pytest.mark.trials
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CAUGHT)
def test_every_defect_is_caught_by_its_attack(name: str, seed: int) -> None:
    attack, verdict = CAUGHT[name]
    items = 240 if name == "cut_before_the_tie_rule" else 60  # of which it ranks 50
    report = audit(getattr(zoo, name), attacks=[attack], seed=seed, items=items)
    assert report.finding(attack).verdict == verdict
    assert not report.held
    assert report.exploitable == (verdict == "exploitable")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["lower", "expected", "lower_of_gallery"])
def test_honest_evaluators_are_acquitted(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed == 0:
        few_items(monkeypatch)
    report = audit(getattr(zoo, name), seed=seed, distance="euclidean", measure="AP")
    assert [finding for finding in report.findings if not finding.verdict.harmless] == []
    assert report.held
    assert not report.exploitable
    assert {finding.attack for finding in report.findings} >= {*BLIND, "order search", "interval", "permuting items"}


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.heavy) for seed in (3, 4, 5))])
def test_chance_is_no_exploit(seed: int) -> None:
    """If ties are broken at random, blind systems score like random embeddings, sometimes more and sometimes less."""
    report = audit(zoo.breaks_ties_by_chance, attacks=[*BLIND, "order search"], seed=seed)
    assert not report.exploitable
    assert {finding.verdict for finding in report.findings} <= {Verdict.HELD, Verdict.REFUSED, Verdict.CHANGES}


@pytest.mark.trials
def test_the_defect_is_named_and_nothing_else_is_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    few_items(monkeypatch)
    report = audit(zoo.by_size_of_numbers)
    assert {f.attack for f in report.findings if not f.verdict.harmless} <= {
        "scaling",
        "denormals",
        "underflow",
        "huge norms",
    }
    report = audit(zoo.nan_is_nearest, attacks=BLIND)
    assert {f.attack for f in report.findings if f.verdict is Verdict.EXPLOITABLE} == {
        "nan",
        "some nan",
        "mostly nan",
    }


# Accidents


@pytest.mark.parametrize(
    ("name", "verdict", "said"),
    [
        ("raises_index_error", "crashed", "IndexError: list index out of range"),
        ("returns_text", "crashed", "returned a str; a number or a dict of numbers was expected"),
        ("returns_much", "too much output", "returned 5,000 numbers, more than 1,000"),
        ("leaves", "crashed", "called sys.exit(0)"),
        ("hangs", "timed out", "took longer than 3 seconds"),
        ("prints", "too much output", "printed more than 1,000,000 characters"),
    ],
)
def test_accidents_are_findings(name: str, verdict: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = audit(getattr(zoo, name), attacks=["zeros", "duplicates"], time_limit=1)
    found = report.finding("zeros")
    assert (found.verdict, found.score) == (verdict, None)
    assert said in found.detail
    assert report.finding("duplicates").verdict == "held"
    assert not report.held
    assert not report.exploitable
    assert capsys.readouterr() == ("", "")


@pytest.mark.trials
@pytest.mark.parametrize(
    ("name", "verdict", "said"),
    [
        ("ends_its_process", "crashed", "its process ended with status 7"),
        ("floods", "too much output", "printed more than 1,000,000 characters"),
        ("hangs", "timed out", "took longer than 6 seconds"),
        ("raises_index_error", "crashed", "IndexError"),
    ],
)
def test_accidents_end_in_a_process_of_its_own(name: str, verdict: str, said: str) -> None:
    report = audit(f"zoo:{name}", takes="embeddings", attacks=["zeros", "duplicates"], time_limit=2, isolate=True)
    assert report.finding("zeros").verdict == verdict
    assert said in report.finding("zeros").detail
    assert report.finding("duplicates").verdict == "held"


@pytest.mark.trials
def test_isolation_changes_no_number() -> None:
    attacks = ["zeros", "ten vectors", "nan", "permuting items", "order search"]
    here, apart = (audit(zoo.stable_sort_of_gallery, attacks=attacks, isolate=isolate) for isolate in (False, True))
    assert [f.__dict__ | {"reproduce": ""} for f in here.findings] == [
        f.__dict__ | {"reproduce": ""} for f in apart.findings
    ]


def test_isolation_needs_a_name() -> None:
    with pytest.raises(tp.InputError, match="no name by which a separate process could import"):
        audit(lambda embeddings, labels: 0.5, isolate=True)


def test_an_evaluator_that_fails_on_random_embeddings() -> None:
    def crashes(embeddings: Any, labels: Any) -> float:
        return [0.5][len(labels)]

    with pytest.raises(
        tp.InputError, match=r"fails on random embeddings \(IndexError: .*embeddings float32 \(60, 16\)"
    ):
        audit(crashes)
    with pytest.raises(tp.InputError, match=r"refuses random embeddings \(TypeError: .*expects other") as refused:
        audit(zoo.lower, takes="gallery")
    assert refused.value.__notes__[0].splitlines() == [
        '# audited.py, for tieproof audit audited:evaluator --takes "gallery"',
        "from zoo import lower",
        "",
        "def evaluator(queries, query_labels, gallery, gallery_labels):",
        "    answer = lower(queries, query_labels, gallery, gallery_labels)  # change this line to what it expects",
        "    return float(answer)  # or a dict of numbers by their names",
    ]


def test_an_evaluator_cannot_change_the_data_of_the_next_call() -> None:
    def clears(embeddings: Any, labels: Any) -> float:
        score = zoo.lower(embeddings, labels)
        embeddings[:] = 0
        labels[:] = 0
        return score

    assert audit(clears, attacks=["zeros", "calling again", "permuting items"]).held


# What it takes


def of_matrix(sign: int) -> Callable[..., float]:
    def evaluator(values: Any, query_labels: Any, gallery_labels: Any) -> float:
        zoo.refuse(values)
        return zoo.mean_average_precision(zoo.pessimistic(sign * values, query_labels[:, None] == gallery_labels))

    return evaluator


def of_relevance(scores: Any, relevance: Any) -> float:
    return tp.evaluate_scores(scores, relevance, measures=["AP"])["AP"].lower


def of_run(qrels: Any, run: Any) -> float:
    return tp.evaluate_run(qrels, run, measures=["AP"])["AP"].lower


HONEST: dict[str, Callable[..., float]] = {
    "embeddings": zoo.lower,
    "gallery": zoo.lower_of_gallery,
    "embeddings and groups": zoo_honest.with_cameras,
    "gallery and groups": zoo_honest.with_cameras_of_gallery,
    "distances": of_matrix(1),
    "scores": of_matrix(-1),
    "relevance": of_relevance,
    "run": of_run,
    "files": of_run,
}


@pytest.mark.trials
@pytest.mark.parametrize("takes", HONEST)
def test_every_convention(takes: str) -> None:
    attacks = ["zeros", "nan", "duplicates", "permuting items", "relabelling", "scaling", "interval"]
    written = ["renaming documents", "order of lines"] if takes in ("run", "files") else []
    written += ["rank column"] if takes == "files" else []
    report = audit(
        HONEST[takes],
        takes=takes,
        attacks=attacks + written,
        measure="AP",
        distance="euclidean",
        seed=3,
        items=60,
        queries=40,
    )
    assert report.held, report
    assert len(report.findings) == len(attacks + written)
    assert "(the lower bound); AP has the lower bound " in report.finding("interval").detail


@pytest.mark.parametrize(
    ("evaluator", "takes"),
    [
        (lambda embeddings, labels: 0.5, "embeddings"),
        (lambda embeddings, labels, cameras: 0.5, "embeddings and groups"),
        (lambda embeddings, labels, groups, measure="AP": 0.5, "embeddings and groups"),
        (lambda queries, query_labels, gallery, gallery_labels: 0.5, "gallery"),
        (lambda queries, query_labels, query_cameras, gallery, gallery_labels, cameras: 0.5, "gallery and groups"),
    ],
)
def test_parameters_tell_how_an_evaluator_is_called(evaluator: Callable[..., float], takes: str) -> None:
    assert audit(evaluator, attacks=["zeros"]).takes == CONVENTIONS[takes].takes


def test_other_columns_are_handed_in_as_groups() -> None:
    """A mean over categories of their means; categories do not determine which items are relevant."""

    def by_category(embeddings: Any, labels: Any, categories: Any) -> float:
        zoo.refuse(embeddings)
        ranked = zoo.pessimistic(*zoo.leave_one_out(embeddings, labels))
        own = [ranked[categories == category] for category in np.unique(categories)]
        return float(np.mean([zoo.mean_average_precision(rows) for rows in own]))

    assert audit(by_category, attacks=["zeros", "duplicates", "permuting items", "relabelling"]).held


def by_document(qrels: Any, run: Any) -> float:
    """Breaks ties by the name of the document, the last one first."""
    values = []
    for query, documents in run.items():
        ranked = sorted(documents, key=lambda name: (documents[name], name), reverse=True)
        relevant = np.array([[qrels[query][name] > 0 for name in ranked]])
        values.append(zoo.mean_average_precision(relevant))
    return float(np.mean(values))


def by_line(qrels: Any, run: Any) -> float:
    """Breaks ties by the order of the lines."""
    values = []
    for query, documents in run.items():
        ranked = sorted(documents, key=documents.get, reverse=True)
        values.append(zoo.mean_average_precision(np.array([[qrels[query][name] > 0 for name in ranked]])))
    return float(np.mean(values))


def rows_of(qrels: str, run: str) -> tuple[dict[tuple[str, str], int], list[list[str]]]:
    """The grades by query and document, and the fields of each line of the run."""
    lines = [[line.split() for line in Path(path).read_text().splitlines()] for path in (qrels, run)]
    return {(query, document): int(grade) for query, _, document, grade in lines[0]}, lines[1]


def in_the_best_lines(once: bool) -> Callable[[str, str], float]:
    """The share of relevant documents on the best 20 lines of each query; without `once`, a line may come twice."""

    def evaluator(qrels: str, run: str) -> float:
        relevant, rows = rows_of(qrels, run)
        ranked: dict[str, list[tuple[float, str]]] = {}
        for query, _, document, _, score, _ in rows:
            if not once or (-float(score), document) not in ranked.get(query, ()):
                ranked.setdefault(query, []).append((-float(score), document))
        return float(np.mean([relevant[query, name] for query in ranked for _, name in sorted(ranked[query])[:20]]))

    return evaluator


def refuses_repeats(qrels: str, run: str) -> float:
    """Refuses a run that lists a document twice."""
    _, rows = rows_of(qrels, run)
    if len({(query, document) for query, _, document, *_ in rows}) < len(rows):
        raise ValueError("A document is listed twice.")
    return in_the_best_lines(True)(qrels, run)


@pytest.mark.parametrize(
    ("evaluator", "verdict"),
    [(in_the_best_lines(False), "changes"), (in_the_best_lines(True), "held"), (refuses_repeats, "refused")],
)
def test_a_line_that_comes_twice_counts_once_or_is_refused(evaluator: Callable[..., float], verdict: str) -> None:
    report = audit(evaluator, takes="files", attacks=["repeated lines"], items=40, queries=40)
    assert [str(finding.verdict) for finding in report.findings] == [verdict]


def by_rank(qrels: str, run: str) -> float:
    """Sorts by the rank column of the file."""
    relevant, rows = rows_of(qrels, run)
    ranked: dict[str, list[tuple[int, bool]]] = {}
    for query, _, document, rank, _, _ in rows:
        ranked.setdefault(query, []).append((int(rank), relevant[query, document] > 0))
    return float(
        np.mean([zoo.mean_average_precision(np.array([[hit for _, hit in sorted(r)]])) for r in ranked.values()])
    )


@pytest.mark.trials
@pytest.mark.parametrize(
    ("evaluator", "takes", "caught"),
    [
        (by_document, "run", {"renaming documents"}),
        (by_line, "run", {"order of lines", "permuting items"}),
        (by_rank, "files", {"rank column", "permuting items"}),
    ],
)
def test_how_a_run_is_written(evaluator: Callable[..., float], takes: str, caught: set[str]) -> None:
    attacks = ["renaming documents", "order of lines", "permuting items"]
    attacks += ["rank column"] if takes == "files" else []
    report = audit(evaluator, takes=takes, attacks=attacks, items=60, queries=40)
    assert {finding.attack for finding in report.findings if not finding.verdict.harmless} == caught


@pytest.mark.trials
def test_a_command(tmp_path: Any) -> None:
    script = tmp_path / "lower.py"
    script.write_text(
        "import sys, tieproof as tp\n"
        "print('map', 'all', tp.evaluate_run(*sys.argv[1:], measures=['AP'])['AP'].lower, sep='\\t')\n"
    )
    command = Command(f"{sys.executable} {script} {{qrels}} {{run}}")
    outcome = attempt(command, CONVENTIONS["files"], one_case("files"), {}, 60)
    assert outcome.values == {"map": of_run(*CONVENTIONS["run"].arguments(one_case("run")))}
    failing = Command(f"{sys.executable} -c 'import sys; sys.exit(\"no such measure\")' {{qrels}} {{run}}")
    assert attempt(failing, CONVENTIONS["files"], one_case("files"), {}, 60)[1:] == (
        "refused",
        "ValueError: the command exited with status 1: no such measure",
    )
    hanging = Command(f"{sys.executable} -c 'import time; time.sleep(60)' {{qrels}} {{run}}")
    assert attempt(hanging, CONVENTIONS["files"], one_case("files"), {}, 1).problem == "timed out"
    flooding = Command(f"{sys.executable} -c 'while True: print(1)' {{qrels}} {{run}}")
    assert attempt(flooding, CONVENTIONS["files"], one_case("files"), {}, 60).problem == "too much output"


def one_case(takes: str) -> Case:
    convention = CONVENTIONS[takes]
    return data_case(Examination(convention, Options(), lambda case, settings: Outcome({})), "tied")


@pytest.mark.parametrize(
    ("template", "said"),
    [("trec_eval {qrels}", "has no {run}"), ("trec_eval '{qrels} {run}", "cannot be split into words")],
)
def test_commands_that_are_refused(template: str, said: str) -> None:
    with pytest.raises(tp.InputError, match=said):
        Command(template)


# Texts, files and results of an audit


def test_smaller_is_better() -> None:
    attacks = ["zeros", "ten vectors"]
    assert audit(zoo.lower_error, attacks=attacks, larger_is_better=False).held

    def upper_error(embeddings: Any, labels: Any) -> float:
        return 1 - zoo.upper(embeddings, labels)

    report = audit(upper_error, attacks=attacks, larger_is_better=False, items=150)
    assert report.exploitable
    found = report.finding("zeros")
    assert found.score == 0
    assert found.deviations is not None
    assert found.deviations > 100


def test_numbers_by_name() -> None:
    report = audit(zoo.several, attacks=["zeros", "order search", "interval"], measure={"AP": "AP"})
    assert report.finding("zeros", "AP").verdict == "held"
    assert report.finding("zeros", "upper").verdict == "exploitable"
    assert report.finding("order search", "upper").verdict == "held"
    assert {f.measure for f in report.findings if f.attack == "interval"} == {"AP"}
    with pytest.raises(tp.InputError, match="has no attack 'nan'; it has zeros, order search, interval"):
        report.finding("nan")


def test_limits() -> None:
    def hundredfold(embeddings: Any, labels: Any) -> float:
        return 100 * zoo.lower(embeddings, labels)

    with pytest.raises(tp.InputError, match=r"gives .* for random embeddings, outside the limits 0 and 1\. Pass"):
        audit(hundredfold, attacks=["zeros"])
    found = audit(zoo.divides_by_distinct_distances, attacks=["zeros"]).finding("zeros")
    assert "outside [0, 1]" in found.detail
    assert audit(hundredfold, attacks=["zeros"], limits=(0, 100)).held
    assert audit(hundredfold, attacks=["zeros"], limits=None).held


def test_settings_that_must_not_matter() -> None:
    report = audit(zoo.by_batch, attacks=["settings"], vary={"batch_size": [50, 200]})
    assert report.finding("settings").verdict == "changes"
    assert "batch_size=" in report.finding("settings").detail
    assert audit(harmless_setting, attacks=["settings"], vary={"threads": [1, 2]}).held


def harmless_setting(embeddings: Any, labels: Any, threads: int = 1) -> float:
    return zoo.lower(embeddings, labels)


def test_outside_the_interval() -> None:
    found = audit(
        zoo.divides_by_distinct_distances, attacks=["interval"], measure="AP", distance="euclidean", items=240
    ).finding("interval")
    assert found.verdict == "outside the interval"
    assert found.detail.startswith("On tied data, the score is 2.")


def test_the_scores_are_those_of_the_definition() -> None:
    """All zeros, ranked by index: the classes follow each other, and the query itself is excluded."""
    found = audit(zoo.stable_sort, attacks=["zeros"]).finding("zeros")
    labels = of_unequal_size(60) if "smallest" in found.detail else CLASSES - 1 - of_unequal_size(60)[::-1]
    values = []
    for query in range(60):
        ranked = np.delete(labels, query) == labels[query]
        values.append(np.mean(np.arange(1, ranked.sum() + 1) / (np.flatnonzero(ranked) + 1)))
    assert found.score == pytest.approx(np.mean(values), rel=1e-12)


def test_the_same_seed_gives_the_same_report() -> None:
    attacks = ["ten vectors", "duplicates", "order search", "permuting items"]
    one, same, other = (audit(zoo.stable_sort, attacks=attacks, seed=seed) for seed in (5, 5, 6))
    assert one.to_dict() == same.to_dict()
    assert one.to_dict()["findings"] != other.to_dict()["findings"]


def test_reports() -> None:
    report = audit(zoo.several, attacks=["zeros", "nan"])
    whole = json.loads(report.to_json())
    assert whole == report.to_dict()
    assert (whole["exploitable"], whole["held"]) == (True, False)
    assert set(whole["findings"][0]) == {
        *("attack", "measure", "verdict", "score", "random_mean", "random_std", "deviations", "detail", "reproduce"),
        *("renamed", "interval"),
    }
    text, page = str(report), report.to_markdown()
    for shown in (text, page):
        assert "EXPLOITABLE: 1 of 2 attacks" in " ".join(shown.split())
        assert report.finding("zeros").reproduce in shown
    assert page.count("\n| zeros | upper | exploitable | 1.0000 |") == 1
    assert "exploitable" not in audit(zoo.lower, attacks=["zeros"]).to_markdown()


def test_numbers_that_json_has_no_word_for() -> None:
    report = audit(zoo.nan_passes_through, attacks=["nan"])
    assert math.isnan(report.finding("nan").score or 0)
    assert json.loads(report.to_json())["findings"][0]["score"] is None


def test_a_constant_is_a_finding_of_its_own_and_no_fault() -> None:
    """Random embeddings and blind systems always have the same score, so that no blind system gains anything."""
    report = audit(lambda embeddings, labels: 0.5)
    assert report.held
    assert report.finding("random embeddings").verdict == "always the same"


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"takes": "vectors"}, "Unknown takes='vectors'. Known: embeddings, gallery"),
    ({"attacks": ["one"]}, "Unknown attack 'one'. Known: zeros, constant"),
    ({"attacks": ["rank column"]}, "'rank column' does not apply"),
    ({"attacks": ["interval"]}, "'interval' does not apply"),
    ({"measure": "mAPP"}, "Unknown measure 'mAPP'"),
    ({"distance": "far"}, "Unknown distance 'far'"),
    ({"time_limit": 0}, "time_limit must be a number of seconds above 0"),
    ({"time_limit": math.nan}, "time_limit must be a number of seconds above 0 and at most 1,000,000, not nan"),
    ({"time_limit": math.inf}, "not inf"),
    ({"time_limit": "30"}, "not '30'"),
    ({"limits": (1, 0)}, "limits must be"),
    ({"seed": -1}, "seed must be a whole number"),
]


@pytest.mark.parametrize(("options", "said"), BAD_OPTIONS)
def test_options_that_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(tp.InputError, match=re.escape(said)):
        audit(zoo.lower, **options)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("zoo", "'zoo' does not name an evaluator: write package.module:function"),
        ("no_such_module:f", "no_such_module cannot be imported: ModuleNotFoundError"),
        ("zoo:nothing", "zoo has no 'nothing'"),
        ("zoo:CALLS", "'zoo:CALLS' is of type count, but must be a function"),
    ],
)
def test_names_that_are_refused(name: str, said: str) -> None:
    with pytest.raises(tp.InputError, match=re.escape(said)):
        audit(name)


def test_parameters_that_tell_nothing() -> None:
    with pytest.raises(tp.InputError, match=r"parameters of the evaluator do not tell how to call it\. Pass takes="):
        audit(lambda matrix, rows, columns: 0.5)


def test_luck_is_a_two_step_test() -> None:
    random = Luck.of([0.1, 0.2, 0.3])
    assert random == pytest.approx((0.2, 0.1, 3))
    assert not random.is_suspicious(0.4, 1)
    assert random.is_suspicious(0.41, 1)
    assert random.is_suspicious(-0.01, -1)
    assert is_gain(Luck(0.04, 0.0, 5), 1e-9)
    assert is_gain(Luck(0.04, 0.001, 5), 1e-6)
    assert not is_gain(Luck(0.04, 0.04, 5), 1e-6)
    assert not is_gain(Luck(-0.04, 0.001, 5), 1e-6)


@pytest.mark.parametrize("scores", [[1e300, 3e300, 2e300], [-8e307, 8e307, 8e307], [0.25, 1e200]])
def test_luck_of_huge_scores(scores: list[float]) -> None:
    found = Luck.of(scores)
    assert found.mean == pytest.approx(float(statistics.mean(map(Fraction, scores))), rel=1e-12)
    assert found.std == pytest.approx(float(statistics.stdev(map(Fraction, scores))), rel=1e-12)


def test_an_evaluator_of_huge_scores_gets_a_report() -> None:
    def largest(qrels: Any, run: Any) -> float:
        return float(sum(max(each.values()) for each in run.values()) / len(run))

    report = str(tp.audit(largest, takes="run", attacks=["overflow"]))
    assert "e+300, outside [0, 1]" in " ".join(report.split())


@pytest.mark.parametrize(("freedom", "t", "p"), [(4, 4.604, 0.005), (8, 4.501, 0.001), (16, 4.015, 0.0005)])
def test_student_as_in_tables(freedom: int, t: float, p: float) -> None:
    assert tail(t, freedom) == pytest.approx(p, rel=1e-3)


def test_one_answer_for_all_queries_is_not_tried_where_most_items_are_of_one_class() -> None:
    """The class of most of five neighbors is nearly always the largest one's, so that a few draws show only gains."""
    alike = [name for name in ATTACKS if "hub" in name or "on top" in name or "above a tie" in name]
    assert len(alike) > 10
    for name in [*alike, "one ranking", "one farthest"]:
        for layout in LAYOUTS_OF[ATTACKS[name].layouts]:
            assert np.bincount(LAYOUTS[layout].labels(240, np.random.default_rng(0))).max() <= 120


def test_layouts() -> None:
    random = np.random.default_rng(0)
    unequal = ("largest first", "smallest first", "two classes")
    for count in (60, 200):
        laid = {name: layout.labels(count, random) for name, layout in LAYOUTS.items()}
        assert all(len(labels) == count for labels in laid.values())
        assert {tuple(np.bincount(laid[n])) for n in laid if n not in unequal} == {(count // CLASSES,) * CLASSES}
        assert np.bincount(laid["two classes"]).tolist() == [count * 3 // 4, count // 4]
        for name, step in (("largest first", -1), ("smallest first", 1)):
            assert (np.diff(laid[name]) >= 0).all()
            sizes = np.bincount(laid[name])[::step]
            assert sizes.min() >= 2
            assert (np.diff(sizes) >= 0).all()
            assert sizes[-1] > 3 * sizes[0]
        assert (laid["interleaved"][:3] == [0, 1, 2]).all()


PAGE = Path(__file__).parents[2] / "docs" / "audit.md"


def test_attacks_run_kind_by_kind() -> None:
    kinds = [*dict.fromkeys(each.kind for each in ATTACKS.values())]
    assert kinds == ["blind", "order", "truth", "must not matter", "good system", "recall"]


def test_page_lists_all_that_an_evaluator_may_take() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for convention in CONVENTIONS.values():
        assert f"| `{convention.name}` | {convention.takes} |\n" in page


@pytest.mark.heavy
def test_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    report = run_page("docs/audit.md")["report"]
    assert isinstance(report, tp.AuditReport)
    assert report.exploitable
    assert "zeros, exploitable: On the layout" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "writing", [Writing(), Writing(names=5), Writing(lines=6), Writing(names=3, lines=4), Writing(empty=True)]
)
@pytest.mark.parametrize("some", [False, True])
def test_dictionaries_say_what_the_lines_say(writing: Writing, some: bool) -> None:
    """Dictionaries have the order of the lines, and contain repeated entries once."""
    random = np.random.default_rng(2)
    listed = random.integers(0, 3, size=(7, 4)) * np.array([0, 1, 1, 1]) if some else None
    labels, query_labels = random.integers(3, size=7), random.integers(3, size=4)
    case = Case(random.random((7, 4)), labels, query_labels=query_labels, listed=listed, writing=writing)
    for lines, value, found in zip(written_lines(case), (3, 4), CONVENTIONS["run"].arguments(case), strict=True):
        expected: dict[str, dict[str, float]] = {}
        for words in map(str.split, lines):
            expected.setdefault(words[0], {})[words[2]] = float(words[value])
        filled = {query: list(documents.items()) for query, documents in found.items() if documents}
        assert filled == {query: list(documents.items()) for query, documents in expected.items()}
        if not writing.empty:
            assert list(filled) == list(expected)
        assert len(found) == (4 if writing.empty or listed is None or value == 3 else 3)


def test_the_likely_cause_and_its_repair_come_before_the_findings() -> None:
    """Evaluators with one fault each, which the sentence has to name."""

    def in_favor_of_relevant_items(embeddings: Any, labels: Any) -> float:
        return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper

    def with_nan_as_zeros(embeddings: Any, labels: Any) -> float:
        return tp.evaluate(np.nan_to_num(embeddings), labels, measures=["AP"])["AP"].upper

    asked = ["zeros", "constant", "two vectors", "nan"]
    reports = [tp.audit(evaluator, attacks=asked) for evaluator in (in_favor_of_relevant_items, with_nan_as_zeros)]
    one, other = (" ".join(str(report).split()) for report in reports)
    assert one.count("Likely cause: ") == 1
    assert other.count("Likely cause: ") == 2
    assert "ties follow the order of the data" in one
    assert "NaN or infinity is ranked instead of refused" in other
    assert one.index("Likely cause") < one.index("Shown by 3 attacks: zeros, exploitable: On the layout")
    assert "two vectors, exploitable" not in one
    assert "two vectors, exploitable" in reports[0].to_text(explain=True)


def said_of(evaluator: Callable[..., Any], **options: Any) -> tuple[tp.AuditReport, str]:
    report = audit(evaluator, **options)
    return report, " ".join(str(report).split())


TIED = ["zeros", "constant", "two vectors", "duplicates", "groups of four"]


def test_refused_attacks_are_counted_and_nothing_is_held_if_most_are() -> None:
    def refuses_ties(embeddings: Any, labels: Any) -> float:
        if len(np.unique(embeddings, axis=0)) < len(embeddings):
            raise ValueError("Equal rows cannot be ranked.")
        return zoo.lower(embeddings, labels)

    report, said = said_of(zoo.lower, attacks=["zeros", "constant", "nan"])
    assert report.held
    assert "Held: in 3 attacks, no blind system gains" in said
    assert "; 1 of 3 attacks was refused." in said
    assert "by one of the systems that were tried would hardly have been missed." in said
    report, said = said_of(refuses_ties, attacks=TIED)
    assert (report.held, report.exploitable) == (False, False)
    assert "Not held: the evaluator refused nearly all attacks, and the others found nothing; 5 of 5 attacks" in said


def test_attacks_that_crashed_are_counted_and_say_nothing_of_gains() -> None:
    def without_ties(embeddings: Any, labels: Any) -> float:
        if len(np.unique(embeddings, axis=0)) < len(embeddings):
            raise IndexError("ties")
        return zoo.lower(embeddings, labels)

    report, said = said_of(without_ties, attacks=["one ranking", *TIED])
    assert not report.held
    assert "Not held: 5 of 6 attacks found a problem; 5 of 6 attacks were left without a number." in said
    assert "blind system" not in said
    assert "hardly" not in said


def test_an_attack_that_would_show_the_same_again_is_not_made() -> None:
    attacks = ["zeros", "zeros of much data", "permuting items", "permuting at other sizes"]
    sorted_by_data = audit(zoo.stable_sort, attacks=attacks, items=80)
    assert {finding.attack for finding in sorted_by_data.findings} == {"zeros", "permuting items"}
    assert {finding.attack for finding in audit(zoo.lower, attacks=attacks, items=80).findings} == {*attacks}
    assert audit(zoo.stable_sort, attacks=[attacks[1]], items=80).exploitable


def test_nothing_is_said_of_attacks_that_were_not_made() -> None:
    report, said = said_of(lambda embeddings, labels: math.nan)
    assert not report.held
    assert "Not held: random embeddings show a problem, so no attack was made." in said


@pytest.mark.parametrize("verdict", [each for each in Verdict if not each.harmless])
def test_every_fault_has_a_likely_cause_and_a_repair(verdict: Verdict) -> None:
    finding = Finding("zeros", "score", verdict, detail="It is so.")
    said = AuditReport("f", "(a, b)", 0, [finding]).to_text()
    assert "Likely cause: " in said
    assert "To repair it" in " ".join(said.split())
    assert said.count("\n") < 12
