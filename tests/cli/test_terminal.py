"""The command line with terminals, pipes and signals: escaped names, clean exits, and a file for every output."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import unicodedata
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import tieproof as tp
import tieproof.cli.evaluate
from command_line import START, Outcome, process, the_line
from tieproof import cli
from tieproof.cli import exits, output
from tieproof.show.printable import printable
from tieproof.trials.sandbox.processes import Terminated, ending_by_signals

VECTORS = np.random.default_rng(5).integers(-2, 3, size=(40, 3)).astype(np.float32)
LABELS = np.arange(40) % 4

RED = "\x1b[31mred"
EVIL = [RED, "\u202eesrever", "bell\x07", "two\nlines", "half \ud800", "\x9b31m", "delete\x7f", "\u2028line", "a\rb"]
"""Names that change the color, reverse the text, ring, break the line, or cannot be encoded."""

EXPLOITABLE = """
import tieproof as tp
def upper(embeddings, labels):
    return {"\\x1b[31mred": tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper, "zero": 0.0}
def rude(embeddings, labels):
    if not embeddings.any(): raise IndexError("\\x1b[31mred \\u202eesrever")
    return 0.5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", features=VECTORS, labels=LABELS)
    np.save("embeddings.npy", VECTORS)
    np.save("labels.npy", LABELS)
    np.save("names.npy", np.array(EVIL)[np.arange(40) % len(EVIL)])
    Path("qrels.txt").write_text("".join(f"q{RED} 0 d{number} 1\n" for number in range(2)))
    Path("run.txt").write_text(f"q{RED} Q0 d1 1 0.5 t\nq{RED} Q0 d2 2 0.5 t\n")
    Path("evaluators.py").write_text(EXPLOITABLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *args: str) -> Outcome:
    with pytest.raises(SystemExit) as stopped:
        cli.main(args)
    assert isinstance(stopped.value.code, int)
    return Outcome(stopped.value.code, *capsys.readouterr())


