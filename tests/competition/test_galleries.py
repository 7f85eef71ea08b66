"""Separate queries and gallery, and groups such as cameras: every platform scores them by the definition."""

import json
import re
import runpy
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from bundles import write_table
from programs_here import programs_here
from tieproof.trials.audit import Verdict
from tieproof.trials.competition import check, new, platforms

RANDOM = np.random.default_rng(11)
QUERIES, GALLERY = 6, 18
IDS = [RANDOM.bytes(5).hex() for _ in range(QUERIES + GALLERY)]
LABELS = ["01", "1", "NA"] * ((QUERIES + GALLERY) // 3)
"""Three labels, of which pandas would merge two and read one as missing."""
CAMERAS = [f"camera {number}" for number in RANDOM.integers(0, 3, QUERIES + GALLERY)]
VECTORS = RANDOM.normal(size=(QUERIES + GALLERY, 5)).astype(np.float32)

COMPETITION = """
title = "Cameras"
measures = ["AP"]
distance = "euclidean"
[[phases]]
name = "Final"
start = 2027-01-10
end = 2027-02-10
items = "queries"
labels = "queries.csv"
gallery = "gallery"
gallery_labels = "gallery.csv"
[platform]
image = "docker.io/jane/scoring:1"
"""


def organized(folder: Path, gallery: bool, cameras: bool) -> Path:
    """The file of a competition whose first items are the queries, with or without a gallery and cameras."""
    header = ("id", "label", "group")[: 3 if cameras else 2]
    rows = [row[: len(header)] for row in zip(IDS, LABELS, CAMERAS, strict=True)]
    parts = {"queries": slice(QUERIES if gallery else None), "gallery": slice(QUERIES, None)}
    for name, part in parts.items():
        write_table(folder / f"{name}.csv", [header, *rows[part]])
        (folder / name).mkdir()
        for each in IDS[part]:
            (folder / name / f"{each}.txt").write_text("an item")
    lines = [line for line in COMPETITION.splitlines() if gallery or not line.startswith("gallery")]
    (folder / "competition.toml").write_text("\n".join(lines) + "\n")
    return folder / "competition.toml"


def average_precision(gallery: bool, cameras: bool) -> float:
    """By the definition: the mean precision at the ranks of relevant items, among all items that are not excluded."""
    every = range(QUERIES + GALLERY)
    values = []
    for query in range(QUERIES) if gallery else every:
        others = [at for at in (range(QUERIES, QUERIES + GALLERY) if gallery else every) if at != query]
        if cameras:
            same = (LABELS[query], CAMERAS[query])
            others = [at for at in others if (LABELS[at], CAMERAS[at]) != same]
        others.sort(key=lambda at: float(((VECTORS[at].astype(np.float64) - VECTORS[query]) ** 2).sum()))
        ranks = [rank for rank, at in enumerate(others, 1) if LABELS[at] == LABELS[query]]
        if ranks:
            values.append(sum(Fraction(found, rank) for found, rank in enumerate(ranks, 1)) / len(ranks))
    return float(sum(values) / len(values))


def on_codabench(bundle: Path, room: Path) -> float:
    program = runpy.run_path(str(bundle / "scoring_program" / "score.py"))
    shutil.copytree(bundle / "reference_data_final", room / "ref")
    (room / "res").mkdir()
    np.savez(room / "res" / "embeddings.npz", ids=IDS, embeddings=VECTORS)
    assert program["on_codabench"](program["SCORING"], "x", str(room), str(room)) == 0
    return float(json.loads((room / "scores.json").read_text())["ap_lower"])


def on_evalai(bundle: Path, room: Path) -> float:
    program = runpy.run_path(str(bundle / "remote" / "evaluation_script.py"))
    order = np.argsort(IDS)
    np.save(room / "embeddings.npy", VECTORS[order])  # in the order of the list of ids
    assert (bundle / "starting_kit" / "ids_final.txt").read_text().split() == [IDS[at] for at in order]
    found = program["evaluate"](str(bundle / "annotations" / "final.csv"), str(room / "embeddings.npy"), "final")
    return float(found["result"][0]["final"]["ap_lower"])


def on_kaggle(bundle: Path, room: Path) -> float:
    pd = pytest.importorskip("pandas")
    metric = runpy.run_path(str(bundle / "metric.py"))
    solution = pd.read_csv(bundle / "solution.csv").drop(columns="Usage")
    write_table(
        room / "x.csv", [("id", *range(5)), *((name, *row) for name, row in zip(IDS, VECTORS.tolist(), strict=True))]
    )
    return float(metric["score"](solution, pd.read_csv(room / "x.csv"), "id"))


def on_grand_challenge(bundle: Path, room: Path) -> float:
    program = runpy.run_path(str(bundle / "evaluate.py"))
    given = room / "input"
    shutil.copytree(bundle / "test" / "final" / "input", given)
    for job in json.loads((given / "predictions.json").read_text()):
        name = job["inputs"][0]["image"]["name"].removesuffix(".mha")
        place = given / job["pk"] / "output" / "embedding.json"
        place.write_text(json.dumps(VECTORS[IDS.index(name)].tolist()))
    scoring = program["SCORING"]
    status = program["on_grand_challenge"](scoring, str(given), str(room), str(bundle / "ground_truth_final"))
    assert status == 0
    return float(json.loads((room / "metrics.json").read_text())["aggregates"]["ap_lower"])


PLATFORMS: dict[str, Callable[[Path, Path], float]] = {
    "codabench": on_codabench,
    "evalai": on_evalai,
    "kaggle": on_kaggle,
    "grand-challenge": on_grand_challenge,
}


def test_all_platforms_are_tried() -> None:
    assert list(PLATFORMS) == list(platforms.PLATFORMS)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(("gallery", "cameras"), [(True, False), (True, True), (False, True)])
def test_scores_are_those_of_the_definition(platform: str, gallery: bool, cameras: bool, tmp_path: Path) -> None:
    bundle = new(organized(tmp_path, gallery, cameras), tmp_path / "bundle", platform=platform)
    (tmp_path / "room").mkdir()
    score = PLATFORMS[platform](bundle, tmp_path / "room")
    assert score == round(average_precision(gallery, cameras), 4)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_queries_and_gallery_are_handed_out_without_what_is_true_of_them(platform: str, tmp_path: Path) -> None:
    bundle = new(organized(tmp_path, gallery=True, cameras=True), tmp_path / "bundle", platform=platform)
    names = {path.parent.name: path for path in bundle.rglob("*.txt") if path.stem in IDS}
    assert set(names) == {"queries", "gallery"}
    files = {path.relative_to(bundle).as_posix(): path for path in bundle.rglob("*") if path.is_file()}
    public = [path for name, path in files.items() if name.startswith(("public", "archive", "data", "starting"))]
    assert not [path for path in public if re.search(rb"camera \d", path.read_bytes())]
    page = (bundle / "pages" / "evaluation.html").read_text()
    assert "For each query of a phase, the whole gallery of that phase is ranked" in page
    assert "Each item belongs to a group, such as a camera" in page


def test_a_bundle_with_a_gallery_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs_here(monkeypatch)
    bundle = new(organized(tmp_path, gallery=True, cameras=True), tmp_path / "bundle")
    attacks = {"zeros": Verdict.HELD, "missing ids": Verdict.REFUSED, "other order": Verdict.HELD}
    report = check(bundle, attacks=[*attacks])
    assert {finding.attack: finding.verdict for finding in report.findings} == attacks


def test_a_truth_with_an_unknown_role_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = new(organized(tmp_path, gallery=True, cameras=False), tmp_path / "bundle")
    place = bundle / "reference_data_final" / "labels.csv"
    place.write_text(place.read_text().replace(",query\n", ",probe\n"))
    (tmp_path / "room").mkdir()
    with pytest.raises(AssertionError):
        on_codabench(bundle, tmp_path / "room")
    assert "has the roles gallery, probe. It must have query and gallery." in capsys.readouterr().err


def test_codabench_hands_out_both(tmp_path: Path) -> None:
    bundle = new(organized(tmp_path, gallery=True, cameras=False), tmp_path / "bundle")
    found: dict[str, Any] = yaml.safe_load((bundle / "competition.yaml").read_text())
    public = bundle / found["phases"][0]["public_data"]
    assert sorted(path.name for path in public.iterdir()) == ["gallery", "queries"]
