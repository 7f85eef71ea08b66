"""The command line: what it prints and writes, and one line for everything that is wrong."""

import csv
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest

import tieproof as tp
from tieproof import cli
from tieproof.distances import DISTANCES
from tieproof.reports.text import render
from tieproof.scoring import EMPTY

Array = npt.NDArray[Any]

VECTORS = np.random.default_rng(5).integers(-2, 3, size=(40, 3)).astype(np.float32)
LABELS = np.arange(40) % 4
GALLERY, GALLERY_LABELS = VECTORS[::2] + 1, LABELS[::2]

START = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from tieproof.cli import main; main()"
)
"""A shell may start background jobs with SIGINT ignored; people do not."""


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in a folder with the files that help texts name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv(cli.TRACEBACK, raising=False)
    np.save("embeddings.npy", VECTORS)
    np.save("labels.npy", LABELS)
    for name, vectors, labels in (("queries", VECTORS, LABELS), ("gallery", GALLERY, GALLERY_LABELS)):
        np.savez(f"{name}.npz", features=vectors, labels=labels)
    np.savez("data.npz", features=VECTORS, labels=LABELS)

    def call(*args: str) -> Outcome:
        with pytest.raises(SystemExit) as stopped:
            cli.main(args)
        assert isinstance(stopped.value.code, int)
        return Outcome(stopped.value.code, *capsys.readouterr())

    return call


def process(*args: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, *args],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def the_line(outcome: Outcome, status: int = 2) -> str:
    """The one line on standard error, with nothing on standard output."""
    assert (outcome.status, outcome.out) == (status, ""), outcome
    assert "Traceback" not in outcome.err
    assert outcome.err.endswith("\n")
    assert outcome.err.count("\n") == 1
    return outcome.err.rstrip("\n")


# What comes out


def test_table_is_the_text_of_the_result(run: Run) -> None:
    outcome = run("evaluate", "embeddings.npy", "labels.npy")
    assert outcome == (0, f"{tp.evaluate(VECTORS, LABELS)}\n", "")


@pytest.mark.parametrize("distance", [name for name in DISTANCES if name != "hamming"])
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
        VECTORS,
        LABELS,
        gallery=GALLERY,
        gallery_labels=GALLERY_LABELS,
        groups=groups,
        gallery_groups=groups[:20],
    )
    assert outcome.out == expected.to_json() + "\n"


def test_label_column_of_the_same_table_is_no_dimension(run: Run) -> None:
    rows = [[*map(repr, point), int(label)] for point, label in zip(VECTORS.tolist(), LABELS, strict=True)]
    with open("table.csv", "w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c", "species"], *rows])
    outcome = run("evaluate", "table.csv", "table.csv:species", "--json", "-")
    assert outcome.out == tp.evaluate(VECTORS.astype(float), LABELS).to_json() + "\n"


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


