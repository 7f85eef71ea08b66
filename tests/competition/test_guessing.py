"""Attacks by guesses find out what a program shows beside rounded scores, whatever the form of the truth."""

import hashlib
import hmac
import itertools
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bundles import write_table
from tieproof.evaluation.result import Result
from tieproof.trials.audit import Finding, Verdict
from tieproof.trials.audit.luck import Luck
from tieproof.trials.competition import ATTACKS, Scoring
from tieproof.trials.competition.inspection.attacks import Material, secret_in
from tieproof.trials.competition.inspection.checking import judge
from tieproof.trials.competition.inspection.forms import form_of
from tieproof.trials.competition.inspection.guessing import Game, differences
from tieproof.trials.competition.inspection.judging import Scored, TaskTrial
from tieproof.trials.competition.scoring import scored, shown

ITEMS, CLASSES = 24, 4
IDS = [f"{at * 7919 % 1000:03}" for at in range(ITEMS)]
LABELS = [at % CLASSES for at in range(ITEMS)]
ROWS = np.random.default_rng(1).normal(size=(ITEMS, 6))

Forms = dict[str, Callable[[Path, Path], None]]


def table(*columns: tuple[str, Any], names: bool = True) -> Callable[[Path, Path], None]:
    """A truth as a table, and a sample with or without ids, whose rows are then in the order of the sorted ids."""

    def write(truth: Path, sample: Path) -> None:
        rows = sorted(zip(IDS, *(values for _, values in columns), strict=True))
        write_table(truth / "labels.csv", [("id", *(name for name, _ in columns)), *rows])
        if names:
            np.savez(sample / "embeddings.npz", ids=np.array(IDS), embeddings=ROWS)
        else:
            np.save(sample / "embeddings.npy", ROWS)

    return write


def judgments(truth: Path, sample: Path) -> None:
    pairs = [(query, document) for query in range(6) for document in range(18)]
    (truth / "qrels.txt").write_text(
        "".join(f"q{one} 0 d{other:02} {int(other // 3 == one)}\n" for one, other in pairs)
    )
    scores = np.random.default_rng(2).random(len(pairs)).tolist()
    lines = (f"q{one} Q0 d{other:02} 1 {score} x\n" for (one, other), score in zip(pairs, scores, strict=True))
    (sample / "run.txt").write_text("".join(lines))


