"""The command line: its output, its files, and its one-line errors."""

import contextlib
import csv
import glob
import gzip
import importlib.util
import io
import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq
import pytest

import bundles
import competitions
import neighbor_files
import shard_files
import tieproof as tp
import tieproof.cli.evaluate  # made from the signature of tp.evaluate, which tests replace
import tieproof.cli.run
from command_line import Outcome, process, the_line
from programs_here import programs_here
from smaller_audits import few_items
from tieproof import cli
from tieproof.cli import exits
from tieproof.cli import measures as measures_text
from tieproof.cli.commands import COMMANDS, program
from tieproof.distances import DISTANCES
from tieproof.evaluation.evaluated import EMPTY
from tieproof.evaluation.runs import MISSING
from tieproof.evaluation.scoring import Empty
from tieproof.measures import REGISTRY

Array = npt.NDArray[Any]

VECTORS = np.random.default_rng(5).integers(-2, 3, size=(40, 3)).astype(np.float32)
LABELS = np.arange(40) % 4
CONFIDENCES = np.arange(40) % 7 / 7
GALLERY, GALLERY_LABELS = VECTORS[::2] + 1, LABELS[::2]

BETWEEN = np.square(VECTORS[:, None] - VECTORS).sum(axis=2)
IDS = np.argsort(BETWEEN, axis=1, kind="stable")[:, :6]
OF_IDS = np.take_along_axis(BETWEEN, IDS, axis=1)

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\nq2 0 d4 1\nq3 0 d1 0\nq4 0 d1 1\n"
RUN = "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.5 t\nq2 Q0 d3 1 0.9 t\nq2 Q0 d9 2 0.5 t\nq9 Q0 d9 1 0.5 t\n"
"""Queries with a tie, without a tie, without relevant documents, without documents, and without judgments."""

PREDICTIONS = '{"query_id": "q1", "query": "?", "results": [{"corpus_id": "d1", "score": 0.5}]}\n'
SCORES = "qid,docid,score,label\nq1,d1,0.5,1\nq1,d2,0.5,0\nq2,d3,0.9,2\nq2,d9,0.5,0\n"
RUN_OF_MTEB = {"q1": {"d1": 0.5, "d2": 0.5}, "q2": {"d3": 0.9, "d9": 0.5}}
QRELS_OF_MTEB = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d4": 1}}

CATEGORIES = "q1 short\nq2 long\nq3 short\nq4 long\n"

Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that help texts name."""
    folder = tmp_path_factory.mktemp("examples")
    with contextlib.chdir(folder):
        write_examples()
    return folder


def write_examples() -> None:
    np.save("embeddings.npy", VECTORS)
    np.save("labels.npy", LABELS)
    np.save("confidences.npy", CONFIDENCES)
    np.save("deserved.npy", CONFIDENCES[::-1])
    np.save("sigmas.npy", np.arange(1.0, len(CONFIDENCES) + 1))
    alone = np.append(LABELS[1:], 99)  # an item without another one of its label
    np.save("frames.npy", VECTORS)
    np.save("places.npy", alone)
    files = ("queries", VECTORS, LABELS), ("probes", VECTORS, alone), ("gallery", GALLERY, GALLERY_LABELS)
    for name, vectors, labels in files:
        np.savez(f"{name}.npz", features=vectors, labels=labels)
    np.savez("data.npz", features=VECTORS, labels=LABELS)
    neighbor_files.write_examples()
    competitions.write_examples()
    for name, array in {"ids": IDS, "distances": OF_IDS, "scores": -OF_IDS, "gallery_labels": 3 - LABELS}.items():
        np.save(f"{name}.npy", array)
    np.savez("found.npz", ids=IDS, distances=OF_IDS)
    np.save("filtered.npy", [[0, 1], [0, 2], [3, 1]])
    for name in ("qrels.txt", "qrels.diversity"):
        Path(name).write_text(QRELS)
    Path("run.txt").write_text(RUN)
    Path("predictions.jsonl").write_text(PREDICTIONS)
    Path("scores.csv").write_text(SCORES)
    Path("chunks.run").write_text("q1 Q0 d1#0 1 0.5 t\nq1 Q0 d1#1 2 0.4 t\nq1 Q0 d2#0 3 0.4 t\n")
    Path("documents.txt").write_text("d1#0 d1\nd1#1 d1\nd2#0 d2\n")
    Path("qrels.json").write_text(json.dumps(QRELS_OF_MTEB))
    Path("reranked.json").write_text(json.dumps([{"query": "q1", "candidates": [{"docid": "d1", "score": 0.5}]}]))
    table = pd.read_csv("scores.csv")
    table.to_json("scores.jsonl", orient="records", lines=True)
    table.to_parquet("distances.parquet")
    Path("categories.txt").write_text(CATEGORIES)
    for name, scores in (("predictions", RUN_OF_MTEB), ("qrels", QRELS_OF_MTEB)):
        Path(f"SciFact_{name}.json").write_text(json.dumps({"default": {"test": scores}}))
    Path("runs").mkdir()
    for name in ("base.run", "ours.run", "theirs.run", "runs/ours.run", "runs/theirs.run"):
        Path(name).write_text(RUN)
    Path("published.tsv").write_text("ours\t0.5\ntheirs\t0.4\n")
    pairs = [(number % 2, number) for number in range(20)]
    Path("pairs.csv").write_text("".join(["label,score\n", *(f"{label},{number}\n" for label, number in pairs)]))
    for name, blank in (("trials.txt", " "), ("trials.csv", ",")):
        Path(name).write_text("".join(f"{label}{blank}a{blank}b{number}\n" for label, number in pairs))
    for name, blank in (("scores.txt", " "), ("trial_scores.csv", ",")):
        Path(name).write_text("".join(f"a{blank}b{number}{blank}{label + number / 40}\n" for label, number in pairs))
    shard_files.write(Path("gallery"), ".parquet", GALLERY, GALLERY_LABELS, cuts=[7])
    for name in ("ours", "theirs", "here", "there", "other", "other_there"):
        np.save(f"{name}.npy", VECTORS)
        tp.evaluate(VECTORS, LABELS).save(f"{name}.tieproof")
    tp.evaluate(VECTORS, LABELS).save("embeddings.tieproof")
    tp.evaluate(VECTORS, LABELS, gallery=GALLERY, gallery_labels=GALLERY_LABELS).save("queries.tieproof")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.InputWarning)
        tp.evaluate_run("qrels.txt", "run.txt").save("run.tieproof")
    Path("texts.txt").write_text("".join(f"text {number}\n" for number in range(40)))


@pytest.fixture
def run(examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in a copy of the folder with the files that help texts name."""
    shutil.copytree(examples, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv(exits.TRACEBACK, raising=False)

    def call(*args: str) -> Outcome:
        with pytest.raises(SystemExit) as stopped:
            cli.main(args)
        assert isinstance(stopped.value.code, int)
        return Outcome(stopped.value.code, *capsys.readouterr())

    return call


# What comes out


def test_table_is_the_text_of_the_result(run: Run) -> None:
    outcome = run("evaluate", "embeddings.npy", "labels.npy")
    assert outcome == (0, f"{tp.evaluate(VECTORS, LABELS)}\n", "")


def test_tables_of_scores_are_evaluated(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = tp.evaluate_scores("scores.csv", measures=["RR"], categories="categories.txt", average="macro")
    options = ["-m", "RR", "--categories", "categories.txt", "--average", "macro", "--json", "-"]
    assert run("scores", "scores.csv", *options) == (0, expected.to_json() + "\n", "")
    assert expected["RR"].lower == 0.75  # q1 is tied with d2, q2 is first
    expected = tp.evaluate_distances("distances.parquet", n_relevant=1, n_items=9, measures=["RR"])
    cut_off = "scores distances.parquet --distances -m RR --n-relevant 1 --n-items 9 --json - --per-query queries.csv"
    assert run(*cut_off.split()).out == expected.to_json() + "\n"
    assert Path("queries.csv").read_text().splitlines()[1].startswith(f"q1,RR,{1 / 9},")  # all nine may be tied
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SCORES.encode())))
    assert run("scores", "-", "-m", "RR").out == f"{tp.evaluate_scores('scores.csv', measures=['RR'])}\n"