def test_missing_extra_is_found_before_the_evaluation(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(tp, "evaluate", None)
    line = the_line(run("evaluate", "embeddings.npy", "labels.npy", "--per-query", "queries.parquet"))
    assert "pip install 'tieproof[parquet]'" in line


# Help


@pytest.mark.parametrize("command", [[], ["evaluate"], ["demo"]])
def test_examples_of_help_texts_run(run: Run, command: list[str]) -> None:
    outcome = run(*command, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    examples = re.findall(r"^ (?:Example: )?tieproof (.+?) *$", outcome.out, re.MULTILINE)
    assert examples
    for example in examples:
        assert run(*shlex.split(example))[::2] == (0, ""), example


def test_help_lists_what_the_registries_hold(run: Run) -> None:
    text = run("evaluate", "--help").out
    for name in [*DISTANCES, *tp.DEFAULT_MEASURES, *EMPTY]:
        assert re.search(rf"(?<!\w){re.escape(name)}\b", text), name


def test_without_a_command_help_is_shown(run: Run) -> None:
    assert run().out.strip() == run("--help").out.strip()


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"tieproof {tp.__version__}\n", "")


# What goes wrong: the files to write, the arguments, and what the line says

Case = tuple[dict[str, Array | bytes], str, list[str]]

NAN, INFINITE = VECTORS.copy(), VECTORS.copy()
NAN[3:5, 1], INFINITE[7, 0] = np.nan, -np.inf
OBJECTS = np.array([[1, "a"], [None, 2.0]], dtype=object)


def npy(array: Array) -> bytes:
    """The bytes of a .npy file."""
    from io import BytesIO

    file = BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


BAD_INPUTS: dict[str, Case] = {
    "nan": ({"bad.npy": NAN}, "bad.npy labels.npy", ["bad.npy: The embeddings", "finite", "row 3 holds nan"]),
    "infinity": (
        {"bad.npy": INFINITE},
        "bad.npy labels.npy",
        ["bad.npy: The embeddings", "finite", "row 7 holds -inf"],
    ),
    "nan in the gallery": (
        {"bad.npy": NAN},
        "queries.npz --gallery bad.npy --gallery-labels labels.npy",
        ["Error: bad.npy: The gallery", "row 3 holds nan"],
    ),
    "too few labels": (
        {"bad.npy": LABELS[1:]},
        "embeddings.npy bad.npy",
        ["bad.npy, embeddings.npy: There are 39 labels for 40 embeddings"],
    ),
    "too few gallery labels": (
        {"bad.npy": LABELS[1:]},
        "queries.npz --gallery gallery.npz --gallery-labels bad.npy",
        ["bad.npy, gallery.npz: There are 39 gallery labels for 20 gallery items"],
    ),
    "too few groups": (
        {"bad.npy": LABELS[1:]},
        "embeddings.npy labels.npy --groups bad.npy",
        ["bad.npy", "39 groups for 40"],
    ),
    "one axis": ({"bad.npy": VECTORS[:, 0]}, "bad.npy labels.npy", ["bad.npy", "shape (40,)", "(n, d)"]),
    "three axes": ({"bad.npy": VECTORS[None]}, "bad.npy labels.npy", ["bad.npy", "shape (1, 40, 3)", "(n, d)"]),
    "no rows": ({"bad.npy": VECTORS[:0]}, "bad.npy labels.npy", ["bad.npy", "(0, 3)", "at least one row"]),
    "no columns": ({"bad.npy": VECTORS[:, :0]}, "bad.npy labels.npy", ["bad.npy", "(40, 0)", "column"]),
    "complex": ({"bad.npy": VECTORS + 1j}, "bad.npy labels.npy", ["bad.npy", "complex64", "save them as float16"]),
    "objects": ({"bad.npy": npy(OBJECTS)}, "bad.npy labels.npy", ["bad.npy", "Python objects", "save an array"]),
    "missing": ({}, "bad.npy labels.npy", ["bad.npy does not exist", "check the path"]),
    "missing labels": ({}, "embeddings.npy bad.npy", ["bad.npy does not exist", "check the path"]),
    "empty": ({"bad.npy": b""}, "bad.npy labels.npy", ["bad.npy is empty (0 bytes)", "write it again"]),
    "truncated": (
        {"bad.npy": npy(VECTORS)[:-9]},
        "bad.npy labels.npy",
        ["bad.npy is cut short", "480", "471", "again"],
    ),
    "foreign": ({"bad.npy": b"\x89PNG\r\n\x1a\n"}, "bad.npy labels.npy", ["bad.npy", "a PNG image", "right file"]),
    "extension": ({"bad.xyz": b"1"}, "bad.xyz labels.npy", ["bad.xyz", "'.xyz'", ".npy"]),
    "folder": ({}, ". labels.npy", [". is a folder", "give the path of a file"]),
    "nan among labels": (
        {"bad.npy": np.where(LABELS, LABELS, np.nan)},
        "embeddings.npy bad.npy",
        ["bad.npy has NaN at [0]", "give every item a label"],
    ),
    "another width": (
        {"bad.npy": VECTORS[:, :2]},
        "queries.npz --gallery bad.npy --gallery-labels labels.npy",
        ["queries.npz, bad.npy: The queries have 3 dimensions and the gallery has 2", "same model"],
    ),
    "nothing relevant": (
        {"bad.npy": np.arange(40)},
        "embeddings.npy bad.npy",
        ["bad.npy, embeddings.npy: No query has anything relevant", "40", "Check that"],
    ),
    "nothing relevant in the gallery": (
        {"bad.npy": GALLERY_LABELS + 4},
        "queries.npz --gallery gallery.npz --gallery-labels bad.npy",
        ["queries.npz, bad.npy: No query has anything relevant", "40", "Check that"],
    ),
    "one is empty, and that is an error": (
        {"bad.npy": np.append(LABELS[:-1], 9)},
        "embeddings.npy bad.npy --empty error",
        ["bad.npy", "1 of 40 queries", "query 39"],
    ),
    "labels in an array of vectors": ({}, "embeddings.npy", ["embeddings.npy", "single array", "as LABELS"]),
    "groups among the dimensions": (
        {"bad.csv": b"a,camera,label\n1,2,3\n2,2,3\n"},
        "bad.csv --groups bad.csv:camera",
        ["bad.csv:camera would be one of the dimensions", "file of their own"],
    ),
    "floats for hamming": ({}, "embeddings.npy labels.npy -d hamming", ["embeddings.npy: ", "float32", "x > 0"]),
    "measure": ({}, "embeddings.npy labels.npy -m mAPP", ["--measure", "'mAPP'", "AP", "nDCG@10"]),
    "cutoff": ({}, "embeddings.npy labels.npy -m P@0", ["--measure", "'P@0'", "at least 1"]),
    "distance": ({}, "embeddings.npy labels.npy -d cosin", ["--distance", "'cosin'", "cosine, euclidean"]),
    "memory": ({}, "embeddings.npy labels.npy --memory lots", ["--memory", "'lots'", "'1GiB'"]),
    "threads": ({}, "embeddings.npy labels.npy --threads 0", ["--threads", "not 0", "at least 1"]),
    "policy": ({}, "embeddings.npy labels.npy --empty drop", ["--empty", "'drop'", "skip, zero"]),
    "bits": ({}, "embeddings.npy labels.npy --bits many", ["--bits", "'many'", "tieproof evaluate --help"]),
    "option": ({}, "embeddings.npy labels.npy --metric AP", ["--metric", "tieproof evaluate --help"]),
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
        ["labels.csv is read in this evaluation", "file of its own"],
    ),
}


