"""Runs and qrels that come through standard input, and through pipes of a shell."""

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tieproof as tp
from command_line import exit_status as run

QRELS = "".join(f"q{at} 0 d{at % 5} 1\n" for at in range(20))
BASE, OURS = (
    "".join(f"q{at} Q0 d{item} 1 {at * item % divisor} t\n" for at in range(20) for item in range(5))
    for divisor in (2, 3)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("base.run").write_text(BASE)
    Path("ours.run").write_text(OURS)
    return tmp_path


def type_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@contextmanager
def pipe(content: bytes) -> Iterator[str]:
    """The path of a pipe as `<(…)` makes it, with this content."""
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb") as file:
            file.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)
        writer.join()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_standard_input_is_read_as_the_file_would_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], packed: bool
) -> None:
    expected = f"{tp.evaluate_run('qrels.txt', 'base.run')}\n"
    for arguments, content in ((("qrels.txt", "-"), BASE), (("-", "base.run"), QRELS)):
        type_in(monkeypatch, gzip.compress(content.encode()) if packed else content.encode())
        assert run("run", *arguments) == 0
        assert capsys.readouterr().out == expected


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_dictionaries_of_json_are_known_by_their_beginning(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], packed: bool
) -> None:
    qrels, scores = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 0.5, "b": 0.5}, "q2": {"a": 2.0}}
    Path("qrels.json").write_text(json.dumps(qrels))
    expected = str(tp.evaluate_run(qrels, scores, measures=["RR"])).splitlines()[2]
    for space in (None, 2):
        content = json.dumps(scores, indent=space).encode()
        type_in(monkeypatch, gzip.compress(content) if packed else content)
        assert run("run", "qrels.json", "-", "-m", "RR") == 0
        assert capsys.readouterr().out.splitlines()[2] == expected


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_pipes_are_read_as_files_would_be(folder: Path, capsys: pytest.CaptureFixture[str], packed: bool) -> None:
    expected = f"{tp.evaluate_run('qrels.txt', 'base.run')}\n"
    pack = gzip.compress if packed else bytes
    with pipe(pack(QRELS.encode())) as qrels, pipe(pack(BASE.encode())) as base:
        assert run("run", qrels, base) == 0
    assert capsys.readouterr().out == expected


