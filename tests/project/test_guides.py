"""Following each guide literally, from an empty folder, gives the results that it shows."""

import re
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pytest

import tieproof as tp
from pages import ROOT, run_page, text_of
from programs_here import programs_here

matplotlib.use("Agg")
import matplotlib.pyplot as plt

GUIDES = sorted({page.stem for page in (ROOT / "docs" / "guides").glob("*.md")} - {"index"})


class Followed(NamedTuple):
    """The names and the output of a page that was run."""

    names: Mapping[str, Any]
    said: str


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a page in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def followed(name: str) -> Followed:
        try:
            return Followed(run_page(f"docs/{name}.md"), capsys.readouterr().out)
        finally:
            plt.close("all")

    return followed


@pytest.mark.parametrize("guide", GUIDES)
def test_begins_with_a_question_and_ends_with_what_to_report(guide: str) -> None:
    text = text_of(f"docs/guides/{guide}.md")
    asked = re.search(r"^# .+\n\n\*([^*]+)\*$", text, re.MULTILINE)
    assert asked is not None
    assert asked[1].endswith("?")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[-1] == "What to report in a paper"


def test_guides_stand_in_the_contents() -> None:
    for guide in GUIDES:
        assert f"({guide}.md)" in text_of("docs/guides/index.md")


def test_published_numbers(follow: Any) -> None:
    names, said = follow("what_they_print")
    for measure, value in names["printed"].printed.items():
        interval = names["result"][measure]
        assert interval.lower <= value <= interval.upper
        assert interval.lower < interval.upper
    assert "as trec_eval 10.0 does" in " ".join(said.split())
    assert "in the order given, as a stable sort does" in " ".join(said.split())
    assert said.endswith("0.5 ≤ 0.75 ≤ 1.0 0.5\n")


@pytest.mark.long
def test_metric_learning(follow: Any) -> None:
    names, said = follow("guides/metric_learning")
    assert names["result"]["AP@R"].lower == names["result"]["AP@R"].upper
    assert names["binary"]["AP@R"].lower < names["binary"]["AP@R"].upper
    assert "\\begin{tabular}" in said


def test_reidentification(follow: Any) -> None:
    names, _ = follow("guides/reidentification")
    result = names["result"]
    for query in (0, 17):  # the definition, without tieproof: no junk, and no image of the person by the same camera
        people, cameras, kept = names["people"], names["cameras"], names["kept"]
        person, camera = names["query_people"][query], names["query_cameras"][query]
        counted = kept & ~((people == person) & (cameras == camera))
        distance = ((names["gallery"][counted] - names["queries"][query]) ** 2).sum(axis=1)
        hits = (people[counted] == person)[distance.argsort()]
        precision = hits.cumsum() / range(1, len(hits) + 1)
        assert result.per_query("AP").lower[query] == pytest.approx(precision[hits].mean(), rel=1e-12)
    assert names["both"]["AP(trapezoid)"].lower != names["both"]["AP"].lower
    assert names["of_matrix"]["AP"] == result["AP"]


@pytest.mark.long
def test_hashing(follow: Any) -> None:
    names, said = follow("guides/hashing")
    assert [names["results"][f"{bits} bits"]["AP"].lower for bits in (16, 32, 64)] == sorted(
        found["AP"].lower for found in names["results"].values()
    )
    assert said.count(f"{names['results']['64 bits']['AP']:.4f}") == 2  # packed or not
    assert names["verdict"].name == "better whatever the ties"
    interval = names["replaced"]["AP(norm=hits)@1000"]
    assert all(interval.lower <= value <= interval.upper for value in names["printed"])
    assert names["printed"][0] != names["printed"][1]
    check_loop_of_deep_hashing(names["mean_ap"])


def check_loop_of_deep_hashing(mean_ap: Any) -> None:
    """Item i differs from the queries in i bits: without ties, the loop of the page and its replacement agree."""
    random = np.random.default_rng(0)
    codes = np.where(np.arange(64) < np.arange(65)[:, None], -1.0, 1.0)
    labels, query_labels = random.integers(0, 2, size=(65, 3)), np.array([[1, 0, 1], [0, 1, 0]])
    measures = {"AP(norm=hits)@10": 10, "AP(norm=hits)@50": 50, "AP": 65}
    found = tp.evaluate(
        np.ones((2, 64)) > 0,
        query_labels,
        gallery=codes > 0,
        gallery_labels=labels,
        distance="hamming",
        measures=[*measures],
    )
    for measure, k in measures.items():
        expected = mean_ap(np.ones((2, 64)), query_labels, codes, labels, k)
        assert found[measure].lower == found[measure].upper == pytest.approx(expected, rel=1e-12)


