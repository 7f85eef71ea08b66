"""`tieproof compare`, and `--ci`."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status as run

RANDOM = np.random.default_rng(0)
LABELS = np.arange(40) % 8
GOOD = RANDOM.normal(size=(40, 8)) + 2 * np.eye(8)[LABELS]
SYSTEMS = {"good": GOOD, "bits": np.where(GOOD > 0, 1.0, -1.0), "noise": RANDOM.normal(size=(40, 8))}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("labels.npy", LABELS)
    for name, embeddings in SYSTEMS.items():
        np.save(f"{name}.npy", embeddings)
    random = np.random.default_rng(1)
    Path("qrels.txt").write_text("".join(f"q{at} 0 d{at % 5} 1\n" for at in range(20)))
    for name in ("base", "ours"):
        lines = (f"q{at} Q0 d{item} 1 {random.integers(0, 4)} t\n" for at in range(20) for item in range(5))
        Path(f"{name}.run").write_text("".join(lines))
    Path("categories.txt").write_text("".join(f"q{at} {'odd' if at % 2 else 'even'}\n" for at in range(20)))
    return tmp_path


def test_embeddings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = tp.compare({name: tp.evaluate(embeddings, LABELS) for name, embeddings in SYSTEMS.items()})
    assert run("compare", "labels.npy", "good.npy", "bits.npy", "noise.npy") == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert run("compare", "labels.npy", "good.npy", "bits.npy", "noise.npy", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == expected.to_dict()
    for option, shown in (("--latex", expected.to_latex()), ("--markdown", expected.to_markdown())):
        assert run("compare", "labels.npy", "good.npy", "bits.npy", "noise.npy", option, "-") == 0
        assert capsys.readouterr().out == f"{shown}\n"


def test_names_are_given_to_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a=b.npy").write_bytes(Path("noise.npy").read_bytes())
    names = {"ours": "good", "all:of it": "bits", "a=b": "noise"}
    expected = tp.compare({name: tp.evaluate(SYSTEMS[file], LABELS) for name, file in names.items()}, baseline="ours")
    np.savez("all.npz", bits=SYSTEMS["bits"])
    files = ("ours=good.npy", "all:of it=all.npz:bits", "a=b.npy")
    assert run("compare", *files, "labels.npy", "--baseline", "ours") == 0
    assert capsys.readouterr().out == f"{expected}\n"


def test_labels_may_be_given_last(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("all.npz", labels=LABELS, good=GOOD)
    Path("labels.txt").write_text("\n".join(f"Boeing {label} 400" for label in LABELS))  # three words, as a trial has
    assert run("compare", "labels.npy", "good.npy", "bits.npy") == 0
    expected = capsys.readouterr().out
    for labels in ("labels.npy", "labels.txt", "all.npz:labels"):
        assert run("compare", "good.npy", "bits.npy", labels) == 0
        assert capsys.readouterr().out == expected
    assert run("compare", "all.npz", "good.npy", "bits.npy") == 0
    assert capsys.readouterr().out == expected


def test_a_run_with_other_ids_of_documents_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ours.run").write_text(Path("ours.run").read_text().replace(" d", " D0"))
    says = (
        "Warning: ours.run: no document is judged for its query, so that nothing relevant was retrieved. For query "
        "'q0' the qrels have 'd0', and the run has 'D00'. If the ids differ in letter case, prefixes or padding, "
        "make them equal.\n"
    )
    assert run("compare", "--qrels", "qrels.txt", "base.run", "ours.run", "-m", "AP") == 0
    assert capsys.readouterr().err == says
    for more in ((), ("-q",)):
        assert run("run", "qrels.txt", "ours.run", *more) == 0
        assert capsys.readouterr().err == says


@pytest.mark.parametrize("part", ["#0", "_0", "-p0", "::1"])
def test_parts_of_judged_documents_are_named(part: str) -> None:
    """The first query has found none of a judged document."""
    qrels = {"q1": {"D049": 1, "D05": 0}, "q2": {"D7": 1}}
    says = rf"'D7{part}' may be a part of 'D7': if so, pass documents= \(--documents\)"
    with pytest.warns(tp.InputWarning, match=says):
        tp.evaluate_run(qrels, {"q1": {f"D9{part}": 0.5}, "q2": {f"D8{part}": 0.5, f"D7{part}": 0.25}})


def test_options_are_those_of_python(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = {
        name: tp.evaluate(embeddings, LABELS, distance="euclidean", measures=["AP", "P@1"], average="macro")
        for name, embeddings in SYSTEMS.items()
    }
    how = ("-d", "euclidean", "-m", "AP,P@1", "--average", "macro", "--categories", "labels.npy")
    test = ("--test", "tukey", "--baseline", "noise.npy", "--confidence", "0.9")
    assert run("compare", "labels.npy", *(f"{name}.npy" for name in SYSTEMS), *how, *test) == 0
    expected = tp.compare(results, test="tukey", baseline="noise", confidence=0.9)
    assert capsys.readouterr().out == f"{expected}\n"
    assert run("compare", "labels.npy", "good.npy", "bits.npy", "--correction", "none", "-m", "AP") == 0
    two = {name: tp.evaluate(SYSTEMS[name], LABELS, measures=["AP"]) for name in ("good", "bits")}
    assert capsys.readouterr().out == f"{tp.compare(two, correction=None)}\n"


def test_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = {name: tp.evaluate_run("qrels.txt", f"{name}.run", measures=["AP"]) for name in ("base", "ours")}
    expected = tp.compare(results, baseline="base")
    files = ("--qrels", "qrels.txt", "base.run", "ours.run", "-m", "AP")
    assert run("compare", *files, "--baseline", "base", "--per-query", "queries.csv") == 0
    assert capsys.readouterr().out == f"{expected}\n"
    rows = list(csv.DictReader(Path("queries.csv").read_text().splitlines()))
    assert [row["query"] for row in rows] == expected.query_ids.tolist()
    assert [float(row["expected"]) for row in rows] == expected.columns()["expected"].tolist()
    assert run("compare", *files, "--plot", "comparison.svg") == 0
    assert Path("comparison.svg").read_text().startswith("<?xml")
    assert run("compare", *files, "--categories", "categories.txt", "--average", "macro") == 0


def test_records(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = {name: tp.evaluate(SYSTEMS[name], LABELS, measures=["AP", "RR"]) for name in ("good", "noise")}
    for name, result in results.items():
        result.save(f"{name}.tieproof")
        result.save(f"{name.upper()}.TIEPROOF")
    assert run("compare", "GOOD.TIEPROOF", "NOISE.TIEPROOF") == 0
    capsys.readouterr()
    assert run("compare", "good.tieproof", "noise.tieproof") == 0
    assert capsys.readouterr().out == f"{tp.compare(results)}\n"
    assert run("compare", "good.tieproof", "noise.tieproof", "-m", "RR") == 0
    assert capsys.readouterr().out == f"{tp.compare(results, measures=['RR'])}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["labels.npy", "good.npy"],
            "needs the embeddings of two or more systems, and one was given, in addition to a file of labels",
        ),
        (["--qrels", "qrels.txt", "base.run"], "needs the runs of two or more systems, and one was given."),
        (
            ["--qrels", "qrels.txt", "base.run", "base.run"],
            "base.run is given twice, but a system cannot be compared",
        ),
        (
            ["labels.npy", "good.npy", "bits.npy", "--missing", "zero"],
            "--missing does not apply to embeddings, which were",
        ),
        (["a.tieproof", "b.tieproof", "--average", "macro"], "--average does not apply to records, which were given"),
        (["--qrels", "qrels.txt", "base.run", "ours.run", "--average", "macro"], "add --categories"),
        (["labels.npy", "good.npy", "bits.npy", "--confidence", "1"], "'1' is not a number between 0 and 1"),
        (["labels.npy", "good.npy", "bits.npy", "--test", "anova"], "'anova' is not one of sign-flip, t, wilcoxon"),
        (["labels.npy", "good.npy", "bits.npy", "-m", "APP"], "--measure: Unknown measure 'APP'"),
        (["labels.npy", "good.npy", "bits.npy", "--baseline", "c"], "Unknown baseline='c'. Known: good, bits."),
        (["labels.npy", "good.npy", "absent.npy"], "absent.npy does not exist"),
        (["labels.npy", "good.npy", "ours=absent.npy"], "ours=absent.npy does not exist"),
        (["labels.npy", "a=good.npy", "a=bits.npy"], "a is the name of two systems; give each another name as NAME="),
    ],
)
def test_refused_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run("compare", *arguments) == 2
    said = capsys.readouterr().err
    assert message.lower() in said.lower()
    assert said.count("\n") == 1


def test_intervals_over_queries(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tp.evaluate(SYSTEMS["bits"], LABELS, measures=["AP", "P@1"])
    assert run("evaluate", "bits.npy", "labels.npy", "-m", "AP,P@1", "--ci", "0.9") == 0
    said = capsys.readouterr().out
    assert said == f"{result.with_ci(0.9)}\n"
    interval = result.interval("AP", 0.9)
    assert f"{interval.low:.4f} to {interval.high:.4f}" in said
    assert "queries 90%" in said.splitlines()[0]
    assert "tie std" in said.splitlines()[0]
    assert run("evaluate", "bits.npy", "labels.npy", "-m", "AP", "--ci", "0.9", "--json", "-") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["intervals"]["AP"]["low"], data["intervals"]["AP"]["high"]) == (interval.low, interval.high)
    assert run("run", "qrels.txt", "ours.run", "-m", "AP", "--ci", "0.95") == 0
    assert "queries 95%" in capsys.readouterr().out
    assert run("evaluate", "bits.npy", "labels.npy", "--ci", "95") == 2
    assert "'95' is not a number between 0 and 1" in capsys.readouterr().err


def test_distribution(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tp.evaluate(SYSTEMS["bits"], LABELS, measures=["AP", "P@1"])
    assert run("evaluate", "bits.npy", "labels.npy", "-m", "AP,P@1", "--distribution", "P@1") == 0
    assert capsys.readouterr().out == f"{result.distribution('P@1')}\n"
    assert run("run", "qrels.txt", "ours.run", "-m", "P@1", "--distribution", "P@1", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["quantiles"][2]["probability"] == 0.5
    assert run("run", "qrels.txt", "ours.run", "-m", "P@1", "--distribution", "AP") == 2
    assert "has no measure 'AP'" in capsys.readouterr().err