@pytest.mark.parametrize(("files", "arguments", "said"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_input_is_one_line(run: Run, files: dict[str, Array | bytes], arguments: str, said: list[str]) -> None:
    for name, content in files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else npy(content))
    before = {path: path.read_bytes() for path in Path().iterdir()}
    line = the_line(run("evaluate", *arguments.split()))
    for part in said:
        assert part in line
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_bad_input_in_a_process_of_its_own(tmp_path: Path) -> None:
    np.save(tmp_path / "bad.npy", NAN)
    np.save(tmp_path / "labels.npy", LABELS)
    started = process("evaluate", "bad.npy", "labels.npy", "--json", "result.json", folder=tmp_path)
    out, err = started.communicate(timeout=60)
    assert "row 3 holds nan" in the_line(Outcome(started.returncode, out, err))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.npy", "labels.npy"]


def test_unknown_command(run: Run) -> None:
    assert "evaluat" in the_line(run("evaluat"))


# Interruptions and defects


def stop_with(error: BaseException) -> Callable[..., Any]:
    def evaluate(*args: Any, **options: Any) -> Any:
        raise error

    return evaluate


STOPS: dict[str, tuple[BaseException, int, str]] = {
    "interrupt": (KeyboardInterrupt(), 130, "Interrupted; nothing was written."),
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
    monkeypatch.setattr(cli, "discard_output", lambda: None)
    Path("result.json").write_text("old")
    before = sorted(Path().iterdir())
    outputs = "--json result.json --per-query queries.csv"
    assert the_line(run("evaluate", "embeddings.npy", "labels.npy", *outputs.split()), status).startswith(said)
    assert Path("result.json").read_text() == "old"
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("how", ["option", "environment"])
def test_traceback_of_a_defect(run: Run, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(tp, "evaluate", stop_with(KeyError("n")))
    if how == "environment":
        monkeypatch.setenv(cli.TRACEBACK, "1")
    option = ["--traceback"] if how == "option" else []
    outcome = run(*option, "evaluate", "embeddings.npy", "labels.npy")
    assert outcome.status == 1
    assert "Traceback" in outcome.err


def test_interrupt_in_the_middle_of_an_evaluation(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(20_000, 256)).astype(np.float32)
    np.save(tmp_path / "embeddings.npy", vectors)
    np.save(tmp_path / "labels.npy", np.arange(len(vectors)) % 2_000)
    outputs = "--threads 1 -d cityblock --json result.json --per-query queries.csv"  # for some twenty seconds
    started = process("evaluate", "embeddings.npy", "labels.npy", *outputs.split(), folder=tmp_path)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert the_line(Outcome(started.returncode, out, err), 130) == "Interrupted; nothing was written."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["embeddings.npy", "labels.npy"]


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", features=VECTORS, labels=LABELS)
    started = process("evaluate", "data.npz", "--json", "-", folder=tmp_path)
    assert started.stdout is not None
    assert started.stderr is not None
    started.stdout.close()
    assert started.stderr.read() == ""
    started.stderr.close()
    assert started.wait(timeout=60) == 0


def test_import_loads_nothing_optional() -> None:
    heavy = ["numba", "pandas", "rich", "typer", "torch", "pyarrow", "h5py", "matplotlib"]
    code = f"import sys, tieproof; print(sorted(set({heavy}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# The text of a result


POINTS = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def nowhere_near(x: Array, y: Array) -> Array:
    """A distance with as many ties as there can be."""
    return np.zeros((len(x), len(y)))


def result_of(points: Any, labels: Any, **options: Any) -> tp.Result:
    return tp.evaluate(points, labels, measures=["AP", "P@1"], **options)


TEXTS: dict[str, tuple[Callable[[], tp.Result], list[str]]] = {
    "ties and zeros": (
        lambda: result_of(POINTS, [1, 1, 2, 2, 1]),
        [
            "Evaluated 5 queries, leave-one-out among 5 items of 2 dimensions, under cosine distance.",
            "5 of 5 queries hold an ambiguous tie, which mixes relevant and other items. There are 5 ambiguous ties, "
            "and the largest tie holds 4 items.",
            "The score is 'lower': whatever the order of tied items, it is no less.",
            "2 vectors are all zero: their cosine similarity to everything is 0.",
        ],
    ),
    "skipped": (
        lambda: result_of(POINTS[:4], [1, 1, 2, 3]),
        [
            "Evaluated 2 of 4 queries, leave-one-out among 4 items of 2 dimensions, under cosine distance.",
            "Left out: 2 queries, with no relevant item in the gallery.",
            "No tie changes any score: all orderings agree.",
            "1 vector is all zero: its cosine similarity to everything is 0.",
        ],
    ),
    "one of each": (
        lambda: result_of(POINTS[:3], [1, 1, 2], distance="euclidean", empty="one"),
        [
            "Evaluated 3 queries, leave-one-out among 3 items of 2 dimensions, under euclidean distance.",
            "1 query without any relevant item counts as one.",
            "1 of 3 queries holds an ambiguous tie, which mixes relevant and other items. There is 1 ambiguous tie, "
            "and the largest tie holds 2 items.",
            "The score is 'lower': whatever the order of tied items, it is no less.",
        ],
    ),
    "a harmless tie": (
        lambda: result_of([[1]], [7], gallery=[[2], [2], [3]], gallery_labels=[7, 7, 8], distance="cityblock"),
        [
            "Evaluated 1 query against a gallery of 3 items of 1 dimension, under cityblock distance.",
            "No tie changes any score: all orderings agree. The one tie holds relevant items only.",
        ],
    ),
    "bits": (
        lambda: result_of([[True, False]] * 3, [7, 7, 7], distance="hamming"),
        [
            "Evaluated 3 queries, leave-one-out among 3 items of 2 bits, under hamming distance.",
            "No tie changes any score: all orderings agree. The 3 ties hold relevant items only.",
        ],
    ),
    "a function": (
        lambda: result_of([[1.0], [2.0]], [7, 7], distance=nowhere_near),
        [
            "Evaluated 2 queries, leave-one-out among 2 items of 1 dimension, under the distance of the function "
            "nowhere_near.",
            "No tie changes any score: all orderings agree.",
        ],
    ),
    "scores": (
        lambda: tp.evaluate_scores([[0.5, 0.1], [0.2, 0.3]], [[1, 0], [0, 1]]),
        [
            "Evaluated 2 queries, ranking up to 2 items by the given scores.",
            "No tie changes any score: all orderings agree.",
        ],
    ),
}


@pytest.mark.parametrize(("result", "sentences"), TEXTS.values(), ids=TEXTS)
def test_text_in_whole_sentences(result: Callable[[], tp.Result], sentences: list[str]) -> None:
    text = render(result(), 300).split("\n\n")[1]
    assert text.split("\n") == sentences
    for width in (10, 44, 60, 80):
        assert " ".join(render(result(), width).split("\n\n")[1].split()) == " ".join(sentences)


def test_table_aligns_numbers() -> None:
    assert str(result_of(POINTS, [1, 1, 2, 2, 1])).split("\n")[:4] == [
        "measure   lower  expected   upper     std",
        "-----------------------------------------",
        "AP       0.4833    0.6153  0.8000  0.0722",
        "P@1      0.4000    0.5500  0.8000  0.1323",
    ]


@pytest.mark.parametrize("width", [None, 20, 44, 60, 100])
def test_text_is_clean_at_any_width(width: int | None) -> None:
    result = tp.evaluate(POINTS, [1, 1, 2, 2, 1], measures=["AP", "nDCG(gain=exp)@10"])
    text = render(result, width)
    assert text == render(result, width)
    assert text.isascii()
    assert all(line == line.rstrip() and len(line) <= max(width or 80, 44) for line in text.split("\n"))
    for name in result.measures:
        assert f"{result[name].std:.4f}" in text


def test_text_has_colours_only_where_asked() -> None:
    result = result_of(POINTS, [1, 1, 2, 2, 1])
    coloured = render(result, color=True)
    assert "\x1b" not in str(result)
    assert "\x1b" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == str(result)


def test_the_environment_changes_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = str(result_of(POINTS, [1, 1, 2, 2, 1]))
    for name, value in {"COLUMNS": "30", "FORCE_COLOR": "1", "TERM": "dumb", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
        assert str(result_of(POINTS, [1, 1, 2, 2, 1])) == text