@pytest.mark.long
def test_intervals_of_embeddings_over_subjects(follow: Any) -> None:
    names, said = follow("pooled")
    counted = tp.fnmr_at_fmr(names["voices"], names["speakers"], curve=True).curve
    assert counted is not None
    assert astuple(names["curve"].eer) == astuple(counted.eer)
    assert names["curve"].tar(0.01) == counted.tar(0.01)
    eer, tar = (re.fullmatch(r".+ ([0-9.]+) \[([0-9.]+), ([0-9.]+)\]", line) for line in said.splitlines())
    assert eer is not None
    assert tar is not None
    for value, low, high in (eer.groups(), tar.groups()):
        assert float(low) < float(value) < float(high)


def test_similarity(follow: Any) -> None:
    names, said = follow("similarity")
    low, high = names["found"].lower.extrapolated, names["found"].upper.extrapolated
    assert low < names["printed"][1] < names["printed"][0] < high
    assert "Means over the 20 queries that both runs have." in said
    tau = names["correlation"].tau
    assert tau.lower < tau.expected < tau.b < tau.upper
    assert "1.0 0.9775" in said


@pytest.mark.long
def test_leaderboards(follow: Any) -> None:
    names, said = follow("guides/leaderboards")
    board = names["board"]
    assert len(board.swaps) == len(board) - 1
    assert "1.0000  +0.2500" in said
    bits = names["codes"] * 2 - 1
    distances = 16 - bits @ bits.T
    np.fill_diagonal(distances, 99)
    found, accuracies = names["results"]["system 9"]["P@1"], []
    for order in (np.arange(1797), np.argsort(names["labels"], kind="stable")):
        nearest = order[distances[:, order].argmin(axis=1)]  # as a program finds it that takes the first of a tie
        accuracies.append(np.mean(names["labels"][nearest] == names["labels"]))
    assert found.lower - 1e-12 <= min(accuracies) < max(accuracies) <= found.upper + 1e-12
    assert "ties" in said.splitlines()[-1]


def test_text_retrieval(follow: Any) -> None:
    names, said = follow("guides/text_retrieval")
    values = names["result"].per_query("AP")
    assert values.lower.tolist() == pytest.approx([(1 / 2 + 2 / 3) / 2] * 2, rel=1e-12)
    assert values.upper.tolist() == pytest.approx([(1 + 2 / 3) / 2, 1], rel=1e-12)
    assert re.search(r"^nDCG@10 +0\.", said, re.MULTILINE)
    assert "Too few queries to tell" in said


def test_training_loop(follow: Any) -> None:
    names, said = follow("guides/training_loop")
    tops = [float(text) for text in re.findall(r"P@1 [\d.]+ ≤ [\d.]+ ≤ ([\d.]+)", said)]
    assert tops.index(max(tops)) == 0
    assert names["best"] == names["whole"]["AP"].expected
    assert said.endswith("True\n")


