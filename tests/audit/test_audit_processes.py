"""Evaluators that crash or hang: the audit continues within its limits, and leaves no process behind."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
import unruly
from tieproof.trials.audit import Command, isolation
from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.isolation import Isolated
from tieproof.trials.audit.outcomes import MOST_LETTERS, Outcome, attempt
from tieproof.trials.sandbox.folders import PREFIX

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them"),
    pytest.mark.trials,
]

LIMIT = 2.0
"""Seconds for a call that takes longer."""

MUCH_LATER = 60.0
"""Seconds to wait for anything else; a longer wait would never end."""

EQUAL = Case(np.zeros((6, 2), dtype=np.float32), np.arange(6) % 2)
RANDOM = Case(np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32), np.arange(6) % 2)

STAY = f'echo $$ >> "${unruly.NUMBERS}"; exec sleep {unruly.FOREVER}'
"""A shell program that writes its process number, and stays."""


@pytest.fixture
def numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file to which processes write their numbers."""
    path = tmp_path / "numbers"
    path.touch()
    monkeypatch.setenv(unruly.NUMBERS, str(path))
    return path


def is_alive(number: int) -> bool:
    """Whether a process runs; a process that has ended, but was not waited for, does not."""
    try:
        os.kill(number, 0)
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def all_ended(numbers: Path, count: int = 1) -> bool:
    """Whether so many processes wrote their numbers, and all of them have ended or end soon."""
    written = [int(line) for line in numbers.read_text().splitlines()]
    for _ in range(100):
        if not any(map(is_alive, written)):
            break
        time.sleep(0.02)
    return len(written) == count and not any(map(is_alive, written))


def isolated(name: str) -> Isolated:
    return Isolated(f"unruly:{name}", "embeddings")


@pytest.mark.parametrize(
    ("name", "problem", "said", "processes"),
    [
        ("sleeps", "timed out", "it took longer than 2 seconds", 1),
        ("closes_and_sleeps", "timed out", "it took longer than 2 seconds", 1),
        ("stops", "timed out", "it took longer than 2 seconds", 1),
        ("closes_and_returns", "crashed", "its process ended with status 1", 0),
        ("leaves_a_fork_and_exits", "crashed", "its process ended with status 7", 1),
        ("kills_itself", "crashed", "its process ended by signal 9", 0),
        ("floods_descriptors", "too much output", "it printed more than 1,000,000 characters", 0),
    ],
)
def test_evaluators_that_end_their_process(name: str, problem: str, said: str, processes: int, numbers: Path) -> None:
    call = isolated(name)
    started = time.monotonic()
    try:
        limit = LIMIT if problem == "timed out" else MUCH_LATER
        assert call(EQUAL, {}, limit) == Outcome({}, problem, said)  # type: ignore[arg-type]
        assert all_ended(numbers, processes)
    finally:
        call.close()
    assert time.monotonic() - started < MUCH_LATER


def test_processes_that_an_evaluator_leaves_end_with_the_audit(numbers: Path) -> None:
    leaving = ["leaves_a_program", "leaves_a_daemon", "leaves_a_program_without_environment"]
    for count, name in enumerate(leaving[: 3 if sys.platform == "linux" else 1], 1):
        call = isolated(name)
        try:
            assert call(EQUAL, {}, MUCH_LATER).values == {"score": 0.25}
            assert call(RANDOM, {}, MUCH_LATER).problem is None
        finally:
            call.close()
        assert all_ended(numbers, count), name


def test_nothing_but_the_evaluators_number_is_its_score(numbers: Path) -> None:
    """Output to other files and answers of a forked process never count as an answer, not even to the next call."""
    for name in ("writes_answers", "comes_back_twice"):
        call = isolated(name)
        try:
            for _ in range(3):
                assert call(EQUAL, {}, MUCH_LATER) == Outcome({"score": 0.25}), name
        finally:
            call.close()


def test_the_limit_of_what_is_printed_is_that_of_a_call() -> None:
    for name, outcomes in {
        "prints_much": 3 * [Outcome({"score": 0.25})],
        "prints_too_much": 2 * [Outcome({}, "too much output", "it printed more than 1,000,000 characters")],
    }.items():
        call = isolated(name)
        try:
            assert [call(EQUAL, {}, MUCH_LATER) for _ in outcomes] == outcomes
        finally:
            call.close()


def test_an_audit_of_what_closes_its_descriptors(numbers: Path) -> None:
    report = tp.audit(
        "unruly:closes_and_sleeps",
        takes="embeddings",
        attacks=["zeros", "duplicates"],
        time_limit=LIMIT,
        isolate=True,
        items=60,
    )
    assert report.finding("zeros").verdict == "timed out"
    assert report.finding("duplicates").verdict == "held"
    assert all_ended(numbers, len(numbers.read_text().splitlines()))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os._exit(7)", "ends:f cannot be imported: its process ended with status 7."),
        ("import sys; sys.exit(7)", "ends cannot be imported: SystemExit: 7."),
        ("import time; time.sleep(600)", "ends:f cannot be imported: it took longer than 3 seconds."),
        ("f = lambda one, two, three: 0.5", "parameters of the evaluator do not tell how to call it. Pass takes="),
    ],
)
def test_modules_are_imported_in_the_process_alone(
    code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ends.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(isolation, "START_SECONDS", 3.0 if "sleep" in code else MUCH_LATER)
    with pytest.raises(tp.InputError, match=re.escape(said)):
        tp.audit("ends:f", isolate=True)
    assert "ends" not in sys.modules


# Without a separate process


@pytest.mark.parametrize("name", ["holds_on", "hides_the_alarm"])
def test_an_alarm_that_is_caught_rings_again(name: str) -> None:
    started = time.monotonic()
    outcome = attempt(getattr(unruly, name), CONVENTIONS["embeddings"], EQUAL, {}, 0.2)
    assert outcome == Outcome({}, "timed out", "it took longer than 0.2 seconds")
    assert time.monotonic() - started < MUCH_LATER
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("cancels", Outcome({}, "crashed", "CancelledError: the task was cancelled")),
        ("fails_without_words", Outcome({}, "crashed", "Speechless")),
        ("exits_without_words", Outcome({}, "crashed", "it called sys.exit()")),
        (
            "returns_long_names",
            Outcome({}, "too much output", f"the names of its numbers have more than {MOST_LETTERS:,} characters"),
        ),
    ],
)
def test_accidents_with_exceptions_and_names(name: str, outcome: Outcome) -> None:
    assert attempt(getattr(unruly, name), CONVENTIONS["embeddings"], EQUAL, {}, MUCH_LATER) == outcome


