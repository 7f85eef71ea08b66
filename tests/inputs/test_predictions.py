"""Runs in the JSON lines of sentence-transformers give the same result as other forms of the run; and refusals."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import tieproof as tp
from tieproof.cli import main

QRELS = {"q1": {"d1": 1, "d3": 1}, "2": {"d2": 1, "7": 1}, "ä": {"ö": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.5, "d3": -1.25}, "2": {"7": 3.0, "d2": 0.1}, "ä": {"ö": 0.25, "d1": 0.25}}
EXPECTED = (
    "A file of JSON is {query: {document: number}}, or {query: [document, …]}; a line of JSON is "
    '{"query_id": …, "results": [{"corpus_id": …, "score": …}, …]}.'
)
TWICE = "Keep one of them, or pass duplicates='first' (--duplicates first), so that it counts at its first place."


def line_of(query: Any, scores: dict[Any, Any]) -> str:
    results = [{"corpus_id": name, "score": score} for name, score in scores.items()]
    return json.dumps({"query_id": query, "query": "what was asked", "results": results})


def write(path: Path, run: dict[Any, dict[Any, Any]] = RUN, before: bytes = b"", end: str = "\n") -> Path:
    path.write_bytes(before + end.join([line_of(query, scores) for query, scores in run.items()] + [""]).encode())
    return path


def test_predictions_are_a_run_like_others(tmp_path: Path) -> None:
    expected = tp.evaluate_run(QRELS, RUN)
    for path in (
        write(tmp_path / "a.jsonl"),
        write(tmp_path / "b.JSONL", before=b"\xef\xbb\xbf", end="\r\n\r\n"),
        write(tmp_path / "c.jsonl", {2 if query == "2" else query: scores for query, scores in RUN.items()}),
        write(tmp_path / "d.jsonl", {"q1": RUN["q1"], "2": {7: 3, "d2": 0.1}, "ä": RUN["ä"]}),
    ):
        found = tp.evaluate_run(QRELS, path)
        assert found.to_json() == expected.to_json()
        assert found.fingerprint == expected.fingerprint
        assert found.query_ids.tolist() == ["2", "q1", "ä"]
    packed = tmp_path / "e.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    assert tp.evaluate_run(QRELS, packed).to_json() == expected.to_json()


def test_the_order_of_lines_and_results_changes_nothing(tmp_path: Path) -> None:
    turned = {query: dict(reversed(scores.items())) for query, scores in reversed(RUN.items())}
    first, second = write(tmp_path / "a.jsonl"), write(tmp_path / "b.jsonl", turned)
    assert tp.evaluate_run(QRELS, first).to_json() == tp.evaluate_run(QRELS, second).to_json()


def test_a_query_without_results_is_not_in_the_run(tmp_path: Path) -> None:
    result = tp.evaluate_run(QRELS, write(tmp_path / "run.jsonl", {**RUN, "q1": {}}))
    assert result.not_in_run.tolist() == ["q1"]


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("base.jsonl"))
    write(Path("ours.jsonl"), {**RUN, "q1": {"d1": 0.9, "d2": 0.5, "d3": 0.4}})
    Path("qrels.txt").write_text("".join(f"{query} 0 {name} 1\n" for query in QRELS for name in QRELS[query]))
    with pytest.raises(SystemExit) as done:
        main(["run", "qrels.txt", "base.jsonl", "--truncated", "--json", "-"])
    assert done.value.code is None or done.value.code == 0
    said = json.loads(capsys.readouterr().out)["measures"]
    expected = tp.evaluate_run(QRELS, RUN, truncated=True).to_dict()["measures"]
    assert said == expected
    with pytest.raises(SystemExit) as done:
        main(["compare", "--qrels", "qrels.txt", "base.jsonl", "ours.jsonl", "-m", "RR", "--json", "-"])
    assert done.value.code is None or done.value.code == 0
    assert "base" in capsys.readouterr().out


GOOD = line_of("q1", {"d1": 0.5}) + "\n"

REFUSED: dict[str, tuple[str, str]] = {
    "no JSON": (GOOD + "\n{'query_id': 1}\n", f"RUN has no JSON on line 3: '{{'query_id': 1}}'. {EXPECTED}"),
    "a line of TREC": ("q1 Q0 d1 1 0.5 tag\n", f"RUN has no JSON on line 1: 'q1 Q0 d1 1 0.5 tag'. {EXPECTED}"),
    "cut short": (GOOD + GOOD[:20], f"RUN has no JSON on line 2: '{GOOD[:20]}'. {EXPECTED}"),
    "a number": (
        "1\n",
        "RUN: The run must have the documents of each query, but has 1 in place of those of query 0. Pass {query: "
        "{document: score}}, or a list of documents for each query.",
    ),
    "a score in some hits": (
        GOOD + '{"query_id": "q", "results": [{"corpus_id": "d", "score": 1}, {"corpus_id": "e"}]}',
        "RUN, on line 2: The hit 'e' of query 'q' has no score, although others have one: {'corpus_id': 'e'}. Give "
        "every hit of the query a score, or none.",
    ),
    "a score in words": (
        line_of("q", {"d": "high"}),
        "RUN: the score of document 'd' for query 'q' is 'high', on line 1. Every score must be a finite number; "
        "convert texts to numbers, and leave out documents without a score.",
    ),
    "no id": (
        line_of(None, {"d": 1.0}),
        "RUN: The run must name every query by a string or an integer, but one name is None. Leave out rows without "
        "a name, and convert the names with .astype(str).",
    ),
    "an id that is a number": (
        '{"query_id": "q", "results": [{"corpus_id": 1.5, "score": 1}]}',
        "RUN: The run must name every document by a string or an integer, but one name is 1.5. Leave out rows "
        "without a name, and convert the names with .astype(str).",
    ),
    "nan": (
        GOOD + "\n" + line_of("q2", {"d": float("nan")}),
        "RUN: the score of document 'd' for query 'q2' is nan, on line 3. Every score must be a finite number; leave "
        "out documents without a score.",
    ),
    "twice on a line": (
        '{"query_id": "q", "results": [{"corpus_id": "7", "score": 1}, {"corpus_id": 7, "score": 2}]}',
        f"RUN: document '7' occurs twice for query 'q', on line 1. {TWICE}",
    ),
    "twice on two lines": (GOOD + GOOD, f"RUN: document 'd1' occurs twice for query 'q1', on lines 1 and 2. {TWICE}"),
    "no document": (line_of("q1", {}) + "\n", "RUN: The run is empty. Pass at least one score."),
    "blank": ("\n \n", f"RUN has no lines. {EXPECTED}"),
    "empty": ("", "RUN is empty (0 bytes), perhaps because writing it failed; write it again."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    content, message = REFUSED[name]
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(tp.InputError) as error:
        tp.evaluate_run(QRELS, path)
    assert str(error.value) == message.replace("RUN", str(path))
    assert error.value.argument == "run"


def test_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "run.jsonl").read_bytes())[:-10])
    with pytest.raises(
        tp.InputError, match=r"run.jsonl.gz cannot be unpacked: the gzip file is damaged or cut short"
    ):
        tp.evaluate_run(QRELS, path)


def test_deep_brackets_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("[" * 100_000)
    with pytest.raises(tp.InputError, match="has no JSON on line 1"):
        tp.evaluate_run(QRELS, path)
