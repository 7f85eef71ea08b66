"""Answers by which a system tries to keep the judge busy, to fill its memory, or to send its items elsewhere."""

import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from competitions import HONEST, PRINT, organize, program
from tieproof.trials.judge import judge, judging
from tieproof.trials.judge.answers import BYTES_OF_NAMES, BYTES_OF_NUMBER, MOST_OTHER_LINES, read_answers
from tieproof.trials.judge.batches import Batch

QUESTIONS = 3
BATCH = Batch({"a": 0, "b": 1, "c": 2}, (("a",), ("b",), ("c",)))
DIMENSIONS = 4
MIB = 2**20


class Counted(BytesIO):
    """Counts the bytes that were read."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.count += len(found)
        return found

    def readline(self, size: int | None = -1, /) -> bytes:
        found = super().readline(size)
        self.count += len(found)
        return found


HONEST_LINES = b"a,1\nb,2\nc,3\n"
SHORT: dict[str, bytes] = {
    "unknown names": b"x\n",
    "no names": b"\n",
    "no UTF-8": b"\xff\xfe\n",
    "a name again": b"a,1\n",
    "zeros": b"\0\n",
}


@pytest.mark.trials
@pytest.mark.parametrize("what", SHORT)
def test_short_lines_cannot_keep_the_judge_busy(what: str) -> None:
    line = SHORT[what]
    others = MOST_OTHER_LINES + QUESTIONS - HONEST_LINES.count(b"\n")
    most = Counted(HONEST_LINES + line * others)
    assert read_answers(most, BATCH, DIMENSIONS).refused[1:] == ["", ""]
    stream = Counted(HONEST_LINES + line * 4 * others)
    assert read_answers(stream, BATCH, DIMENSIONS).refused == ["too much output"] * QUESTIONS
    assert stream.count <= most.count + len(line) + 100


@pytest.mark.parametrize("letter", [b"1", b",", b"\xff", b" ", b"a,"])
def test_a_long_line_cannot_fill_the_memory(letter: bytes) -> None:
    content = b"a," + letter * (16 * MIB // len(letter)) + b"\nb,1\nc,1"
    stream = BytesIO(content)
    tracemalloc.start()
    try:
        found = read_answers(stream, BATCH, DIMENSIONS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.refused == ["wrong shape", "", ""]
    assert found.unknown == 0
    assert peak < MIB


def test_the_longest_line_that_is_read() -> None:
    """Every number may be spelled with as many digits as the largest float has, with spaces around it."""
    number = b"%d.000000" % int(np.finfo(np.float64).max)
    assert len(number) <= BYTES_OF_NUMBER
    line = b"a," + b",".join([number.rjust(BYTES_OF_NUMBER - 1)] * DIMENSIONS)
    assert len(line) <= BYTES_OF_NAMES + DIMENSIONS * BYTES_OF_NUMBER
    found = read_answers(BytesIO(line), BATCH, DIMENSIONS)
    assert found.vectors[0].tolist() == [np.finfo(np.float64).max] * DIMENSIONS


def npy(header: bytes, length: int | None = None, version: int = 1, body: bytes = b"") -> bytes:
    """A NumPy file with any header, which claims to have any length."""
    claimed = len(header) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + claimed.to_bytes(2 if version == 1 else 4, "little") + header + body


def described(kind: str, shape: str, by_columns: bool = False) -> bytes:
    return f"{{'descr': {kind}, 'fortran_order': {by_columns}, 'shape': {shape}, }}".encode() + b"\n"


HEADERS: dict[str, bytes] = {
    "a tiny file with a huge count": npy(described("'<f8'", "(3, 10**15)")),
    "a huge count as an integer": npy(described("'<f8'", "(3, 1000000000000000)")),
    "a huge count of nothing": npy(described("'|S0'", "(1000000000000,)")),
    "a huge count by columns": npy(described("'<f8'", "(3, 1000000000000000)", by_columns=True)),
    "lengths below zero": npy(described("'<f8'", "(-3, -2)"), body=bytes(48)),
    "an integer with more digits than Python reads": npy(described("'<f8'", f"(3, {'9' * 5000})")),
    "a header that claims 4 GiB": npy(b"{", length=2**32 - 1, version=2, body=bytes(100_000)),
    "signs that exhaust Python's parser": npy(b"-" * 9000 + b"1\n"),
    "sums that exhaust Python's stack": npy(b"1+" * 4500 + b"1\n"),
    "brackets in brackets": npy(b"[" * 9000),
    "objects": npy(described("'|O'", "(3, 1)"), body=b"\x80\x04" + bytes(100)),
    "records": npy(described("[('a', '<f8')]", "(3, 1)"), body=bytes(24)),
    "records in records, many at a time": npy(described("[('a', '<f8', (1000000000,))]", "(3, 1)")),
    "an array in every element": npy(described("('<f8', (1000000000,))", "(3,)")),
    "names in UTF-8": npy(described("[('a', '<f8')]", "(3, 1)"), version=3, body=bytes(24)),
    "an unknown version": npy(described("'<f8'", "(3, 1)"), version=9, body=bytes(24)),
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_header_cannot_stop_the_judge_or_fill_its_memory(what: str) -> None:
    stream = Counted(HEADERS[what])
    assert read_answers(stream, BATCH, DIMENSIONS).refused == ["crashed"] * QUESTIONS
    assert stream.count < 11_000


def test_vectors_that_are_too_long_are_not_read() -> None:
    stream = Counted(npy(described("'<f8'", "(3, 1000)"), body=bytes(24_000)))
    assert read_answers(stream, BATCH, DIMENSIONS).refused == ["wrong shape"] * QUESTIONS
    assert stream.count < 1000


def test_an_array_by_columns_has_its_numbers_in_their_places() -> None:
    expected = np.arange(6.0).reshape(3, 2)
    stream = BytesIO()
    np.save(stream, np.asfortranarray(expected))
    found = read_answers(stream, BATCH, DIMENSIONS)
    assert [vector.tolist() for vector in found.vectors] == expected.tolist()


class Redirecting(BaseHTTPRequestHandler):
    """Sends whoever asks for /embed to another address of the same server, and lists the addresses asked for."""

    asked: list[str]
    status: int

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(self.status if self.path == "/embed" else 200)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def redirecting(status: int) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    with HTTPServer(("127.0.0.1", 0), type("Handler", (Redirecting,), {"asked": asked, "status": status})) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/embed", asked
        server.shutdown()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_address_cannot_redirect_the_judge(status: int, tmp_path: Path) -> None:
    with redirecting(status) as (address, asked):
        competition = organize(tmp_path, judge_batch=100, judge_repeats=0)
        judgment = judge(competition, address, name="ours", out=tmp_path / "judged")
    assert asked == ["/embed"]
    assert judgment.refused == ({"crashed": 12},)
    assert judgment.said == f"The address answered with the status {status}; redirections are not followed."


NEAR_THE_ENDS = "[(3.4e38, 1.5e-45), (3.41e38, 1), (1, -7e-46), (1e300, 1e-300)]"
"""Only the first two are numbers of float32, which end at 2^128 and 2^-149."""


def test_numbers_of_very_different_sizes_cannot_keep_the_judge_busy(tmp_path: Path) -> None:
    """To order 200 vectors of such numbers exactly took up to 108 seconds."""
    code = f"{PRINT}for at, line in enumerate(lines): print(line[0], *{NEAR_THE_ENDS}[at % 4], sep=',')\n"
    competition = organize(tmp_path / "organizer", distance="cosine", judge_batch=100, judge_repeats=0)
    judgment = judge(competition, program(tmp_path / "team", code), name="wide", out=tmp_path / "judged")
    assert judgment.refused == ({"out of range": 9},)


def test_distances_may_have_any_size(tmp_path: Path) -> None:
    code = f"{PRINT}for pair in open(sys.argv[2]): print(pair.strip(), 1e-300, sep=',')\n"
    entries = {"task": "distances", "distance": None, "judge_batch": 1000, "judge_repeats": 0}
    system = program(tmp_path / "team", code, "{lines} {pairs}")
    judgment = judge(organize(tmp_path / "organizer", **entries), system, name="small", out=tmp_path / "judged")
    assert judgment.refused == ({},)


def test_few_dimensions_of_many_items_cannot_keep_the_judge_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """To order 1400 vectors of two such numbers exactly took more than 25 seconds without a limit."""
    monkeypatch.setattr(judging, "START_SECONDS", -1000)
    assert judging.scored({"embeddings": np.ones((1400, 2)), "labels": np.zeros(1400, int)}, 1) is None


def test_an_evaluation_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "SMALL", 0)
    monkeypatch.setattr(judging, "_CODE", "raise SystemExit(3)")
    with pytest.raises(tp.InputError, match="ended with status 3, perhaps because memory is full"):
        judging.scored({"embeddings": np.eye(2), "labels": np.zeros(2, int)}, 60)


@pytest.mark.trials
def test_an_evaluation_ends_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large data are evaluated in a process, with the same record; if it takes too long, all answers are late."""
    competition = organize(tmp_path / "organizer", judge_batch=100, judge_repeats=0, judge_total_seconds=60)
    system = program(tmp_path / "team", HONEST)
    judge(competition, system, name="ours", out=tmp_path / "here")
    monkeypatch.setattr(judging, "SMALL", 0)
    judge(competition, system, name="ours", out=tmp_path / "there")
    here, there = ((tmp_path / name / "ours.run-1.tieproof").read_bytes() for name in ("here", "there"))
    assert here == there
    monkeypatch.setattr(judging, "START_SECONDS", -1000)  # no process is as quick
    judgment = judge(competition, system, name="busy", out=tmp_path / "there")
    assert judgment.refused == ({"late": 12},)
    assert judgment["P@1"].lower == 0