def test_a_copy_of_the_audit_does_not_come_back(tmp_path: Path) -> None:
    options = "takes='embeddings', attacks=['zeros'], items=60"
    program = f"import tieproof as tp; print(tp.audit('unruly:comes_back_twice', {options}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.stdout.count("Audited") == 1, done.stderr


# Programs


def attempted(template: str, seconds: float = MUCH_LATER) -> Outcome:
    case = Case(np.zeros((4, 2)), np.arange(4) % 2, query_labels=np.arange(2))
    return attempt(Command(template), CONVENTIONS["files"], case, {}, seconds)


def by_shell(script: str) -> str:
    return f"sh -c {shlex.quote(script)} sh {{qrels}} {{run}}"


def test_whatever_a_program_has_started_ends_with_it(numbers: Path) -> None:
    stay = f"sh -c {shlex.quote(STAY)}"
    assert attempted(by_shell(f"{stay} | cat"), LIMIT).problem == "timed out"
    assert all_ended(numbers, 1)
    for count, left in enumerate([stay, f"setsid {stay}"][: 2 if sys.platform == "linux" else 1], 2):
        wait = f'until [ "$(wc -l < "${unruly.NUMBERS}")" -ge {count} ]; do sleep 0.05; done'
        assert attempted(by_shell(f"{left} & {wait}; echo 0.5")) == Outcome({"score": 0.5})
        assert all_ended(numbers, count)


def test_a_program_has_its_limit_outside_the_main_thread(numbers: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(attempted, by_shell(STAY), LIMIT).result(MUCH_LATER).problem == "timed out"
    assert all_ended(numbers, 1)


@pytest.mark.parametrize("folder", ["{run} {qrels}{0}", "two words", 'it\'s "quoted"', "$HOME `x` \\n"])
def test_folders_with_any_letters(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / folder).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / folder))
    seen = tmp_path / "seen"
    program = "import sys; print(*sys.argv[1:], sep='\\n', file=open(sys.argv.pop(), 'w')); print(0.5)"
    command = f"{sys.executable} -c {shlex.quote(program)} {{qrels}} --run={{run}} {seen}"
    assert attempted(command) == Outcome({"score": 0.5})
    qrels, run, _ = seen.read_text().splitlines()
    assert re.fullmatch(re.escape(f"{tmp_path / folder}{os.sep}{PREFIX}") + r"\w+/qrels\.txt", qrels)
    assert run == "--run=" + qrels.replace("qrels.txt", "run.txt")
    assert attempted(by_shell('wc -l < "$2"')) == Outcome({"score": 8.0})
    assert list((tmp_path / folder).iterdir()) == []


# The audit itself is ended

UNPREPARED = (
    "from signal import *; signal(SIGHUP, SIG_DFL); signal(SIGTERM, SIG_DFL); signal(SIGINT, default_int_handler); "
)
"""The process that runs the tests may ignore signals, as under `nohup`."""


def status_after(number: int, code: str, arguments: list[str], numbers: Path, temporary: Path) -> int:
    """The exit status of a Python program that receives a signal after its evaluator has written its number."""
    process = subprocess.Popen(
        [sys.executable, "-c", UNPREPARED + code, *arguments],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        deadline = time.monotonic() + 2 * MUCH_LATER
        while not numbers.read_text().endswith("\n") and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        return process.wait(MUCH_LATER)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("number", "isolate"),
    [(signal.SIGTERM, True), (signal.SIGTERM, False), (signal.SIGHUP, True), (signal.SIGINT, False)],
)
def test_a_command_that_is_ended_leaves_nothing(number: int, isolate: bool, numbers: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    evaluator = ["--command", by_shell(f"sh -c {shlex.quote(STAY)} | cat")]
    if isolate:
        evaluator = ["unruly:sleeps", "--takes", "embeddings", "--isolate"]
    code = "from tieproof.cli import main; main()"
    status = status_after(number, code, ["audit", *evaluator, "-a", "zeros"], numbers, temporary)
    assert status in (-number, 128 + number)
    assert all_ended(numbers, 1)
    assert list(temporary.iterdir()) == []


def test_a_script_that_is_ended_during_an_audit_leaves_nothing(numbers: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    code = "import tieproof as tp; tp.audit('unruly:sleeps', takes='embeddings', attacks=['zeros'], isolate=True)"
    assert status_after(signal.SIGTERM, code, [], numbers, temporary) == -signal.SIGTERM
    assert all_ended(numbers, 1)
    assert list(temporary.iterdir()) == []