ROLES = ["query" if at < 8 else "gallery" for at in range(ITEMS)]
CAMERAS, TWO_CAMERAS = ([at // CLASSES % count for at in range(ITEMS)] for count in (3, 2))
FORMS: Forms = {
    "labels by id": table(("label", LABELS)),
    "labels in the order of the rows": table(("label", LABELS), names=False),
    "cameras": table(("label", LABELS), ("group", CAMERAS)),
    "a gallery": table(("label", LABELS), ("role", ROLES)),
    "a gallery with cameras": table(("label", LABELS), ("group", TWO_CAMERAS), ("role", ROLES)),
    "judgments": judgments,
}

Shows = Callable[[Result], str]


def digest(result: Result, key: bytes = b"") -> str:
    """Every value of every query, digested as version 1.0.0 did, or with a key."""
    rows = [result.per_query(each) for each in result.measures]
    values = b"".join(getattr(each, name).tobytes() for each in rows for name in ("lower", "expected", "upper"))
    return (hmac.digest(key, values, "sha256") if key else hashlib.sha256(values).digest()).hex()[:16]


TIME = itertools.count()
HARMLESS: dict[str, Shows] = {
    "nothing else": lambda result: "",
    "the time": lambda result: f"scored at {next(TIME)}",
    "a score again": lambda result: f"AP is {result['AP'].lower:.2f} or so",
}
TELLING: dict[str, Shows] = {
    "a digest": digest,
    "a keyed digest": lambda result: digest(result, b"the organizer's secret"),
    "values of queries": lambda result: str(result.per_query("AP").lower.tolist()),
    "the worst query": lambda result: f"worst: {result.query_ids[int(np.argmin(result.per_query('AP').lower))]}",
}


def trial_of(folder: Path, kind: str, show: Shows, digits: int = 4, limit: int | None = 100) -> TaskTrial:
    """The trial of a program that runs in this process."""
    truth, sample = folder / "truth", folder / "sample"
    truth.mkdir()
    sample.mkdir()
    FORMS[kind](truth, sample)
    scoring = Scoring("run" if kind == "judgments" else "embeddings", ("AP",), digits=digits)
    form, secret = form_of(sample), secret_in(truth)

    def scorer(hand_in: Callable[[Path], None], prepare: Callable[[Path], object] = lambda truth: None) -> Scored:
        with tempfile.TemporaryDirectory() as room:
            for name, content in ((path.name, path.read_bytes()) for path in truth.iterdir()):
                (Path(room) / "truth").mkdir()
                (Path(room) / "truth" / name).write_bytes(content)
            if prepare is not None:
                prepare(Path(room) / "truth")
            (Path(room) / "res").mkdir()
            hand_in(Path(room) / "res")
            result = scored(scoring, Path(room) / "truth" / name, Path(room) / "res")
        numbers = shown(scoring, result)
        return Scored(numbers["ap_lower"], numbers=numbers, shown=f"{numbers} {show(result)}")

    def material(attack: str, draw: int) -> Material:
        return Material(form, np.random.default_rng([draw, len(attack)]), {}, "Final", secret)

    scorer.task = SimpleNamespace(name="Final", submissions=limit, larger=True)  # type: ignore[attr-defined]
    return TaskTrial(scorer, material, 0.5, Luck(0.3, 0.01, 3))  # type: ignore[arg-type]


def found(trial: TaskTrial, attack: str) -> Finding:
    finding = judge(trial, ATTACKS[attack])
    assert finding is not None
    return finding


@pytest.mark.parametrize("form", FORMS)
def test_two_truths_with_the_same_scores_differ_in_single_queries(form: str, tmp_path: Path) -> None:
    trial = trial_of(tmp_path, form, lambda result: digest(result), digits=15)
    game = ATTACKS["offline guessing"].make(trial.material("offline guessing", 0))
    assert isinstance(game, Game)
    real, guess = trial.scorer(game), trial.scorer(game, game.suppose)
    assert real.numbers == guess.numbers
    assert real.shown != guess.shown


@pytest.mark.parametrize("form", FORMS)
def test_rounded_scores_alone_hold_and_a_digest_does_not(form: str, tmp_path: Path) -> None:
    for name, verdict in (("nothing else", Verdict.HELD), ("a digest", Verdict.EXPLOITABLE)):
        (tmp_path / name).mkdir()
        trial = trial_of(tmp_path / name, form, (HARMLESS | TELLING)[name])
        assert found(trial, "offline guessing").verdict is verdict


@pytest.mark.parametrize("shows", HARMLESS)
def test_what_depends_on_no_guess_is_harmless(shows: str, tmp_path: Path) -> None:
    finding = found(trial_of(tmp_path, "labels by id", HARMLESS[shows]), "offline guessing")
    assert finding.verdict is Verdict.HELD


@pytest.mark.parametrize("shows", TELLING)
def test_what_tells_guesses_apart_is_found_out(shows: str, tmp_path: Path) -> None:
    """Even with a key: equal digests of two submissions say that they have equal values for every query."""
    finding = found(trial_of(tmp_path, "labels by id", TELLING[shows]), "offline guessing")
    assert finding.verdict is Verdict.EXPLOITABLE
    assert "which other labels with the same scores would change" in finding.detail


def test_the_number_of_submissions_that_recover_a_label(tmp_path: Path) -> None:
    finding = found(trial_of(tmp_path, "labels by id", HARMLESS["nothing else"], limit=30), "hill climbing")
    assert finding.verdict is Verdict.HELD
    # One submission compares an item with an item of one class, and three of four classes have to be tried.
    revealed = 30 // (CLASSES - 1)
    assert f"so about 3 reveal one label, and the 30 allowed ones {revealed} of {ITEMS} labels." in finding.detail
    bits, every = 3 * math.log2(10**4 + 1), ITEMS * math.log2(CLASSES)
    assert f"more than {bits:.0f} bits from a submission; the truth has at most {every:.0f}." in finding.detail
    assert "allow fewer submissions" in finding.detail


def test_enough_submissions_for_all_labels_are_exploitable(tmp_path: Path) -> None:
    enough = ITEMS * (CLASSES - 1)
    for limit, verdict in ((enough, Verdict.EXPLOITABLE), (enough - 1, Verdict.HELD)):
        (tmp_path / str(limit)).mkdir()
        trial = trial_of(tmp_path / str(limit), "labels by id", HARMLESS["nothing else"], limit=limit)
        assert found(trial, "hill climbing").verdict is verdict


def test_few_digits_protect_labels(tmp_path: Path) -> None:
    """Two submissions with three numbers of one digit have at most 6 log2(11) = 21 bits, but the labels have 48."""
    finding = found(trial_of(tmp_path, "labels by id", HARMLESS["nothing else"], 1, limit=2), "hill climbing")
    assert "1 digit for a submission" in finding.detail
    assert "So 2 submissions cannot reveal all of it." in finding.detail


def test_a_score_that_never_changes_tells_nothing(tmp_path: Path) -> None:
    trial = trial_of(tmp_path, "labels by id", HARMLESS["nothing else"], 0, limit=None)
    finding = found(trial, "hill climbing")
    assert "8 submissions did not tell whether two items share a label." in finding.detail
    assert "enter a limit on the platform" in finding.detail


def test_judgments_are_guessed_one_by_one(tmp_path: Path) -> None:
    finding = found(trial_of(tmp_path, "judgments", HARMLESS["nothing else"]), "hill climbing")
    assert "told whether a document is relevant" in finding.detail


def test_a_truth_in_another_form_is_left_alone(tmp_path: Path) -> None:
    trial = trial_of(tmp_path, "labels by id", HARMLESS["nothing else"])
    for content in (None, ["a,b", "1,2"], ["id,label"]):
        (tmp_path / "other").mkdir(exist_ok=True)
        if content:
            (tmp_path / "other" / "truth.csv").write_text("\n".join(content))
        material = trial.material("", 0)._replace(secret=secret_in(tmp_path / "other"))
        assert [ATTACKS[name].make(material) for name in ("offline guessing", "hill climbing")] == [None, None]


def test_words_in_another_place_differ() -> None:
    assert differences(["0.5 0.3", "0.3 0.5"] * 2) == ["0.5", "0.3"]
