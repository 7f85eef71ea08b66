"""Bundles have the platforms' format, hide labels from participants, and have the same bytes every time."""

import ast
import csv
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import yaml

import tieproof as tp
from bundles import competition, competition_of_runs
from platform_rules import GRAND_CHALLENGE_COLUMN, GRAND_CHALLENGE_SETTINGS, codabench_faults, evalai_faults
from tieproof.errors import InputError
from tieproof.trials.competition import new
from tieproof.trials.competition.platforms import PLATFORMS

PHASES = ("Development", "Final")
TASKS = {"embeddings": lambda folder: competition(folder, PHASES), "run": competition_of_runs}


@pytest.fixture(params=TASKS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return TASKS[request.param](tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_codabench_finds_no_fault(settings: Path) -> None:
    assert codabench_faults(new(settings, settings.parent / "bundle")) == []


def without(*keys: str) -> Callable[[dict[str, Any]], None]:
    def change(found: dict[str, Any]) -> None:
        for key in keys:
            found.pop(key)

    return change


CODABENCH_BROKEN: dict[str, Callable[[dict[str, Any]], None]] = {
    "overlapping phases": lambda found: found["phases"][1].update(start=found["phases"][0]["start"]),
    "a time that loses its hours": lambda found: found["phases"][1].update(start="2027-02-11"),
    "an unknown key": lambda found: found.update(phase=[]),
    "a folder without a slash": lambda found: found["tasks"][0].update(scoring_program="scoring_program"),
    "a missing page": lambda found: found["pages"].append({"title": "x", "file": "pages/x.html"}),
    "one key twice": lambda found: found["leaderboards"][0]["columns"].append(found["leaderboards"][0]["columns"][0]),
    "an unknown task": lambda found: found["phases"][0].update(tasks=[7]),
    "an old version": lambda found: found.update(version=1),
}


@pytest.mark.parametrize("fault", CODABENCH_BROKEN)
def test_rules_of_codabench_find_faults(fault: str, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path, PHASES), tmp_path / "bundle")
    found = yaml.safe_load((bundle / "competition.yaml").read_text())
    CODABENCH_BROKEN[fault](found)
    (bundle / "competition.yaml").write_text(yaml.safe_dump(found))
    assert codabench_faults(bundle)


def test_columns_are_the_numbers_of_the_program(tmp_path: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle")
    found = yaml.safe_load((bundle / "competition.yaml").read_text())
    keys = [column["key"] for column in found["leaderboards"][0]["columns"]]
    scores = scored_on_codabench(bundle, tmp_path / "run")
    assert keys[0] == "ap_lower"
    assert set(keys) <= set(scores)
    assert found["phases"][0]["start"] == "2027-02-11 12:30:00"
    assert found["phases"][0]["max_submissions_per_day"] == 3


def scored_on_codabench(bundle: Path, room: Path, phase: str = "final") -> dict[str, float]:
    for name, place in (("ref", f"reference_data_{phase}"), ("res", f"baseline_{phase}")):
        (room / "input" / name).mkdir(parents=True)
        for path in (bundle / place).iterdir():
            (room / "input" / name / path.name).write_bytes(path.read_bytes())
    (room / "output").mkdir()
    places = map(str, (bundle / "scoring_program" / "score.py", room / "input", room / "output"))
    subprocess.run([sys.executable, *places], check=True, capture_output=True)
    scores: dict[str, float] = json.loads((room / "output" / "scores.json").read_text())
    return scores


@pytest.mark.trials
def test_scores_are_those_of_the_library(settings: Path, tmp_path: Path) -> None:
    bundle = new(settings, tmp_path / "bundle")
    scores = scored_on_codabench(bundle, tmp_path / "room")
    if (bundle / "baseline_final" / "run.txt").exists():
        true = tp.evaluate_run(
            bundle / "reference_data_final" / "qrels.txt",
            bundle / "baseline_final" / "run.txt",
            measures=["AP", "P@1"],
        )
    else:
        with np.load(bundle / "baseline_final" / "embeddings.npz") as handed:
            vectors = dict(zip(handed["ids"].tolist(), handed["embeddings"], strict=True))
        with (tmp_path / "Final.csv").open() as file:
            rows = list(csv.DictReader(file))
        true = tp.evaluate(
            np.array([vectors[row["id"]] for row in rows]), [row["label"] for row in rows], measures=["AP", "P@1"]
        )
    assert scores["ap_lower"] == round(true["AP"].lower, 4)
    assert scores["ap_upper"] == round(true["AP"].upper, 4)
    assert scores["p_at_1_lower"] == round(true["P@1"].lower, 4)
    page = (tmp_path / "room" / "output" / "detailed_results.html").read_text()
    assert "Letters &amp; &lt;digits&gt;" in page
    assert "<script" not in page


@pytest.mark.parametrize("platform", PLATFORMS)
def test_scores_are_rounded_to_the_digits_of_the_file(platform: str, tmp_path: Path) -> None:
    settings = competition(tmp_path)
    settings.write_text(settings.read_text().replace("megabytes = 1\n", "megabytes = 1\ndigits = 3\n"))
    bundle = new(settings, tmp_path / "bundle", platform=platform)
    programs = {"codabench": "scoring_program/score.py", "evalai": "remote/evaluation_script.py"}
    programs |= {"kaggle": "metric.py", "grand-challenge": "evaluate.py"}
    shows = {
        "codabench": ("competition.yaml", "precision: 3"),
        "evalai": ("challenge_config.yaml", "leaderboard_decimal_precision: 3"),
        "kaggle": ("metric.py", "digits=3"),
        "grand-challenge": ("phase_settings.json", '"score_decimal_places": 3'),
    }
    place, says = shows[platform]
    assert says in (bundle / place).read_text(encoding="utf-8")
    assert "digits=3" in (bundle / programs[platform]).read_text(encoding="utf-8")
    evaluation = (bundle / "pages" / "evaluation.html").read_text(encoding="utf-8")
    assert "All scores are rounded to 3 decimal digits" in evaluation
    if platform == "codabench":
        scores = scored_on_codabench(bundle, tmp_path / "room")
        assert all(score == round(score, 3) for score in scores.values())


def test_evalai_finds_no_fault(settings: Path) -> None:
    assert evalai_faults(new(settings, settings.parent / "bundle", platform="evalai")) == []


EVALAI_BROKEN: dict[str, Callable[[dict[str, Any]], None]] = {
    "no title": without("title"),
    "no page": without("evaluation_details"),
    "no script": without("evaluation_script"),
    "an unknown order": lambda found: found["leaderboard"][0]["schema"].update(default_order_by="x"),
    "no truth": lambda found: found["challenge_phases"][0].update(test_annotation_file="x.csv"),
    "an unknown split": lambda found: found["challenge_phase_splits"][0].update(dataset_split_id=9),
    "too few keys": lambda found: found["challenge_phase_splits"][0].pop("visibility"),
    "one codename twice": lambda found: found["challenge_phases"][0].update(codename="final"),
}


@pytest.mark.parametrize("fault", EVALAI_BROKEN)
def test_rules_of_evalai_find_faults(fault: str, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path, PHASES), tmp_path / "bundle", platform="evalai")
    found = yaml.safe_load((bundle / "challenge_config.yaml").read_text())
    EVALAI_BROKEN[fault](found)
    (bundle / "challenge_config.yaml").write_text(yaml.safe_dump(found))
    assert evalai_faults(bundle)


@pytest.mark.trials
def test_evalai_script_and_its_remote_form_agree(tmp_path: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform="evalai")
    with ZipFile(bundle / "evaluation_script.zip") as archive:
        archive.extractall(tmp_path / "challenge_1")
    submission = bundle / "baseline_final" / "embeddings.npz"
    truth = bundle / "annotations" / "final.csv"
    own = f"from challenge_1 import evaluate; print(evaluate({str(truth)!r}, {str(submission)!r}, 'final', team=1))"
    remote = f"from evaluate import evaluate; print(evaluate({str(submission)!r}, 'final'))"
    said = [
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True).stdout
        for code, folder in ((own, tmp_path), (remote, bundle / "remote"))
    ]
    assert said[0] == said[1]
    (result,) = ast.literal_eval(said[0])["result"]
    assert list(result) == ["final"]
    assert 0 < result["final"]["ap_lower"] < 1


