"""`tieproof leaderboard` ranks runs, and the records among them, and `tieproof run` does so if several are given."""

import csv
import json
from pathlib import Path

import pytest

import tieproof as tp
from command_line import exit_status as run

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
RUNS = {
    "input.sure": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}},
    "input.tied": {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0, "b": 1.0}},
    "bad": {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 2.0, "b": 1.0}},
}
FILES = ["runs/input.sure.run", "runs/input.tied", "runs/bad.txt"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    lines = [f"{query} 0 {doc} {grade}\n" for query, grades in QRELS.items() for doc, grade in grades.items()]
    Path("qrels.txt").write_text("".join(lines))
    for file, lists in zip(FILES, RUNS.values(), strict=True):
        lines = [f"{query} Q0 {doc} 1 {score} t\n" for query, docs in lists.items() for doc, score in docs.items()]
        Path(file).write_text("".join(lines))
    numbers = ["sure\tRR\t0.75", "tied\tRR\t1", "bad\tRR\t0.5", "sure\tAP\t0.1", "sure\tgm_map\t1"]
    Path("published.tsv").write_text("\n".join(["# system", "", *numbers, ""]))
    Path("nan.tsv").write_text("sure nan\n")
    return tmp_path


def test_runs_and_a_folder_of_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = {"sure": 0.75, "tied": 1.0, "bad": 0.5}
    expected = tp.leaderboard(QRELS, RUNS, measure="RR", published=numbers)
    for files in (FILES, ["runs"]):
        assert run("leaderboard", "qrels.txt", *files, "-m", "RR", "--published", "published.tsv") == 0
        assert capsys.readouterr().out == f"{expected}\n"
    outputs = ["--csv", "b.csv", "--markdown", "b.md", "--latex", "b.tex", "--json", "-"]
    assert run("leaderboard", "qrels.txt", *FILES, "-m", "RR", "--published", "published.tsv", *outputs) == 0
    assert json.loads(capsys.readouterr().out) == expected.to_dict()
    with Path("b.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert [(row["place"], row["system"], row["swaps_with_next"]) for row in rows] == [
        ("1", "input.tied", "True"),
        ("2", "input.sure", "False"),
        ("3", "bad", "False"),
    ]
    assert Path("b.tex").read_text() == f"{expected.to_latex()}\n"


def test_page_and_picture(folder: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    assert run("leaderboard", "qrels.txt", *FILES, "--html", "b.html", "--plot", "b.svg") == 0
    page = Path("b.html").read_text()
    assert [page.index(f">{name}<") for name in ("input.sure", "input.tied", "bad")]
    axes = tp.leaderboard(QRELS, RUNS).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1  input.sure", "1  input.tied", "3  bad"]


def test_lines_and_records(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("leaderboard", "qrels.txt", *FILES, "-q", "--precision", "float32") == 0
    expected = capsys.readouterr().out
    assert [line.split("\t") for line in expected.splitlines()] == [
        ["1", "0.75", "input.sure"],
        ["1", "0.5", "input.tied"],
        ["3", "0.5", "bad"],
    ]
    assert run("run", "qrels.txt", *FILES, "-q", "--precision", "float32") == 0
    assert capsys.readouterr().out == expected
    assert run("run", "qrels.txt", *FILES, "-m", "recip_rank", "--json", "b.json") == 0
    assert json.loads(Path("b.json").read_text())["measure"] == "RR"
    assert run("leaderboard", "qrels.txt", *FILES, "-m", "recall@1", "--level", "0.5", "--json", "b.json") == 0
    assert json.loads(Path("b.json").read_text())["measure"] == "R(rel=0.5)@1"
    assert run("leaderboard", "qrels.txt", FILES[1], FILES[2], "--truncated", "-m", "P@1", "-q") == 0
    assert run("run", "qrels.txt", FILES[0], "--save", "runs/bad.tieproof") == 0
    Path("runs/bad.txt").unlink()
    capsys.readouterr()
    assert run("leaderboard", "qrels.txt", "runs", "-q") == 0
    assert capsys.readouterr().out.startswith("1\t0.75\tbad\n1\t0.75\tinput.sure\n")


def test_several_measures_of_several_runs_are_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = {name: tp.evaluate_run(QRELS, given, measures=["nDCG@10", "AP"]) for name, given in RUNS.items()}
    assert run("run", "qrels.txt", *FILES, "-m", "nDCG@10,AP") == 0
    assert capsys.readouterr().out == f"{tp.table(results)}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run qrels.txt runs/bad.txt runs/input.tied -m AP,RR -q", "--lines applies to a single run, but 2"),
        ("run qrels.txt runs/bad.txt runs/input.tied --ci 0.9", "--ci applies to a single run, but 2 were given"),
        ("leaderboard qrels.txt runs -m AP,RR", "by one measure, not by AP,RR"),
        ("leaderboard qrels.txt runs --verify x", "--verify is of records"),
        ("leaderboard runs --published published.tsv", "--published is of runs"),
        ("leaderboard runs --csv b.csv", "--csv is of runs"),
        ("leaderboard runs --truncated", "--truncated is of runs"),
        ("leaderboard runs --level 0", "--level is of runs"),
        ("leaderboard runs --own keep", "--own is of runs"),
        ("leaderboard qrels.txt", "qrels.txt is not a folder"),
        (
            "leaderboard qrels.txt runs -m P@1 --published published.tsv",
            "no published number for P@1; it has numbers for RR, AP, gm_map",
        ),
        ("leaderboard qrels.txt runs --published nan.tsv", "the number must be finite"),
        ("leaderboard qrels.txt runs --published qrels.txt", "has 'q1 0 a 1' on line 1"),
        ("leaderboard qrels.txt empty", "is a folder without files"),
    ],
)
def test_refused(folder: Path, capsys: pytest.CaptureFixture[str], words: str, said: str) -> None:
    Path("empty").mkdir()
    assert run(*words.split()) == 2
    assert said in capsys.readouterr().err