def test_competitions(follow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    programs_here(monkeypatch)
    _, said = follow("guides/competitions")
    assert "attacks gained nothing" in said
    assert re.search("baseline and codes: .*\ncodes and zeros: better .*\nTrue\n", said)
    assert "Every bit agrees" in said


@pytest.mark.long
def test_benchmarks(follow: Any) -> None:
    _, said = follow("guides/benchmarks")
    assert "argsort can be fooled" in said
    assert "lower_bound holds" in said
    printed, lower, _, upper = map(float, re.search(r"printed (.+), possible (.+) ≤ (.+) ≤ (.+)", said).groups())  # type: ignore[union-attr]
    assert lower <= printed <= upper
    assert "Every bit agrees" in said


@pytest.mark.heavy
def test_vector_search(follow: Any) -> None:
    names, said = follow("guides/vector_search")
    recalls = {name: tp.neighbor_recall(ids, "truth", k=10)[10] for name, ids in names["found"].items()}
    assert recalls["faiss, flat"].upper == 1 > recalls["faiss, flat"].expected
    assert recalls["faiss, 3 of 30 cells"].upper < 1
    assert all(f"{name:22} {recall:.4f}" in said for name, recall in recalls.items())
    shown = re.search(r"^```text\n(faiss.*?)^```", text_of("docs/guides/vector_search.md"), re.MULTILINE | re.DOTALL)
    shown_numbers = np.reshape([*map(float, re.findall(r"\d\.\d{4}", shown[1]))], (4, 3))  # type: ignore[index]
    assert shown_numbers == pytest.approx(np.array([astuple(each)[:3] for each in recalls.values()]), abs=0.02)
    assert "Every bit agrees.\n100 of 300 queries" in said
    assert "upper 1.0000 with copies, 1.0000 for the others" in said
    assert "upper 0.1000 with copies" in said
    assert 0 < np.mean(names["by_ids"]) < 0.7
    right = int(re.search(r"euclidean distance:\s+(\d+)\s+lists?", said)[1])  # type: ignore[index]
    distances = ((names["queries"][:, None] - names["gallery"][None]) ** 2).sum(axis=2)
    last = np.sort(distances, axis=1)[:, 9]
    theirs = np.take_along_axis(distances, names["theirs"], axis=1)
    is_right = [
        (near <= end).all() and (near < end).sum() == (row < end).sum()
        for near, end, row in zip(theirs, last, distances, strict=True)
    ]
    assert right == sum(is_right)
    assert f"Of {(distances[:100] <= 4).sum()} true items of 100 queries" in said


@pytest.mark.heavy
def test_knn_classification(follow: Any) -> None:
    """The accuracies of scikit-learn and of DINO's formula lie inside; float32 may decide the vote of one query."""
    names, said = follow("guides/knn_classification")
    for (weights, k), (accuracies, ours) in names["printed"].items():
        slack = 1 / 400 + 1e-9 if weights == "dino" else 1e-9
        assert ours.lower - slack <= min(accuracies) <= max(accuracies) <= ours.upper + slack, (weights, k)
    assert len(set(names["printed"]["uniform", 2][0])) > 1
    assert names["printed"]["uniform", 2][1].lower < names["printed"]["dino", 20][1].lower
    assert said.count("queries open") == 6


def test_large_data(follow: Any, tmp_path: Path) -> None:
    _, said = follow("guides/large_data")
    assert "True\n" in said
    assert said.count("Evaluated 3,000 queries") == 4
    assert (tmp_path / "done").is_dir()


def test_ties_explained(follow: Any) -> None:
    names, _ = follow("ties")
    assert names["result"]["AP"].lower == pytest.approx(5 / 6, rel=1e-15)
    assert names["result"]["AP"].upper == 1
    assert names["intervals"][8].lower < 0.1
    assert 0.85 < names["intervals"][8].upper < 0.9


def test_tour(follow: Any) -> None:
    names, said = follow("tour")
    assert isinstance(names["result"], tp.Result)
    assert "Every bit agrees" in said


def test_what_you_can_pass(follow: Any) -> None:
    _, said = follow("inputs")
    assert "zero 0.5\nskip 1.0" in said
    packed = re.findall(r"^[\d.]+ ≤ .*$", said, re.MULTILINE)
    assert len(packed) == 2
    assert packed[0] == packed[1]
    assert "whole number of at least 1" in said


def test_exactness(follow: Any) -> None:
    names, said = follow("exactness")
    assert (names["found"]["RR"].lower, names["found"]["RR"].upper) == (0.5, 1)
    assert said.endswith("True\n")


@pytest.mark.heavy
def test_uncertainty(follow: Any) -> None:
    names, said = follow("uncertainty")
    assert "queries 95%" in said
    interval = names["result"].interval("AP")
    assert str(interval) in said
    assert interval.low < names["result"]["AP"].lower < interval.high
    low, high = names["distribution"].interval(0.95)
    assert names["result"]["AP"].lower < low < high < names["result"]["AP"].upper
    assert str(names["distribution"]) in said
    chances = names["found"].better, names["found"].equal, names["found"].worse
    assert sum(each.low for each in chances) <= 1 <= sum(each.high for each in chances)


def test_all_commands_are_shown() -> None:
    from tieproof.cli.commands import COMMANDS
    from tieproof.cli.competition import competition

    text = text_of("docs/command_line.md")
    assert re.findall(r"^## `tieproof ([\w-]+)`$", text, re.MULTILINE) == ["demo", *[*COMMANDS][:-1]]
    assert set(re.findall(r"^!tieproof (\w[\w-]*)", text, re.MULTILINE)) == set(COMMANDS)
    assert set(re.findall(r"^!tieproof competition (\w+) --help$", text, re.MULTILINE)) == set(competition.commands)
    in_table = re.findall(r"^\| \[([\w-]+)\]\(#tieproof-\1\) \| `tieproof \1\b", text, re.MULTILINE)
    assert set(in_table) == set(COMMANDS)


@pytest.mark.long
def test_reproducible(follow: Any) -> None:
    names, said = follow("guides/reproducible")
    bounds = names["result"]["AP"].noise
    assert bounds.lower < names["result"]["AP"].lower < bounds.upper
    assert "better than" in said
    report = names["report"]
    assert set(report.changed) <= set(report.may_change)