def test_kaggle_metric_scores_both_parts(tmp_path: Path) -> None:
    import pandas as pd

    bundle = new(competition(tmp_path, PHASES), tmp_path / "bundle", platform="kaggle")
    metric: dict[str, Any] = {}
    exec((bundle / "metric.py").read_text(), metric)
    assert metric["score"].__annotations__ == {
        "solution": pd.DataFrame,
        "submission": pd.DataFrame,
        "row_id_column_name": str,
        "return": float,
    }
    solution = pd.read_csv(bundle / "solution.csv", dtype={"id": str})
    submission = pd.read_csv(bundle / "data" / "sample_submission.csv", dtype={"id": str})
    assert sorted(set(solution["Usage"])) == ["Private", "Public"]
    for usage in ("Private", "Public"):
        part = solution[solution["Usage"] == usage].drop(columns="Usage")
        handed = submission[submission["id"].isin(part["id"])]
        both = part.merge(handed, on="id")
        true = tp.evaluate(both.drop(columns=["id", "label"]).to_numpy(), both["label"].to_numpy(), measures=["AP"])
        score = metric["score"](part, handed, "id")
        assert type(score) is float
        assert score == round(true["AP"].lower, 4)
        with pytest.raises(metric["ParticipantVisibleError"], match="lacks 1 of 40 ids"):
            metric["score"](part, handed[1:], "id")