def test_files_for_other_commands_lead_to_them(run: Run) -> None:
    pd.read_csv("scores.csv").to_json("lines.jsonl", orient="records", lines=True)
    pd.read_csv("scores.csv").to_json("scores.json", orient="records")
    for given in ("scores.csv", "lines.jsonl labels.npy", "scores.json"):
        found = run("evaluate", *given.split())
        assert (found.status, f"use tieproof scores {given.split()[0]}, or" in found.err) == (2, True)
    for given in ("evaluate qrels.txt run.txt", "evaluate base.run qrels.txt", "compare qrels.txt run.txt base.run"):
        assert re.search("contains (a )?TREC .*, not embeddings. .*tieproof run QRELS RUN", run(*given.split()).err)
    for given in ("run qrels.txt qrels.txt", "compare --qrels qrels.txt run.txt qrels.txt"):
        assert "qrels.txt contains TREC qrels, not a TREC run." in run(*given.split()).err
    assert "tieproof run QRELS RUN" in run("scores", "qrels.txt").err
    Path("run.json").write_text('{"q": {"d": 0.5}}')
    for given in ("evaluate run.json", "scores run.json"):
        assert "tieproof run" in run(*given.split()).err


@pytest.mark.parametrize("distance", [name for name in DISTANCES if name not in ("hamming", "maxsim", "meanmaxsim")])
def test_options_reach_the_evaluation(run: Run, distance: str) -> None:
    arguments = "evaluate queries.npz --gallery gallery.npz -m AP -m nDCG(gain=exp)@3 --empty zero --json - -d"
    outcome = run(*arguments.split(), distance, "--memory", "64MiB", "--threads", "1")
    expected = tp.evaluate(
        VECTORS,
        LABELS,
        gallery=GALLERY,
        gallery_labels=GALLERY_LABELS,
        distance=distance,
        measures=["AP", "nDCG(gain=exp)@3"],
        empty="zero",
    )
    assert outcome == (0, expected.to_json() + "\n", "")


def test_labels_and_groups_by_location(run: Run) -> None:
    groups = np.arange(40) % 3
    np.savez("all.npz", x=VECTORS, y=LABELS, species=LABELS[::-1], camera=groups, other_camera=groups[:20])
    outcome = run("evaluate", "all.npz:x", "all.npz:species", "--groups", "all.npz:camera", "--json", "-")
    assert outcome.out == tp.evaluate(VECTORS, LABELS[::-1], groups=groups).to_json() + "\n"
    sides = "--gallery gallery.npz:features --gallery-labels gallery.npz:labels --gallery-groups all.npz:other_camera"
    outcome = run("evaluate", "all.npz:x", *sides.split(), "--groups", "all.npz:camera", "--json", "-")
    expected = tp.evaluate(
        VECTORS, LABELS, gallery=GALLERY, gallery_labels=GALLERY_LABELS, groups=groups, gallery_groups=groups[:20]
    )
    assert outcome.out == expected.to_json() + "\n"


def test_label_column_of_the_same_table_is_no_dimension(run: Run) -> None:
    rows = [[*map(repr, point), int(label)] for point, label in zip(VECTORS.tolist(), LABELS, strict=True)]
    with open("table.csv", "w", newline="") as file:
        csv.writer(file).writerows([["f0", "f1", "f2", "species"], *rows])
    outcome = run("evaluate", "table.csv", "table.csv:species", "--json", "-")
    assert outcome.out == tp.evaluate(VECTORS.astype(float), LABELS).to_json() + "\n"


def test_categories(run: Run) -> None:
    kinds = np.arange(40) % 3
    np.save("kinds.npy", kinds)
    arguments = "evaluate embeddings.npy labels.npy -m AP --categories kinds.npy"
    expected = tp.evaluate(VECTORS, LABELS, measures=["AP"], categories=kinds)
    assert run(*arguments.split()) == (0, f"{expected}\n", "")
    assert run(*arguments.split(), "--json", "-") == (0, expected.to_json() + "\n", "")
    outcome = run(*["evaluate", "embeddings.npy", "labels.npy", "--average", "macro", "--per-query", "queries.csv"])
    assert outcome == (0, f"{tp.evaluate(VECTORS, LABELS, average='macro')}\n", "")
    with open("queries.csv", newline="") as file:
        assert [int(row["category"]) for row in csv.DictReader(file)][:40] == LABELS.tolist()


def test_confidences(run: Run) -> None:
    result = tp.evaluate(VECTORS, LABELS, measures=["AP", "P@1"], confidence=CONFIDENCES)
    np.savez("all.npz", features=VECTORS, labels=LABELS, confidence=CONFIDENCES[:, None])
    written = CONFIDENCES.tolist()
    Path("confidences.txt").write_text("\n".join(map(str, written)))
    Path("confidences.json").write_text(json.dumps(written))
    Path("table.csv").write_text("id,confidence\n" + "\n".join(f"{at},{value}" for at, value in enumerate(written)))
    for data, location in itertools.product(
        ("embeddings.npy labels.npy", "all.npz"),
        ("confidences.npy", "confidences.txt", "confidences.json", "table.csv", "all.npz", "all.npz:confidence"),
    ):
        outcome = run("evaluate", *data.split(), "-m", "AP", "-m", "P@1", "--confidence", location)
        assert outcome == (0, f"{result}\n", "")
    page = run("evaluate", "all.npz", "-m", "AP", "-m", "P@1", "--confidence", "all.npz", "--json", "-").out
    assert json.loads(page) == result.to_dict()
    Path("whole.txt").write_text("\n".join(map(str, range(40))))
    assert "No confidences are tied." in run("evaluate", "all.npz", "--confidence", "whole.txt").out


@pytest.mark.parametrize(
    ("confidences", "said"),
    [
        (np.full(40, np.nan), "wrong.npy: The confidences must contain only finite numbers, but contain nan at [0]"),
        (np.zeros(39), "wrong.npy, embeddings.npy: The number of confidences is 39, but the number of queries is 40"),
        (np.zeros((40, 2)), "wrong.npy: The confidences must have shape (n,), not (40, 2)"),
        (np.array(["0.5"] * 39 + ["high"]), "wrong.npy has 'high' at [39]; confidences are numbers"),
        (np.zeros(40, dtype=complex), "wrong.npy: The confidences must contain real numbers, not complex128"),
    ],
)
def test_wrong_confidences(run: Run, confidences: Array, said: str) -> None:
    np.save("wrong.npy", confidences)
    assert said in the_line(run("evaluate", "embeddings.npy", "labels.npy", "--confidence", "wrong.npy"))


def test_confidences_that_nothing_names(run: Run) -> None:
    Path("table.csv").write_text("a,b,label,sure\n" + "\n".join(f"1,2,{at % 2},0.5" for at in range(4)))
    said = the_line(run("evaluate", "data.npz", "--confidence", "table.csv"))
    assert "table.csv does not say which of its entries are the confidences" in said


def test_categories_of_a_run(run: Run) -> None:
    expected = tp.evaluate_run("qrels.txt", "run.txt", categories="categories.txt", average="macro")
    arguments = "run qrels.txt run.txt --categories categories.txt --average macro"
    assert run(*arguments.split()) == (0, f"{expected}\n", "")


def test_packed_codes(run: Run) -> None:
    np.save("codes.npy", np.packbits(VECTORS > 0, axis=1))
    outcome = run("evaluate", "codes.npy", "labels.npy", "-d", "hamming", "--bits", "3", "--json", "-")
    assert outcome.out == tp.evaluate(VECTORS > 0, LABELS, distance="hamming").to_json() + "\n"


def test_json_file(run: Run) -> None:
    outcome = run("evaluate", "embeddings.npy", "labels.npy", "--json", "result.json")
    result = tp.evaluate(VECTORS, LABELS)
    assert (outcome.status, outcome.err) == (0, "")
    assert Path("result.json").read_text() == result.to_json() + "\n"
    assert json.loads(Path("result.json").read_text()) == result.to_dict()