def test_compare_reads_judgments_from_a_pipe_once_for_all_systems(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = {name: tp.evaluate_run("qrels.txt", f"{name}.run") for name in ("base", "ours")}
    with pipe(QRELS.encode()) as qrels:
        assert run("compare", "--qrels", qrels, "base.run", "ours.run") == 0
    assert capsys.readouterr().out == f"{tp.compare(results)}\n"
    type_in(monkeypatch, OURS.encode())
    assert run("compare", "--qrels", "qrels.txt", "base.run", "-", "--baseline", "-") == 0
    renamed = {"base": results["base"], "standard input": results["ours"]}
    assert capsys.readouterr().out == f"{tp.compare(renamed, baseline='standard input')}\n"
    with pipe(OURS.encode()) as ours:
        assert run("compare", "--qrels", "qrels.txt", "base.run", f"ours={ours}", "--baseline", "ours") == 0
    assert capsys.readouterr().out == f"{tp.compare(results, baseline='ours')}\n"
    type_in(monkeypatch, OURS.encode())
    assert run("compare", "--qrels", "qrels.txt", "base.run", "ours=-", "--baseline", "ours") == 0
    assert capsys.readouterr().out == f"{tp.compare(results, baseline='ours')}\n"


def test_categories_are_read_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    categories = {f"q{at}": "even number" if at % 2 == 0 else "odd" for at in range(20)}
    lines = "".join(f"{query} {category}\n" for query, category in categories.items()).encode()
    results = {
        name: tp.evaluate_run("qrels.txt", f"{name}.run", categories=categories, average="macro")
        for name in ("base", "ours")
    }
    options = ("--categories", "-", "--average", "macro")
    type_in(monkeypatch, lines)
    assert run("run", "qrels.txt", "base.run", *options) == 0
    assert capsys.readouterr().out == f"{results['base']}\n"
    type_in(monkeypatch, lines)
    assert run("compare", "--qrels", "qrels.txt", "base.run", "ours.run", *options) == 0
    assert capsys.readouterr().out == f"{tp.compare(results)}\n"
    results["base"].save("base.tieproof")
    type_in(monkeypatch, lines)
    assert run("verify", "base.tieproof", "qrels.txt", "base.run", "--categories", "-") == 0


def test_verify_reads_a_run_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tp.evaluate_run("qrels.txt", "base.run").save("base.tieproof")
    type_in(monkeypatch, BASE.encode())
    assert run("verify", "base.tieproof", "qrels.txt", "-") == 0
    type_in(monkeypatch, OURS.encode())
    assert run("verify", "base.tieproof", "qrels.txt", "-") == 4


def test_a_pipe_of_the_shell(folder: Path) -> None:
    Path("base.run.gz").write_bytes(gzip.compress(BASE.encode()))
    command = f"{sys.executable} -m tieproof run <(cat qrels.txt) <(gzip -dc base.run.gz)"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{tp.evaluate_run('qrels.txt', 'base.run')}\n", "")


@pytest.mark.parametrize(
    ("arguments", "content", "line"),
    [
        (("run", "qrels.txt", "-", "--categories", "-"), QRELS, "- is given twice"),
        (("compare", "--qrels", "qrels.txt", "base.run", "-", "--categories", "-"), QRELS, "- is given twice"),
        (("run", "qrels.txt", "base.run", "--categories", "-"), "q1\n", "standard input has no category on line 1"),
        (("run", "qrels.txt", "base.run", "--categories", "-"), "q1 \xff", "standard input cannot be read as UTF-8"),
        (("run", "-", "-"), QRELS, "- is given twice, but standard input can be read only once"),
        (("compare", "--qrels", "-", "base.run", "-"), QRELS, "- is given twice"),
        (("verify", "base.tieproof", "-", "-"), QRELS, "- is given twice"),
        (("run", "qrels.txt", "-"), "", "standard input is empty (0 bytes)"),
        (("run", "qrels.txt", "-"), "q1 d1\n", "standard input has 2 columns on line 1: 'q1 d1'."),
        (("run", "qrels.txt", "-"), "q1\0", "standard input cannot be read as a TREC run"),
        (("run", "qrels.txt", "-"), '{"q1": 0.5', "standard input is no JSON (Expecting ',' delimiter: line 1"),
        (("run", "qrels.txt", "-"), "\x1f\x8b\x08", "standard input cannot be unpacked"),
    ],
)
def test_refused(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    content: str,
    line: str,
) -> None:
    tp.evaluate_run("qrels.txt", "base.run").save("base.tieproof")
    type_in(monkeypatch, content.encode("latin-1"))
    assert run(*arguments) == 2
    assert capsys.readouterr().err.startswith(f"Error: {line}")


def test_a_closed_standard_input_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run("run", "qrels.txt", "-") == 2
    assert capsys.readouterr().err == "Error: Standard input is closed; give the path of a file instead of -.\n"


@pytest.mark.parametrize("command", ["run qrels.txt base.run", "leaderboard qrels.txt base.run ours.run"])
def test_documents_come_through_a_pipe_and_are_read_once(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chunks = "".join(f"d{at} d{at % 3}\n" for at in range(5))
    Path("documents.txt").write_text(chunks)
    assert run(*command.split(), "--documents", "documents.txt") == 0
    expected = capsys.readouterr().out
    type_in(monkeypatch, chunks.encode())
    assert run(*command.split(), "--documents", "-") == 0
    assert capsys.readouterr().out == expected
    assert run(*command.split()) == 0
    assert capsys.readouterr().out != expected