def relevant_in(cell: str) -> str:
    return " ".join(pair.removesuffix("=1") for pair in cell.split() if pair.endswith("=1"))


def test_kaggle_metric_of_lists(tmp_path: Path) -> None:
    import pandas as pd

    bundle = new(competition_of_runs(tmp_path), tmp_path / "bundle", platform="kaggle")
    metric: dict[str, Any] = {}
    exec((bundle / "metric.py").read_text(), metric)
    solution = pd.read_csv(bundle / "solution.csv").drop(columns="Usage")
    perfect = solution.assign(documents=[relevant_in(cell) for cell in solution["relevant"]]).drop(columns="relevant")
    assert metric["score"](solution, perfect, "id") == 1.0
    others = perfect.assign(documents=["d99"] * len(perfect))
    assert metric["score"](solution, others, "id") == 0.0
    sample = pd.read_csv(bundle / "data" / "sample_submission.csv")
    assert 0 < metric["score"](solution, sample, "id") < 1
    twice = perfect.assign(documents=["d01 d01"] * len(perfect))
    with pytest.raises(metric["ParticipantVisibleError"], match="a document twice for query 'q0'"):
        metric["score"](solution, twice, "id")


@pytest.mark.trials
def test_grand_challenge_container(settings: Path, tmp_path: Path) -> None:
    bundle = new(settings, tmp_path / "bundle", platform="grand-challenge")
    entered = json.loads((bundle / "phase_settings.json").read_text())
    assert set(entered) == GRAND_CHALLENGE_SETTINGS
    assert all(set(column) <= GRAND_CHALLENGE_COLUMN for column in entered["extra_results_columns"])
    with tarfile.open(bundle / "ground_truth_final.tar.gz") as archive:
        (name,) = archive.getnames()
    assert [path.name for path in (bundle / "ground_truth_final").iterdir()] == [name]
    (tmp_path / "output").mkdir()
    places = [bundle / "test" / "final" / "input", tmp_path / "output", bundle / "ground_truth_final"]
    subprocess.run([sys.executable, bundle / "evaluate.py", *places], check=True)
    found = json.loads((tmp_path / "output" / "metrics.json").read_text())
    for part in entered["score_jsonpath"].split("."):
        found = found[part]
    assert 0 < found < 1
    dockerfile = (bundle / "Dockerfile").read_text()
    assert "\nUSER " in dockerfile
    assert 'ENTRYPOINT ["python", "/home/scorer/evaluate.py"]' in dockerfile