def test_per_query_files_hold_every_float(run: Run) -> None:
    measures = ["AP", "P@10"]
    columns = tp.evaluate(VECTORS, LABELS, measures=measures).columns()
    for name in ("queries.csv", "queries.parquet"):
        arguments = f"evaluate embeddings.npy labels.npy -m AP -m P@10 --per-query {name}"
        assert run(*arguments.split()).status == 0
    assert pq.read_table("queries.parquet").to_pydict() == {name: column.tolist() for name, column in columns.items()}
    with open("queries.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(columns)
    kinds = (int, str, float, float, float, float)
    read = [[kind(cell) for kind, cell in zip(kinds, row, strict=True)] for row in rows]
    assert read == [list(row) for row in zip(*(column.tolist() for column in columns.values()), strict=True)]


def test_picture(run: Run) -> None:
    for name in ("result.svg", "result.pdf", "result.png"):
        assert run("evaluate", "embeddings.npy", "labels.npy", "-m", "AP", "--plot", name).status == 0
    drawn = Path("result.svg").read_text()
    value = tp.evaluate(VECTORS, LABELS)["AP"]
    assert all(f">{number:.4f}</text>" in drawn for number in (value.lower, value.expected, value.upper))
    assert Path("result.pdf").read_bytes().startswith(b"%PDF")
    assert Path("result.png").read_bytes().startswith(b"\x89PNG")
    assert run("run", "qrels.txt", "run.txt", "--plot", "run.svg").status == 0
    shown = run("run", "qrels.txt", "run.txt", "-m", "AP", "--plot-precision-recall", "curve.svg")
    assert "interpolated precision" in Path("curve.svg").read_text()
    assert "IPrec(recall=0.1)" in shown.out
    assert ">nDCG@10</text>" in Path("run.svg").read_text()


def test_picture_that_cannot_be_drawn_is_found_before_the_evaluation(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tp, "evaluate", None)
    files = ("evaluate", "embeddings.npy", "labels.npy", "--plot")
    assert "'.jpeg', which cannot be written here. Use one of: .svg, .pdf, .png" in the_line(
        run(*files, "result.jpeg")
    )
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'tieproof[plot]'" in the_line(run(*files, "result.svg"))


def test_missing_extra_is_found_before_the_evaluation(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(tp, "evaluate", None)
    line = the_line(run("evaluate", "embeddings.npy", "labels.npy", "--per-query", "queries.parquet"))
    assert "pip install 'tieproof[parquet]'" in line


# Runs


def test_table_of_a_run_is_the_text_of_the_result(run: Run) -> None:
    result = tp.evaluate_run("qrels.txt", "run.txt")
    assert run("run", "qrels.txt", "run.txt") == (0, f"{result}\n", "")
    assert run("run", "qrels.txt", "run.txt", "--explain") == (0, f"{result.to_text(explain=True)}\n", "")


def test_options_reach_the_evaluation_of_a_run(run: Run) -> None:
    arguments = "--missing skip --empty zero --truncated --n-items 20 -m AP -m ndcg_cut_2 --json -"
    expected = tp.evaluate_run(
        "qrels.txt", "run.txt", measures=["AP", "nDCG@2"], missing="skip", empty="zero", truncated=True, n_items=20
    )
    assert run("run", "qrels.txt", "run.txt", *arguments.split()) == (0, expected.to_json() + "\n", "")


def test_packed_files(run: Run) -> None:
    table = run("run", "qrels.txt", "run.txt").out
    for name in ("qrels.txt", "run.txt"):
        Path(name).write_bytes(gzip.compress(Path(name).read_bytes()))
    assert run("run", "qrels.txt", "run.txt") == (0, table, "")


LINES = """\
map                     q1      0.5000
P_1                     q1      0.0000
map                     q2      0.5000
P_1                     q2      1.0000
map                     q4      0.0000
P_1                     q4      0.0000
map                     all     0.3333
P_1                     all     0.3333
"""


@pytest.mark.parametrize("option", ["-q", "--lines"])
def test_lines_of_every_query_and_the_mean(run: Run, option: str) -> None:
    outcome = run("run", "qrels.txt", "run.txt", "-m", "map", "-m", "P_1", option)
    assert (outcome.status, outcome.out.expandtabs()) == (0, LINES)
    assert outcome.err.splitlines() == [
        "The run has no document for 2 of 4 judged queries; 1 of these counts as 0.",
        "Left out: 1 query with no judgment in the qrels.",
    ]


def test_lines_are_those_of_trec_eval(run: Run) -> None:
    r"""Its source prints them as "%-22s\\t%s\\t%6.4f\\n"."""
    outcome = run("run", "qrels.txt", "run.txt", "-q", "--empty", "nan", "-m", "RR")
    result = tp.evaluate_run("qrels.txt", "run.txt", empty="nan", measures=["RR"])
    read = {query: float(value) for _, query, value in (line.split("\t") for line in outcome.out.splitlines())}
    expected = dict(zip(result.query_ids.tolist(), result.per_query("RR").lower.tolist(), strict=True))
    assert read == pytest.approx({**expected, "all": result["RR"].lower}, nan_ok=True, abs=5e-5)
    assert all(re.fullmatch(r"RR {20}\t\S+\t(\d\.\d{4}| +nan)", line) for line in outcome.out.splitlines())


def test_names_that_standard_output_cannot_hold(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("straße 0 d1 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("straße Q0 d1 1 1 t\n", encoding="utf-8")
    for arguments, said in ((("run", "qrels", "run", "-q"), "stra\\xdfe"), (("measures", "nDCG"), "J\\xe4rvelin")):
        started = process(*arguments, folder=tmp_path, encoding="ascii")
        out, err = started.communicate(timeout=60)
        assert (started.returncode, err) == (0, "")
        assert said in out


def test_files_of_a_run(run: Run) -> None:
    arguments = "qrels.txt run.txt -m AP -q --json result.json --per-query queries.csv"
    assert run("run", *arguments.split()).status == 0
    result = tp.evaluate_run("qrels.txt", "run.txt", measures=["AP"])
    assert Path("result.json").read_text() == result.to_json() + "\n"
    with open("queries.csv", newline="") as file:
        assert [row["query"] for row in csv.DictReader(file)] == ["q1", "q2", "q4"]


def test_what_a_library_prints_for_a_run(run: Run) -> None:
    result = tp.evaluate_run("qrels.txt", "run.txt", measures=["AP"])
    shown = result.as_printed("descending", qrels="qrels.txt", run="run.txt")
    asked = ("run", "qrels.txt", "run.txt", "-m", "AP", "--as", "descending")
    assert run(*asked) == (0, f"{shown}\n", "")
    assert run(*asked, "--json", "-").out == f"{shown.to_json()}\n"
    line = the_line(run(*asked, "-q"))
    assert "--as adds a column to the table, which --lines (-q) replaces; leave one of them out." in line
    assert "which --distribution replaces" in the_line(run(*asked, "--distribution", "AP"))


def test_tables_to_paste(run: Run) -> None:
    result = tp.evaluate_run("qrels.txt", "run.txt", measures=["AP"])
    asked = ("run", "qrels.txt", "run.txt", "-m", "AP")
    assert run(*asked, "--latex", "-") == (0, f"{result.to_latex()}\n", "")
    assert run(*asked, "--markdown", "-") == (0, f"{result.to_markdown()}\n", "")
    assert run(*asked, "--latex", "table.tex", "--markdown", "table.md").out == f"{result}\n"
    assert Path("table.tex").read_text(encoding="utf-8") == f"{result.to_latex()}\n"
    assert Path("table.md").read_text(encoding="utf-8") == f"{result.to_markdown()}\n"
    assert run("run", "qrels.txt", "absent.txt", "--latex", "table.tex").status == 2
    assert Path("table.tex").read_text(encoding="utf-8") == f"{result.to_latex()}\n"
    assert "Use one of: .tex." in the_line(run(*asked, "--latex", "table.txt"))
    assert "--json - and --latex - print on one standard output" in the_line(
        run(*asked, "--latex", "-", "--json", "-")
    )
    assert "--lines (-q) and --markdown - both print on standard output; write the table to a file." in the_line(
        run(*asked, "--markdown", "-", "-q")
    )
    evaluated = tp.evaluate(np.load("embeddings.npy"), np.load("labels.npy"))
    assert run("evaluate", "embeddings.npy", "labels.npy", "--latex", "-").out == f"{evaluated.to_latex()}\n"


# Measures


def test_measures_shows_the_registry(run: Run) -> None:
    outcome = run("measures")
    assert (outcome.status, outcome.err) == (0, "")
    words = " ".join(outcome.out.split())
    for definition in REGISTRY.values():
        said = [definition.name, definition.meaning, definition.formula, definition.source]
        said += [parameter.meaning for parameter in definition.parameters]
        said += [*measures_text.names_elsewhere(definition)]
        for text in said:
            assert " ".join(text.split()) in words


def test_spelled_headings_parse(run: Run) -> None:
    headings = re.findall(r"^\w\S+.*$", run("measures").out.split("In the formulas")[0], re.MULTILINE)
    assert len(headings) == len(REGISTRY)
    for heading in headings:
        for cutoff in ("", "@10"):
            assert tp.measures.parse(re.sub(r"\[.*\]", cutoff, heading.replace("@k", "@10"))).name in REGISTRY


@pytest.mark.parametrize("name", ["nDCG", "ndcg", "nDCG(gain=exp)@3", "ndcg_cut_10"])
def test_one_measure(run: Run, name: str) -> None:
    outcome = run("measures", name)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("nDCG(gain=linear,ideal=all)[@k]\n    Normalized discounted cumulative gain")
    assert "trec_eval: ndcg_cut_k is nDCG@k" in outcome.out
    assert outcome.out.count("formula ") == 1


def test_some_measures_each_once(run: Run) -> None:
    out = run("measures", "P", "rr", "P_10").out
    assert [line for line in out.splitlines() if line.startswith(("P@", "RR["))] == ["P@k", "RR[@k]"]


def test_unknown_and_ambiguous_measures(run: Run) -> None:
    assert "Unknown measure 'mAPP'" in the_line(run("measures", "mAPP"))
    assert "'map@10' has several meanings: 'AP@10' in ranx" in the_line(run("measures", "map@10"))


def test_names_elsewhere_are_understood_unless_they_are_marked() -> None:
    for definition in REGISTRY.values():
        for spellings in measures_text.names_elsewhere(definition).values():
            for name, ours in spellings.items():
                theirs = re.sub(
                    r"((?<=[@_./=p-])|(?<=rank)|(?<=acc)|(?<=cmc))k(?=$|[)%_-])", "5", name.removesuffix("*")
                )
                if name.endswith("*"):
                    with pytest.raises(tp.InputError, match="has several meanings"):
                        tp.measures.parse(theirs)
                else:
                    assert str(tp.measures.parse(theirs)) == re.sub(r"(?<=[@.])k\b", "5", ours)


def test_what_is_not_offered_is_shown_with_the_reason(run: Run) -> None:
    words = " ".join(run("measures").out.split())
    for library, names, reason in measures_text.not_offered():
        assert f"{library}: {names}: {reason}" in words
    assert "not offered here" not in run("measures", "AP").out
    assert "'hits' is not offered: in ranx it is a number of hits" in the_line(run("measures", "hits"))


@pytest.mark.parametrize("width", [None, 20, 44, 100])
def test_measures_keep_to_the_width(width: int | None) -> None:
    text = measures_text.render(measures_text.find([]), width)
    assert all(line == line.rstrip() and len(line) <= max(width or 80, 44) for line in text.split("\n"))
    colored = measures_text.render(measures_text.find([]), width, color=True)
    assert colored != text == re.sub(r"\x1b\[\d*m", "", colored)


# Help


@pytest.mark.long
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_examples_of_help_texts_run(run: Run, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    programs_here(monkeypatch)
    few_items(monkeypatch)
    outcome = run(*command, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    examples = re.findall(r"^  tieproof (.+)$", outcome.out, re.MULTILINE)
    assert examples
    if command == ["competition"]:
        bundles.competition(Path())
    for example in examples:
        if command == ["truth"]:
            shutil.rmtree("truth")  # a truth is written to a folder of its own
        # As a shell does with words that are not in quotes.
        expanded = [(f"'{word}'" not in example and glob.glob(word)) or [word] for word in shlex.split(example)]
        outcome = run(*chain.from_iterable(expanded), *(["--items", "60"] if command == ["audit"] else []))
        extra, library = ("ray", "ray") if "--cluster" in example else ("stats", "scipy")
        if ("--cluster" in example or "--mass" in example) and importlib.util.find_spec(library) is None:
            assert f"Install it with: pip install 'tieproof[{extra}]'" in the_line(outcome)
            continue
        assert outcome.status == 0, example
        assert not outcome.err or "-q" in example


def test_a_short_option_means_one_thing_everywhere() -> None:
    meanings: dict[str, set[str]] = {}
    with click.Context(program) as ctx:
        found = [program.get_command(ctx, name) for name in COMMANDS]
        found += [each for group in found if isinstance(group, click.Group) for each in group.commands.values()]
    for command in found:
        for param in command.params if command else ():
            for short in (name for name in param.opts if isinstance(param, click.Option) and name[:2] != "--"):
                meanings.setdefault(short, set()).add(max(param.opts, key=len))
    assert meanings == {
        "-M": {"-M"},
        "-a": {"--attack"},
        "-c": {"--complete"},
        "-d": {"--distance"},
        "-k": {"-k"},
        "-l": {"--level"},
        "-m": {"--measure"},
        "-q": {"--lines"},
    }


def test_help_lists_what_the_registries_hold(run: Run) -> None:
    text = run("evaluate", "--help").out
    for name in [*DISTANCES, *tp.DEFAULT_MEASURES, *EMPTY]:
        assert re.search(rf"(?<!\w){re.escape(name)}\b", text), name
    text = run("run", "--help").out
    for name in [*MISSING, *tp.DEFAULT_MEASURES, *EMPTY]:
        assert re.search(rf"(?<!\w){re.escape(name)}\b", text), name


@pytest.mark.parametrize("command", ["evaluate", "run", "fnmr"])
def test_help_says_what_the_deviation_is_over(run: Run, command: str) -> None:
    text = " ".join(run(command, "--help").out.split())
    assert "tie std is the standard deviation over the orderings of" in text


def test_without_a_command_help_is_shown(run: Run) -> None:
    assert run().out.strip() == run("--help").out.strip()


def test_help_has_a_short_name(run: Run) -> None:
    for command in ([], ["evaluate"]):
        assert run(*command, "-h") == run(*command, "--help")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "embeddings.npy --gallery gallery.npz",
            "gallery.npz contains labels, but embeddings.npy contains none. Give the missing labels as",
        ),
        (
            "data.npz --gallery embeddings.npy",
            "data.npz contains labels, but embeddings.npy contains none. Give the missing labels as --gal",
        ),
        ("nothing.npy --gallery gallery.npz", "nothing.npy does not exist"),
    ],
)
def test_collisions_with_labels_of_one_side(run: Run, arguments: str, said: str) -> None:
    assert said in the_line(run("collisions", *arguments.split()))


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"tieproof {tp.__version__}\n", "")


# Pooled and structural measures


def test_fnmr_is_that_of_the_library(run: Run) -> None:
    rates = tp.fnmr_at_fmr(VECTORS, LABELS, fmr=(0.1, 0.5), method="exact")
    arguments = "fnmr embeddings.npy labels.npy --fmr 0.1 --fmr 0.5 --method exact --threads 1 --memory 64MiB"
    assert run(*arguments.split()) == (0, f"{rates}\n", "")
    assert run(*arguments.split(), "--json", "-") == (0, f"{rates.to_json()}\n", "")
    assert run(*arguments.split(), "--json", "rates.json")[::2] == (0, "")
    assert json.loads(Path("rates.json").read_text()) == json.loads(rates.to_json())


def test_fnmr_with_a_curve(run: Run) -> None:
    rates = tp.fnmr_at_fmr(VECTORS, LABELS, curve=True)
    assert run("fnmr", "embeddings.npy", "labels.npy", "--curve") == (0, f"{rates}\n", "")
    assert "minDCF (0.05)" in str(rates)
    assert run("fnmr", "embeddings.npy", "labels.npy", "--curve", "--json", "-") == (0, f"{rates.to_json()}\n", "")


def test_fnmr_with_a_gallery(run: Run) -> None:
    outcome = run("fnmr", "queries.npz", "--gallery", "gallery.npz", "-d", "euclidean")
    rates = tp.fnmr_at_fmr(VECTORS, LABELS, gallery=GALLERY, gallery_labels=GALLERY_LABELS, distance="euclidean")
    assert outcome == (0, f"{rates}\n", "")


def test_o_suggests_what_writes_a_result(run: Run) -> None:
    assert "Did you mean --json or --save?" in the_line(run("evaluate", "embeddings.npy", "-o", "x"))


def test_det_is_that_of_the_library(run: Run) -> None:
    """Accepting scores from 0.7 on, one of three targets is missed, and one of three others is accepted."""
    pairs = [(1, "a b", 0.9), (1, "a c", 0.8), (1, "d e", 0.4), (0, "a d", 0.7), (0, "b e", 0.2), (0, "c e", 0.1)]
    Path("trials.txt").write_text("".join(f"{label} {pair}\n" for label, pair, _ in pairs))
    Path("scores.txt").write_text("".join(f"{pair} {score}\n" for _, pair, score in pairs))
    curve = tp.det_curve_of_pairs([label for label, *_ in pairs], [score for *_, score in pairs], folds=2)
    assert "EER                0.3333  0.3333" in str(curve)
    for files in (["trials.txt", "scores.txt"], ["scores.txt", "trials.txt"]):
        assert run("det", *files, "--folds", "2") == (0, f"{curve}\n", "")
    assert run("det", "trials.txt", "scores.txt", "--folds", "2", "--json", "-").out == f"{curve.to_json()}\n"
    assert "trials.txt is read" in the_line(run("det", "trials.txt", "scores.txt", "--json", "trials.txt"))
    assert "have the same lines" in the_line(run("det", "trials.txt", "trials.txt"))
    Path("pairs.csv").write_text("".join(["label,score\n", *(f"{label},{score}\n" for label, _, score in pairs)]))
    assert run("det", "pairs.csv", "--json", "-").out == run("det", "trials.txt", "scores.txt", "--json", "-").out
    for given in (
        "det trials.txt",
        "det scores.txt",
        "fnmr trials.txt scores.txt",
        "fnmr scores.txt",
        "evaluate scores.txt trials.txt",
        "compare scores.txt trials.txt embeddings.npy",
        "run trials.txt scores.txt",
        "scores scores.txt",
    ):
        assert "tieproof det TRIALS SCORES" in the_line(run(*given.split()))
    assert "tieproof det pairs.csv" in the_line(run("fnmr", "pairs.csv"))
    assert "tieproof fnmr" in the_line(run("det", "embeddings.npy", "labels.npy"))
    for command in ("scores", "evaluate", "fnmr"):
        assert "tieproof det pairs.csv" in run(command, "pairs.csv").err


def test_open_set_is_that_of_the_library(run: Run) -> None:
    found = tp.open_set_identification(
        VECTORS, LABELS, gallery=GALLERY, gallery_labels=GALLERY_LABELS, distance="euclidean", fpir=0.25
    )
    arguments = ["open-set", "queries.npz", "--gallery", "gallery.npz", "-d", "euclidean", "--fpir", "0.25"]
    assert run(*arguments) == (0, f"{found}\n", "")
    assert run(*arguments, "--json", "-") == (0, f"{found.to_json()}\n", "")


def test_pcf_is_that_of_the_library(run: Run) -> None:
    arguments = ["pcf", "data.npz", "--explained", "0.5", "--explained", "1"]
    fractions = tp.pcf(VECTORS, (0.5, 1)).tolist()
    outcome = run(*arguments)
    assert [line.split() for line in outcome.out.splitlines()[2:]] == [
        [share, f"{fraction:.4f}"] for share, fraction in zip(("0.5", "1"), fractions, strict=True)
    ]
    assert json.loads(run(*arguments, "--json", "-").out) == {"explained": [0.5, 1.0], "pcf": fractions}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("fnmr embeddings.npy labels.npy --fmr 2", ["--fmr", "'2' is not a number from 0 to 1", "fnmr --help"]),
        ("fnmr embeddings.npy labels.npy --fmr nan", ["--fmr", "'nan' is not a number from 0 to 1"]),
        ("fnmr embeddings.npy labels.npy --fmr ten", ["--fmr", "'ten' is not a number"]),
        ("fnmr embeddings.npy labels.npy --method cubic", ["--method", "'cubic' is not one of linear, exact"]),
        ("fnmr embeddings.npy labels.npy -d dotty", ["--distance: Unknown distance 'dotty'"]),
        ("fnmr embeddings.npy labels.npy --groups labels.npy --gallery-labels labels.npy", ["need a gallery"]),
        ("fnmr embeddings.npy", ["embeddings.npy contains a single array and no labels"]),
        ("fnmr embeddings.npy nothing.npy", ["nothing.npy does not exist"]),
        ("fnmr embeddings.npy one.npy", ["one.npy: Every pair is relevant or excluded"]),
        ("fnmr data.npz --json data.npz", ["data.npz"]),
        ("pcf embeddings.npy --explained 1.5", ["--explained", "'1.5' is not a number from 0 to 1"]),
        ("pcf constant.npy", ["constant.npy: The embeddings do not vary"]),
        ("pcf nothing.npy", ["nothing.npy does not exist"]),
        ("pcf", ["Missing argument 'EMBEDDINGS'. See: tieproof pcf --help"]),
    ],
)
def test_wrong_pooled_and_structural(run: Run, arguments: str, said: list[str]) -> None:
    np.save("one.npy", np.zeros(40, dtype=np.int64))
    np.save("constant.npy", np.ones((4, 3)))
    line = the_line(run(*arguments.split()))
    for part in said:
        assert part in line