def obeyed(text: str) -> list[str]:
    """The letters that a terminal would interpret or not show."""
    return [letter for letter in text if letter != "\n" and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl")]


# Names


def test_printable() -> None:
    assert printable(EVIL[3]) == "two\\nlines"
    everything = printable("".join(map(chr, range(sys.maxunicode + 1))))
    assert set(obeyed(everything)) == {"\u200c", "\u200d"}
    for text in ("Zürich 東京 \u0645\u06cc\u200c\u062e 👩\u200d🔬 tea\u0301", "C:\\new\\x1b", ""):
        assert printable(text) == text


COMMANDS = {
    "categories": (["evaluate", "embeddings.npy", "labels.npy", "--categories", "names.npy"], RED),
    "queries": (["run", "qrels.txt", "run.txt", "-q"], RED),
    "file": (["evaluate", f"{RED}.npy"], f"{RED}.npy matches no file"),
    "labels": (["evaluate", "embeddings.npy", f"{RED}.npy:\u202e"], f"{RED}.npy does not exist"),
    "measure": (["evaluate", "data.npz", "-m", RED], f"Unknown measure '{RED}'"),
    "option": (["evaluate", "data.npz", f"--{RED}"], f"--{RED}"),
    "command": ([RED], f"No such command '{RED}'"),
    "measures of the evaluator": (["audit", "evaluators:upper", "-a", "zeros", "--items", "60"], RED),
    "message of the evaluator": (["audit", "evaluators:rude", "-a", "zeros", "--items", "60"], RED),
    "evaluator": (["audit", f"{RED}:f"], f"{RED} cannot be imported"),
    "registry": (["measures", RED], f"Unknown measure '{RED}'"),
}


@pytest.mark.parametrize(("arguments", "said"), COMMANDS.values(), ids=COMMANDS)
def test_names_reach_no_terminal_raw(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    outcome = run(capsys, *arguments)
    assert said.replace("\x1b", "\\x1b") in outcome.out + outcome.err
    assert not obeyed((outcome.out + outcome.err).replace("\t", ""))


def test_names_in_a_table_with_colors() -> None:
    result = tp.evaluate(VECTORS, LABELS, measures=["AP"], categories=np.array(EVIL)[np.arange(40) % len(EVIL)])
    colored = result.to_text(100, True)
    assert not obeyed(re.sub(r"\x1b\[\d*m", "", colored))
    assert re.sub(r"\x1b\[\d*m", "", colored) == result.to_text(100)
    for name in EVIL:
        assert colored.count(printable(name)) == 1


@pytest.mark.parametrize(
    ("name", "value", "colored"), [("", "", True), ("NO_COLOR", "1", False), ("TERM", "dumb", False)]
)
def test_colors_are_for_terminals_that_have_them(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    colored: bool,
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name or "NO_COLOR", value)
    assert ("\x1b[1m" in run(capsys, "pcf", "embeddings.npy").out) == colored


def test_warnings_and_defects_are_harmless(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def warns(*args: Any, **options: Any) -> Any:
        warnings.warn(f"Beware of {RED}.", tp.InputWarning, stacklevel=1)
        raise KeyError(RED)

    monkeypatch.setattr(tp, "evaluate", warns)
    monkeypatch.setenv(exits.TRACEBACK, "1")
    outcome = run(capsys, "evaluate", "data.npz")
    assert outcome.status == 1
    assert "Warning: Beware of \\x1b[31mred.\n" in outcome.err
    assert "KeyError: '\\x1b[31mred'" in outcome.err
    assert not obeyed(outcome.err)


def test_markdown_of_an_audit_keeps_its_table(folder: Path) -> None:
    def evaluator(embeddings: Any, labels: Any) -> dict[str, float]:
        return {f"{RED}|\n": float(tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper)}

    text = tp.audit(evaluator, attacks=["zeros"], items=60).to_markdown()
    (row,) = [line for line in text.splitlines() if line.startswith("| zeros")]
    assert "\\\\x1b\\[31mred\\|" in row  # as Markdown shows it: \x1b[31mred|
    assert not obeyed(text)


def test_json_and_tables_hold_every_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", "embeddings.npy", "labels.npy", "-m", "AP", "--categories", "names.npy"]
    outcome = run(capsys, *arguments, "--json", "result.json", "--per-query", "queries.csv")
    assert outcome.status == 0
    assert set(json.loads(Path("result.json").read_text())["categories"]) == set(EVIL)
    stored = {name.replace("\ud800", "\\ud800") for name in EVIL}
    assert run(capsys, *arguments, "--per-query", "queries.parquet").status == 0
    assert set(pq.read_table("queries.parquet")["category"].to_pylist()) == stored
    with open("queries.csv", newline="", encoding="utf-8") as file:
        assert {row["category"] for row in csv.DictReader(file)} == stored
    result = tp.evaluate(VECTORS, LABELS, measures=["AP"], categories=np.load("names.npy"))
    for per in ("query", "category"):
        assert set(result.to_frame(per)["category"]) == stored


def test_picture_shows_names_harmlessly() -> None:
    from tieproof.show import style

    names = [RED, "$\\frac$"]
    run_of = {name: {"d": 1.0, "e": 1.0} for name in names}
    result = tp.evaluate_run({name: {"d": 1} for name in names}, run_of, measures=["AP"])
    drawn, ax = style.figure("This test")
    result.plot_queries("AP", ax)
    drawn.canvas.draw()
    assert {label.get_text() for label in ax.get_xticklabels()} == {"\\x1b[31mred", "$\\frac$"}


# Pipes


CLOSED = {
    "": 0,
    "--help": 0,
    "evaluate --help": 0,
    "--version": 0,
    "measures": 0,
    "evaluate data.npz": 0,
    "evaluate data.npz --json -": 0,
    "collisions data.npz": 0,
    "pcf embeddings.npy": 0,
    "fnmr data.npz --json -": 0,
    "run qrels.txt run.txt -q": 0,
    "audit evaluators:upper -a zeros --items 60": 3,
    "audit evaluators:upper -a zeros --items 60 --json -": 3,
    "evaluate nothing.npy": 2,
}
"""Commands whose output nobody reads, and their status."""

IN_COPIES = """
import os, sys
import tieproof.cli.run
from tieproof import audit, collisions, evaluate, evaluate_run, fnmr_at_fmr, pcf
from tieproof.cli import main
for place, words in enumerate(open("commands").read().split("\\n")):
    copy = os.fork()
    if not copy:
        os.dup2(os.open(f"said-{place}", os.O_WRONLY | os.O_CREAT), 2)
        sys.argv[1:] = words.split()
        main()
    with open("statuses", "a") as statuses:
        print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), file=statuses)
"""
"""Runs each command in a copy of a process that has imported what commands need."""


@pytest.mark.long
def test_a_closed_pipe_changes_no_status(folder: Path) -> None:
    Path("commands").write_text("\n".join(CLOSED))
    started = subprocess.Popen([sys.executable, "-c", IN_COPIES], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert started.stdout is not None
    started.stdout.close()
    started.stdout = None
    _, said = started.communicate(timeout=600)
    assert said == b""
    statuses = [int(status) for status in Path("statuses").read_text().split()]
    assert dict(zip(CLOSED, statuses, strict=True)) == CLOSED
    lines = {words: Path(f"said-{place}").read_text().count("\n") for place, words in enumerate(CLOSED)}
    assert lines == {words: status == 2 for words, status in CLOSED.items()}


def test_complaints_that_nobody_reads_change_no_status(folder: Path) -> None:
    started = process("evaluate", "nothing.npy", folder=folder)
    assert started.stderr is not None
    started.stderr.close()
    started.stderr = None
    out, _ = started.communicate(timeout=60)
    assert (started.returncode, out) == (2, "")


@pytest.mark.parametrize(("arguments", "status"), [("evaluate data.npz", 0), ("evaluate nothing.npy", 2)])
def test_without_standard_streams(folder: Path, arguments: str, status: int) -> None:
    code = f"{sys.executable} -m tieproof {arguments}"
    for closed in ("2>&-", "<&- >&- 2>&-"):
        ended = subprocess.run(["sh", "-c", f"{code} {closed}"], capture_output=True, text=True, timeout=60)
        assert ended.returncode == status
        assert "Error" not in ended.stdout


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_one_line(folder: Path) -> None:
    for arguments in ("evaluate data.npz", "--help"):
        ended = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m tieproof {arguments} > /dev/full"], capture_output=True, text=True
        )
        assert the_line(Outcome(ended.returncode, "", ended.stderr)) == (
            "Error: Standard output: No space left on device."
        )


def test_as_a_module(folder: Path) -> None:
    ended = subprocess.run([sys.executable, "-m", "tieproof", "--version"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, f"tieproof {tp.__version__}\n")


# Signals

ENDINGS = {
    signal.SIGINT: (130, "Interrupted; no unfinished file is left."),
    signal.SIGTERM: (143, "Terminated; no unfinished file is left."),
    signal.SIGHUP: (129, "Terminated; no unfinished file is left."),
}


def test_an_interrupt_while_libraries_are_imported(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", "from tieproof.cli import main; main()", "measures"]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert the_line(Outcome(ended.returncode, ended.stdout, ended.stderr), 130) == ENDINGS[signal.SIGINT][1]


@pytest.mark.long
@pytest.mark.parametrize("number", ENDINGS)
def test_a_signal_in_the_middle_of_an_evaluation(tmp_path: Path, number: signal.Signals) -> None:
    vectors = np.random.default_rng(0).normal(size=(20_000, 256)).astype(np.float32)
    np.save(tmp_path / "embeddings.npy", vectors)
    np.save(tmp_path / "labels.npy", np.arange(len(vectors)) % 2_000)
    outputs = "--threads 1 -d cityblock --json result.json --per-query queries.csv"  # for some twenty seconds
    before = signal.signal(number, signal.SIG_DFL)  # nohup has SIGHUP ignored, which processes inherit
    try:
        started = process("evaluate", "embeddings.npy", "labels.npy", *outputs.split(), folder=tmp_path)
    finally:
        signal.signal(number, before)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1)
    started.send_signal(number)
    out, err = started.communicate(timeout=60)
    status, said = ENDINGS[number]
    assert the_line(Outcome(started.returncode, out, err), status) == said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["embeddings.npy", "labels.npy"]


def test_a_signal_that_is_ignored_stays_ignored(folder: Path) -> None:
    code = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); {START}"
    code = code.replace("main()", "signal.raise_signal(signal.SIGHUP); main()")
    ended = subprocess.run([sys.executable, "-c", code, "evaluate", "data.npz"], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_signals_are_as_before_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    with pytest.raises(Terminated) as caught, ending_by_signals():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.status == 143
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before


# Outputs


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("evaluate data.npz --json link.json --per-query result.csv", "link.json and result.csv, which are the same"),
        ("evaluate data.npz --per-query result.csv --json hard.json", "hard.json and result.csv, which are the same"),
        ("run qrels.txt run.txt --json link.json --per-query ./result.csv", "which are the same file"),
        ("collisions data.npz --plot a.svg --plot-ranks a.svg", "a.svg would be written twice"),
        ("collisions data.npz --plot a.svg --plot-ranks ./x/../a.svg", "a.svg and ./x/../a.svg, which are the same"),
        ("audit evaluators:upper -a zeros --json link.json --markdown report.md", "link.json and report.md, which"),
        ("fnmr data.npz --json data.json", "data.json is read in this evaluation"),
        ("pcf data.npz --json data.json", "data.json is read in this evaluation"),
        ("collisions data.npz --per-query data.csv", "data.csv is read in this evaluation"),
    ],
)
def test_every_output_has_a_file_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: str, said: str
) -> None:
    Path("result.csv").write_text("old")
    Path("report.md").write_text("old")
    Path("x").mkdir()
    os.symlink("report.md" if "audit" in arguments else "result.csv", "link.json")
    os.link("result.csv", "hard.json")
    for name in ("data.json", "data.csv"):
        os.symlink("data.npz", name)
    before = sorted(Path().iterdir())
    assert said in the_line(run(capsys, *arguments.split()))
    assert sorted(Path().iterdir()) == before
    assert Path("result.csv").read_text() == Path("report.md").read_text() == "old"


def test_an_output_is_not_where_standard_output_goes(folder: Path) -> None:
    code = f"{sys.executable} -m tieproof evaluate data.npz --json - --per-query ./queries.csv > queries.csv"
    ended = subprocess.run(["sh", "-c", code], capture_output=True, text=True)
    said = "Error: ./queries.csv receives standard output; write the result to another file."
    assert the_line(Outcome(ended.returncode, "", ended.stderr)) == said


def test_the_empty_text_is_no_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["evaluate", ""],
        ["evaluate", "embeddings.npy", ""],
        ["evaluate", "data.npz", "--json", ""],
        ["evaluate", "data.npz", "--groups", ""],
        ["run", "", "run.txt"],
        ["run", "qrels.txt", "run.txt", "--per-query", ""],
        ["audit", "evaluators:upper", "--markdown", ""],
        ["collisions", "data.npz", "--plot-ranks", ""],
    ):
        assert "an empty text is not a path" in the_line(run(capsys, *arguments))