PUBLIC = ("starting_kit", "public_data", "pages", "data", "archive", "image", "logo", "phase_settings")
"""The beginnings of the paths that participants may see; all other files stay with the organizer."""


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_label_is_handed_out(platform: str, tmp_path: Path) -> None:
    settings = competition(tmp_path, PHASES)
    for name in PHASES:
        text = (tmp_path / f"{name}.csv").read_text()
        for label, secret in enumerate(("alpha", "beta", "gamma", "delta")):
            text = text.replace(f",{label}\n", f",secret {secret}\n").replace(
                f",{label}\r\n", f",secret {secret}\r\n"
            )
        assert "secret delta" in text
        (tmp_path / f"{name}.csv").write_text(text)
    bundle = new(settings, tmp_path / "bundle", platform=platform)
    public = {name: content for name, content in contents(bundle).items() if name.startswith(PUBLIC)}
    assert not [name for name, content in public.items() if b"secret" in content]
    ids = (tmp_path / "bundle").rglob("ids_final.txt")
    listed = next(ids).read_text().split()
    assert listed == sorted(listed)


@pytest.mark.trials
@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_same_file_gives_the_same_bytes(platform: str, settings: Path) -> None:
    folder = settings.parent
    one, other = (contents(new(settings, folder / name, platform=platform)) for name in ("one", "other"))
    assert one == other
    archives = [new(settings, folder / name, platform=platform).read_bytes() for name in ("one.zip", "other.zip")]
    assert archives[0] == archives[1]
    with ZipFile(folder / "one.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == one


SAYS = {
    "codabench": "Hand in a .zip with one file at its top level: embeddings.npz",
    "evalai": "Hand in one file: embeddings.npz",
    "kaggle": "Hand in a .csv like sample_submission.csv",
    "grand-challenge": "writes embedding.json",
}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_participants_read_how_ties_are_scored_and_what_to_hand_in(platform: str, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform=platform)
    assert SAYS[platform] in (bundle / "pages" / "data.html").read_text(encoding="utf-8")
    evaluation = (bundle / "pages" / "evaluation.html").read_text(encoding="utf-8")
    assert "<strong>The leaderboard ranks by the lowest value.</strong>" in evaluation
    assert "The ranking is by <strong>AP, lower bound</strong>" in evaluation
    (overview,) = (path for path in bundle.rglob("overview.html"))
    assert "<h1>Letters &amp; &lt;digits&gt;</h1>" in overview.read_text(encoding="utf-8")


def test_a_bundle_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = competition(tmp_path)
    before = set(tmp_path.iterdir())
    monkeypatch.setattr("os.rename", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(InputError, match="No space left"):
        new(settings, tmp_path / "bundle")
    assert set(tmp_path.iterdir()) == before


def test_the_kit_scores_its_sample(tmp_path: Path) -> None:
    kit = new(competition(tmp_path), tmp_path / "bundle") / "starting_kit"
    command = [sys.executable, "score.py", "sample/input", "sample/output"]
    said = subprocess.run(command, cwd=kit, check=True, capture_output=True, text=True).stdout
    assert "where upper is larger, a tie is ambiguous" in said
    scores = json.loads((kit / "sample" / "output" / "scores.json").read_text())
    assert scores["ap_lower"] < scores["ap_upper"]