# Errors: the files to write, the arguments, and the message

Case = tuple[dict[str, Array | bytes], str, list[str]]

NAN = VECTORS.copy()
NAN[3:5, 1] = np.nan


def npy(array: Array) -> bytes:
    """The bytes of a .npy file."""
    from io import BytesIO

    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


BAD_INPUTS: dict[str, Case] = {
    "nan": ({"bad.npy": NAN}, "bad.npy labels.npy", ["bad.npy: The embeddings", "finite", "row 3 contains nan"]),
    "nan in the gallery": (
        {"bad.npy": NAN},
        "queries.npz --gallery bad.npy --gallery-labels labels.npy",
        ["Error: bad.npy: The gallery", "row 3 contains nan"],
    ),
    "too few labels": (
        {"bad.npy": LABELS[1:]},
        "embeddings.npy bad.npy",
        ["bad.npy, embeddings.npy: The number of labels is 39, but the number of embeddings is 40"],
    ),
    "too few gallery labels": (
        {"bad.npy": LABELS[1:]},
        "queries.npz --gallery gallery.npz --gallery-labels bad.npy",
        ["bad.npy, gallery.npz: The number of gallery labels is 39, but the number of gallery items is 20"],
    ),
    "too few groups": (
        {"bad.npy": LABELS[1:]},
        "embeddings.npy labels.npy --groups bad.npy",
        ["bad.npy", "number of groups is 39"],
    ),
    "no columns": ({"bad.npy": VECTORS[:, :0]}, "bad.npy labels.npy", ["bad.npy", "(40, 0)", "column"]),
    "missing": ({}, "bad.npy labels.npy", ["bad.npy does not exist", "check the path"]),
    "folder": ({}, ". labels.npy", [". is a folder with files of several formats", "choose the shards"]),
    "another width": (
        {"bad.npy": VECTORS[:, :2]},
        "queries.npz --gallery bad.npy --gallery-labels labels.npy",
        ["queries.npz, bad.npy: The number of dimensions is 3 for the queries, but 2 for the gallery", "same model"],
    ),
    "nothing relevant": (
        {"bad.npy": np.arange(40)},
        "embeddings.npy bad.npy",
        ["bad.npy, embeddings.npy: No query has a relevant item", "40", "Check that"],
    ),
    "nothing relevant in the gallery": (
        {"bad.npy": GALLERY_LABELS + 4},
        "queries.npz --gallery gallery.npz --gallery-labels bad.npy",
        ["queries.npz, bad.npy: No query has a relevant item", "40", "Check that"],
    ),
    "one is empty, and that is an error": (
        {"bad.npy": np.append(LABELS[:-1], 9)},
        "embeddings.npy bad.npy --empty error",
        ["bad.npy", "1 of 40 queries", "query 39"],
    ),
    "labels given first": ({}, "labels.npy embeddings.npy", ["labels.npy contains labels only", "embeddings first"]),
    "labels in an array of vectors": ({}, "embeddings.npy", ["embeddings.npy", "single array", "as LABELS"]),
    "too few categories": (
        {"bad.npy": LABELS[1:]},
        "embeddings.npy labels.npy --categories bad.npy",
        ["Error: bad.npy, embeddings.npy: The number of categories is 39, but the number of queries is 40"],
    ),
    "kind of mean": ({}, "embeddings.npy labels.npy --average mean", ["--average", "'mean'", "micro, macro"]),
    "floats for hamming": ({}, "embeddings.npy labels.npy -d hamming", ["embeddings.npy: ", "float32", "x > 0"]),
    "measure": ({}, "embeddings.npy labels.npy -m mAPP", ["--measure", "'mAPP'", "AP", "nDCG@10"]),
    "cutoff": ({}, "embeddings.npy labels.npy -m P@0", ["--measure", "'P@0'", "at least 1"]),
    "distance": ({}, "embeddings.npy labels.npy -d cosin", ["--distance", "'cosin'", "cosine, euclidean"]),
    "memory": ({}, "embeddings.npy labels.npy --memory lots", ["--memory", "'lots'", "'1GiB'"]),
    "threads": ({}, "embeddings.npy labels.npy --threads 0", ["--threads", "not 0", "at least 1"]),
    "policy": ({}, "embeddings.npy labels.npy --empty drop", ["--empty", "'drop'", "skip, zero"]),
    "bits": ({}, "embeddings.npy labels.npy --bits many", ["--bits", "'many'", "tieproof evaluate --help"]),
    "option": ({}, "embeddings.npy labels.npy --metric AP", ["--metric", "tieproof evaluate --help"]),
    "option without its value": ({}, "embeddings.npy labels.npy -m", ["'-m' requires", "tieproof evaluate --help"]),
    "json in a file": ({}, "data.npz --json data.npz/r.json", ["data.npz/r.json", "no folder", "create it first"]),
    "no file at all": ({}, "", ["EMBEDDINGS", "tieproof evaluate --help"]),
    "gallery labels without a gallery": (
        {},
        "embeddings.npy labels.npy --gallery-labels labels.npy",
        ["--gallery-labels", "give its file with --gallery"],
    ),
    "json without its folder": (
        {"bad.npy": NAN},
        "bad.npy labels.npy --json nowhere/result.json",
        ["nowhere/result.json", "there is no folder", "create it first"],
    ),
    "json with another extension": ({}, "embeddings.npy labels.npy --json r.yaml", ["r.yaml", "'.yaml'", ".json"]),
    "table with an unknown extension": (
        {"bad.npy": NAN},
        "bad.npy labels.npy --per-query queries.xlsx",
        ["queries.xlsx", "'.xlsx'", ".csv, .parquet"],
    ),
    "output over input": (
        {"labels.csv": b"label\n" + b"1\n2\n" * 20},
        "embeddings.npy labels.csv --per-query labels.csv",
        ["labels.csv is read in this evaluation", "write the result to another file"],
    ),
}


