"""Systems that answer at a network address of this machine."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import tieproof as tp
from competitions import EMBEDDINGS, LABELS, organize, vector
from tieproof.trials.judge import judge

Answer = Callable[[Any], bytes]


class Server(ThreadingHTTPServer):
    """Answers each request with the result of `answer` for its JSON."""

    answer: Answer
    daemon_threads = True


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = self.server.answer(asked)
        self.send_response(200 if content else 500)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def honest(asked: Any) -> bytes:
    words = {item["name"]: base64.b64decode(item["content"]).decode() for item in asked["items"]}
    return "".join(f"{name},{','.join(map(str, vector(words[name])))}\n" for (name,) in asked["questions"]).encode()


def slow(asked: Any) -> bytes:
    time.sleep(3.0)
    return honest(asked)


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/embed"


def test_an_address_is_scored_and_said_not_to_be_sealed(server: Server, tmp_path: Path) -> None:
    server.answer = honest
    judgment = judge(organize(tmp_path), address(server), name="ours", out=tmp_path / "judged")
    assert judgment["AP"].ties == tp.evaluate(EMBEDDINGS, LABELS, distance="euclidean")["AP"]
    assert judgment.seal.by == "nothing"
    assert "on its own machine" in judgment.seal.not_sealed[0]


def test_distances_from_an_address(server: Server, tmp_path: Path) -> None:
    def answer(asked: Any) -> bytes:
        words = {item["name"]: len(base64.b64decode(item["content"])) for item in asked["items"]}
        return "".join(f"{a},{b},{abs(words[a] - words[b])}\n" for a, b in asked["questions"]).encode()

    server.answer = answer
    competition = organize(tmp_path, task="distances", distance=None)
    judgment = judge(competition, address(server), name="ours", out=tmp_path / "judged")
    lengths = EMBEDDINGS[:, 2]
    expected = tp.evaluate_distances(abs(lengths[:, None] - lengths), labels=LABELS, measures=["AP"])
    assert judgment["AP"].ties == expected["AP"]


@pytest.mark.parametrize(
    ("answer", "limits", "reason"),
    [
        (lambda asked: b"", {}, "crashed"),
        (lambda asked: b"x" * 3000, {"judge_output": "1KiB"}, "too much output"),
        (slow, {"judge_seconds": 0.5}, "late"),
        (lambda asked: b"\xff\xfe,1\n", {}, "missing"),
    ],
)
def test_addresses_that_do_not_answer(
    server: Server, tmp_path: Path, answer: Answer, limits: dict[str, Any], reason: str
) -> None:
    server.answer = answer
    competition = organize(tmp_path, judge_batch=100, judge_repeats=0, **limits)
    judgment = judge(competition, address(server), name="ours", out=tmp_path / "judged")
    assert judgment.refused == ({reason: 12},)


def test_an_address_without_a_server(tmp_path: Path) -> None:
    judgment = judge(organize(tmp_path), "http://127.0.0.1:9/none", name="ours", out=tmp_path / "judged")
    assert judgment.refused == ({"crashed": 12},)