@pytest.mark.parametrize(("files", "arguments", "said"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_input_is_one_line(run: Run, files: dict[str, Array | bytes], arguments: str, said: list[str]) -> None:
    for name, content in files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else npy(content))
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    line = the_line(run("evaluate", *arguments.split()))
    for part in said:
        assert part in line
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


BAD_RUNS: dict[str, tuple[dict[str, str], str, str]] = {
    "no file": ({}, "qrels.txt nowhere.txt", "nowhere.txt does not exist; check the path"),
    "no file there": ({}, "./qrels.txt ./nowhere.txt", "nowhere.txt does not exist; check the path"),
    "strangers": (
        {"run": "q8 Q0 d1 1 0.5 t\n"},
        "qrels.txt run",
        "qrels.txt, run: The run has no query of the qrels: the qrels have queries such as 'q1', the run such as",
    ),
    "missing": (
        {},
        "qrels.txt run.txt --missing error",
        "qrels.txt, run.txt: The run has no document for 1 of 4 queries of the qrels; the first is 'q4'. Complete "
        "the run, or set missing to zero or skip.",
    ),
    "empty": (
        {},
        "qrels.txt run.txt --empty error",
        "qrels.txt, run.txt: The qrels have no relevant document for 1 of 4 queries; the first is 'q3'. Leave them "
        "out, or set empty to skip, zero or one.",
    ),
    "too few items": (
        {},
        "qrels.txt run.txt --truncated --n-items 2",
        "qrels.txt, run.txt: --n-items is 2 for query q2, but its list contains 2, and 1 more are relevant.",
    ),
    "a name like an argument": (
        {"judged.txt": "n_items 0 d1 1\nq1 0 d1 1\n"},
        "judged.txt run.txt --missing error",
        "judged.txt, run.txt: The run has no document for 1 of 2 queries of the qrels; the first is 'n_items'.",
    ),
    "too many items": (
        {},
        f"qrels.txt run.txt --truncated --n-items {10**17}",
        f"qrels.txt, run.txt: --n-items must be the number of documents in the collection, not {10**17}.",
    ),
    "no items": (
        {},
        "qrels.txt run.txt --truncated --n-items 0",
        "Invalid value for '--n-items': '0' is not a whole number of at least 1. See: tieproof run --help",
    ),
    "items of a whole list": (
        {},
        "qrels.txt run.txt --n-items 9",
        "--n-items applies only to lists that were cut off; add --truncated, or leave it out.",
    ),
    "categories": (
        {"categories.txt": "q1 short\nq2\n"},
        "qrels.txt run.txt --categories categories.txt",
        "categories.txt has no category on line 2: 'q2'. A line has a query and its category.",
    ),
    "too few categories": (
        {"categories.txt": "q1 short\n"},
        "qrels.txt run.txt --categories categories.txt",
        "categories.txt: The categories lack 3 of 4 queries of the qrels; the first is 'q2'. Give every query a",
    ),
    "mean over no categories": (
        {},
        "qrels.txt run.txt --average macro",
        "--average macro is the mean over categories of queries; add --categories.",
    ),
    "policy": (
        {},
        "qrels.txt run.txt --missing drop",
        "Invalid value for '--missing': 'drop' is not one of zero, skip, error. See: tieproof run --help",
    ),
    "measure": ({}, "qrels.txt run.txt -m mAPP", "--measure: Unknown measure 'mAPP'."),
    "one file": (
        {},
        "qrels.txt",
        "qrels.txt was given alone, but QRELS and RUN are two files. For a table with the scores and the relevance "
        "of documents, use tieproof scores qrels.txt.",
    ),
    "two outputs on one screen": (
        {},
        "qrels.txt run.txt -q --json -",
        "--lines (-q) and --json - both print on standard output; write the JSON to a file.",
    ),
    "output over input": (
        {"run.json": RUN},
        "qrels.txt run.json --json run.json",
        "run.json is read in this evaluation; write the result to another file.",
    ),
}


@pytest.mark.parametrize(("files", "arguments", "said"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_bad_run_is_one_line(run: Run, files: dict[str, str], arguments: str, said: str) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert the_line(run("run", *arguments.split())).startswith(f"Error: {said}")
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_bad_input_in_a_process_of_its_own(tmp_path: Path) -> None:
    np.save(tmp_path / "bad.npy", NAN)
    np.save(tmp_path / "labels.npy", LABELS)
    started = process("evaluate", "bad.npy", "labels.npy", "--json", "result.json", folder=tmp_path)
    out, err = started.communicate(timeout=60)
    assert "row 3 contains nan" in the_line(Outcome(started.returncode, out, err))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.npy", "labels.npy"]


def test_unknown_command(run: Run) -> None:
    assert "evaluat" in the_line(run("evaluat"))


# Interruptions and defects


def stop_with(error: BaseException) -> Callable[..., Any]:
    def evaluate(*args: Any, **options: Any) -> Any:
        raise error

    return evaluate


STOPS: dict[str, tuple[BaseException, int, str]] = {
    "interrupt": (KeyboardInterrupt(), 130, "Interrupted; no unfinished file is left."),
    "memory": (MemoryError("Unable to allocate 3 TiB"), 2, "Error: Memory ran out (Unable to allocate 3 TiB). Free"),
    "product": (tp.UnsafeProductError("A reduced\nprecision."), 2, "Error: A reduced precision."),
    "disk": (OSError(28, "No space left on device", "x.npy"), 2, "Error: x.npy: No space left on device."),
    "defect": (KeyError("n"), 1, "Error: A defect of tieproof, not of your data: KeyError: 'n'. Please report it"),
}


@pytest.mark.parametrize(("error", "status", "said"), STOPS.values(), ids=STOPS)
def test_a_stop_is_one_line_and_leaves_files_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, said: str
) -> None:
    monkeypatch.setattr(tp, "evaluate", stop_with(error))
    monkeypatch.setattr(tp, "evaluate_run", stop_with(error))
    monkeypatch.setattr(exits, "_discard", lambda stream: None)
    Path("result.json").write_text("old")
    before = sorted(Path().iterdir())
    outputs = "--json result.json --per-query queries.csv"
    for command in ("evaluate embeddings.npy labels.npy", "run qrels.txt run.txt"):
        assert the_line(run(*command.split(), *outputs.split()), status).startswith(said)
    assert Path("result.json").read_text() == "old"
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("how", ["option", "environment"])
def test_traceback_of_a_defect(run: Run, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(tp, "evaluate", stop_with(KeyError("n")))
    if how == "environment":
        monkeypatch.setenv(exits.TRACEBACK, "1")
    option = ["--traceback"] if how == "option" else []
    outcome = run(*option, "evaluate", "embeddings.npy", "labels.npy")
    assert outcome.status == 1
    assert "Traceback" in outcome.err


def test_import_loads_nothing_optional() -> None:
    heavy = ["pandas", "rich", "click", "torch", "pyarrow", "h5py", "matplotlib"]
    code = f"import sys, tieproof; print(sorted(set({heavy}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# The text of a result


POINTS = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def nowhere_near(x: Array, y: Array) -> Array:
    """A distance with as many ties as possible."""
    return np.zeros((len(x), len(y)))


def result_of(points: Any, labels: Any, **options: Any) -> tp.Result:
    return tp.evaluate(points, labels, measures=["AP", "P@1"], **options)


def run_of(empty: Empty) -> tp.Result:
    """A query that counts, one without relevant documents, and one that is not judged."""
    run = {"q1": {"d1": 0.5}, "q2": {"d1": 0.5}, "q3": {"d1": 0.5}}
    return tp.evaluate_run({"q1": {"d1": 1}, "q2": {"d1": 0}}, run, empty=empty, measures=["AP"])


TEXTS: dict[str, tuple[Callable[[], tp.Result], list[str]]] = {
    "ties and zeros": (
        lambda: result_of(POINTS, [1, 1, 2, 2, 1]),
        [
            "5 of 5 queries hold an ambiguous tie; 2 vectors are all zero.",
            "Report 'expected' with its interval, 'lower' for claims, and 'upper' never.",
            "2 vectors are all zero: their cosine similarity to everything is 0.",
            "Evaluated 5 queries, leave-one-out among 5 items of 2 dimensions, under cosine distance.",
            "An ambiguous tie mixes relevant and other items; there are 5 of them.",
            "The largest tie holds 4 items. 'tie std' has the ties of each query broken independently; one order "
            "of the items for all queries can spread the mean several times as much.",
        ],
    ),
    "skipped": (
        lambda: result_of(POINTS[:4], [1, 1, 2, 3]),
        [
            "Left out: 2 queries with no relevant item.",
            "No tie changes any score: all orderings agree.",
            "1 vector is all zero: its cosine similarity to everything is 0.",
            "Evaluated 2 of 4 queries, leave-one-out among 4 items of 2 dimensions, under cosine distance.",
        ],
    ),
    "one of each": (
        lambda: result_of(POINTS[:3], [1, 1, 2], distance="euclidean", empty="one"),
        [
            "1 query without any relevant item counts as one.",
            "1 of 3 queries holds an ambiguous tie; the largest tie holds 2 items.",
            "Report 'expected' with its interval, 'lower' for claims, and 'upper' never.",
            "Evaluated 3 queries, leave-one-out among 3 items of 2 dimensions, under euclidean distance.",
            "An ambiguous tie mixes relevant and other items; there is 1 of them.",
        ],
    ),
    "a harmless tie": (
        lambda: result_of([[1]], [7], gallery=[[2], [2], [3]], gallery_labels=[7, 7, 8], distance="cityblock"),
        [
            "No tie changes any score: all orderings agree. The only tie holds only relevant items.",
            "Evaluated 1 query against a gallery of 3 items of 1 dimension, under cityblock distance.",
        ],
    ),
    "bits": (
        lambda: result_of([[True, False]] * 3, [7, 7, 7], distance="hamming"),
        [
            "No tie changes any score: all orderings agree. The 3 ties hold only relevant items.",
            "Evaluated 3 queries, leave-one-out among 3 items of 2 bits, under hamming distance.",
        ],
    ),
    "a function": (
        lambda: result_of([[1.0], [2.0]], [7, 7], distance=nowhere_near),
        [
            "No tie changes any score: all orderings agree.",
            "Evaluated 2 queries, leave-one-out among 2 items of 1 dimension, under the distance of the function "
            "nowhere_near.",
        ],
    ),
    "scores": (
        lambda: tp.evaluate_scores([[0.5, 0.1], [0.2, 0.3]], [[1, 0], [0, 1]]),
        [
            "No tie changes any score: all orderings agree.",
            "Evaluated 2 queries, ranking up to 2 items by the given scores.",
        ],
    ),
    "a tie of relevant items with different grades": (
        lambda: tp.evaluate_scores([[0.5, 0.5, 0.1], [0.2, 0.3, 0.3]], [[1, 2, 0], [1, 2, 2]], measures=["nDCG"]),
        [
            "No tie mixes relevant and other items, but the grades or judgments of tied items differ, which changes "
            "a score of 1 of 2 queries.",
            "Report 'expected' with its interval, 'lower' for claims, and 'upper' never.",
            "Evaluated 2 queries, ranking up to 3 items by the given scores.",
        ],
    ),
    "the same tie for a measure without grades": (
        lambda: tp.evaluate_scores([[0.5, 0.5, 0.1]], [[1, 2, 0]], measures=["AP"]),
        [
            "No tie changes any score: all orderings agree. The only tie holds only relevant items.",
            "Evaluated 1 query, ranking up to 3 items by the given scores.",
        ],
    ),
    "a tie of unjudged documents and others": (
        lambda: tp.evaluate_run(
            {"q": {"a": 1, "b": 0}}, {"q": {"b": 1.0, "c": 1.0, "a": 0.5}}, measures=["Judged@1"]
        ),
        [
            "No tie mixes relevant and other items, but the grades or judgments of tied items differ, which changes "
            "a score of 1 of 1 query.",
            "Report 'expected' with its interval, 'lower' for claims, and 'upper' never.",
            "Evaluated 1 query, ranking up to 3 items by the given scores.",
        ],
    ),
    "lists that were cut off": (
        lambda: tp.evaluate_scores([[0.5, 0.1, 0.1], [0.2, 0.3, 0.3]], [[1, 0, 1], [1, 0, 0]], n_relevant=[3, 1]),
        [
            "1 of 2 queries holds an ambiguous tie; the largest tie holds 2 items.",
            "2 of 2 queries have a list that was cut off, perhaps within a tie.",
            "Report 'expected' with its interval, 'lower' for claims, and 'upper' never.",
            "Of a tie that may continue beyond the end of its list, 'lower' and 'upper' cover every possible "
            "continuation; 'expected' and 'tie std' are computed from the list as given.",
            "Evaluated 2 queries, ranking up to 3 items by the given scores.",
            "An ambiguous tie mixes relevant and other items; there is 1 of them.",
        ],
    ),
    "a cut-off list without ties": (
        lambda: tp.evaluate_scores([[0.5, 0.1], [0.2, 0.1]], [[1, 0], [1, 0]], n_relevant=[1, 2], measures=["R@2"]),
        [
            "No tie within a list changes any score: all orderings agree.",
            "1 of 2 queries has a list that was cut off, perhaps within a tie.",
            "Report 'expected' with its interval, 'lower' for claims, and 'upper' never.",
            "Of a tie that may continue beyond the end of its list, 'lower' and 'upper' cover every possible "
            "continuation; 'expected' and 'tie std' are computed from the list as given.",
            "Evaluated 2 queries, ranking up to 2 items by the given scores.",
        ],
    ),
    "a run": (
        lambda: run_of("skip"),
        [
            "Left out: 1 query with no judgment in the qrels; 1 query with no relevant item.",
            "No tie changes any score: all orderings agree.",
            "Evaluated 1 of 3 queries, ranking up to 1 item by the given scores.",
        ],
    ),
    "a run with zeros": (
        lambda: run_of("zero"),
        [
            "Left out: 1 query with no judgment in the qrels.",
            "1 query without any relevant item counts as zero.",
            "No tie changes any score: all orderings agree.",
            "Evaluated 2 of 3 queries, ranking up to 1 item by the given scores.",
        ],
    ),
}


@pytest.mark.parametrize(("result", "sentences"), TEXTS.values(), ids=TEXTS)
def test_text_in_whole_sentences(result: Callable[[], tp.Result], sentences: list[str]) -> None:
    text = result().to_text(300, explain=True).split("\n\n")[1]
    assert text.split("\n") == sentences
    for width in (10, 44, 60, 80):
        assert " ".join(result().to_text(width, explain=True).split("\n\n")[1].split()) == " ".join(sentences)


@pytest.mark.parametrize(("result", "sentences"), TEXTS.values(), ids=TEXTS)
def test_at_most_three_lines_below_a_table(result: Callable[[], tp.Result], sentences: list[str]) -> None:
    lines = str(result()).split("\n\n")[1].split("\n")
    assert len(lines) <= 3
    text, more = " ".join(lines), re.fullmatch(r"(\d+) more: --explain, or to_text\(explain=True\)", lines[-1])
    shown = [sentence for sentence in sentences if sentence in text]
    assert shown == sentences[: len(shown)]
    assert len(sentences) - len(shown) == (int(more[1]) if more else 0)


def test_table_aligns_numbers() -> None:
    assert str(result_of(POINTS, [1, 1, 2, 2, 1])).split("\n")[:4] == [
        "measure   lower  expected   upper  tie std",
        "------------------------------------------",
        "AP       0.4833    0.6153  0.8000   0.0722",
        "P@1      0.4000    0.5500  0.8000   0.1323",
    ]


@pytest.mark.parametrize("width", [None, 20, 44, 60, 100])
def test_text_is_clean_at_any_width(width: int | None) -> None:
    result = tp.evaluate(POINTS, [1, 1, 2, 2, 1], measures=["AP", "nDCG(gain=exp)@10"])
    text = result.to_text(width)
    assert text == result.to_text(width)
    assert text.isascii()
    assert all(line == line.rstrip() and len(line) <= max(width or 80, 44) for line in text.split("\n"))
    for name in result.measures:
        assert f"{result[name].std:.4f}" in text


def test_text_has_colors_only_on_request() -> None:
    result = result_of(POINTS, [1, 1, 2, 2, 1])
    colored = result.to_text(color=True)
    assert "\x1b" not in str(result)
    assert "\x1b" in colored
    assert re.sub(r"\x1b\[\d*m", "", colored) == str(result)


def test_the_environment_changes_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = str(result_of(POINTS, [1, 1, 2, 2, 1]))
    for name, value in {"COLUMNS": "30", "FORCE_COLOR": "1", "TERM": "dumb", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
        assert str(result_of(POINTS, [1, 1, 2, 2, 1])) == text


def test_probable_mistakes_are_one_line_before_the_table(run: Run) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 64)) + np.repeat(np.eye(10, 64) * 9, 4, axis=0)
    codes = (np.packbits(rows > 0, axis=1) - 128).astype(np.int8)
    np.save("rows.npy", rows)
    np.save("some.npy", rows[:30])
    np.save("classes.npy", np.arange(40) // 4)
    np.save("some_classes.npy", np.arange(30) // 4)
    np.save("codes.npy", codes)
    Path("self.run").write_text("".join(f"d{q} Q0 d{d} 0 {q == d:d} t\n" for q in range(4) for d in range(4)))
    Path("self.qrels").write_text("".join(f"d{q} 0 d{d} 1\n" for q in range(4) for d in range(4)))
    for command, warning in (
        (
            "evaluate some.npy some_classes.npy --gallery rows.npy --gallery-labels classes.npy",
            "30 of 30 queries are in the gallery, too",
        ),
        ("evaluate codes.npy classes.npy", "pass distance='hamming' and bits=64"),
        ("run self.qrels self.run", "4 of 4 queries find the document that has their own id first"),
        (
            "neighbors ids.npy distances.npy --labels labels.npy --gallery-labels labels.npy",
            "40 of 40 queries probably find themselves",
        ),
    ):
        outcome = run(*command.split())
        assert outcome.status == 0
        assert outcome.out
        (line,) = outcome.err.splitlines()
        assert line.startswith("Warning: ")
        assert warning in line
    outcome = run(*["evaluate", "codes.npy", "classes.npy", "-d", "hamming", "--bits", "64", "-m", "AP"])
    assert (outcome.status, outcome.err) == (0, "")
    expected = tp.evaluate(rows > 0, np.arange(40) // 4, distance="hamming", measures=["AP"])["AP"]
    assert f"{expected.lower:.4f}" in outcome.out
    assert "pass bits=64" in the_line(run(*["evaluate", "codes.npy", "classes.npy", "-d", "hamming"]))


def test_cut_lists_are_told_once_and_in_words_of_the_command_line(run: Run) -> None:
    lines = [f"q{query} Q0 d{place} 0 {max(9 - place, 1)} s\n" for query in (1, 2) for place in range(10)]
    for name in ("one.run", "other.run"):
        Path(name).write_text("".join(lines))
    Path("judged.txt").write_text("q1 0 absent 1\nq2 0 d9 1\n")
    outcome = run("compare", "--qrels", "judged.txt", "one.run", "other.run", "-m", "P@10")
    assert outcome.status == 0
    assert outcome.err.count("\n") == 1
    assert "All lists of one.run have 10 documents, and 2 of 2 end in a tie" in outcome.err
    assert outcome.err.endswith("Use --truncated of tieproof run or leaderboard if the lists were cut off.\n")


def test_help_has_groups_with_a_line_for_each_command(run: Run) -> None:
    lines = run("--help").out.split("\n")
    heads = [f"{group}:" for group in ("Score", "Compare", "Search", "Check", "Organize")]
    assert [line for line in lines if line in heads] == heads
    for name, (_, meaning) in COMMANDS.items():
        assert sum(line.split() == [name, *meaning.split()] for line in lines) == 1
