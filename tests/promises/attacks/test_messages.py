"""An isolated evaluator that finds the number of its request, and answers in the place of its process."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.isolation import Isolated, Server
from tieproof.trials.audit.outcomes import LONGEST_MESSAGE, MOST_VALUES, Outcome, Stop, reported

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them")

THIEF = """
import os, sys

def thief(embeddings, labels):
    forge(open(os.environ["FORGED"], "rb").read())
    return 0.25

def forge(answer):
    frame = sys._getframe()
    while "connection" not in frame.f_locals:
        frame = frame.f_back
    frame.f_locals["connection"].sendall(frame.f_locals["number"] + answer + b"\\n")
"""

ON_IMPORT = f"{THIEF}\nforge(open(os.environ['FORGED'], 'rb').read())\n"

CASE = Case(np.zeros((6, 2), dtype=np.float32), np.arange(6) % 2)
MEDDLED = Outcome({}, "crashed", "it wrote into the answer of its process")
SECONDS = 60.0

WORD: dict[str, Any] = {"values": {}, "problem": None, "message": ""}
FORGED: dict[str, Any] = {
    "other keys": {"x": 1},
    "a key more": {**WORD, "values": {"AP": 1.0}, "x": 1},
    "a key less": {"values": {"AP": 1.0}, "problem": None},
    "a list": [1, 2, 3],
    "a number": 1.0,
    "nothing": None,
    "values in a list": {**WORD, "values": [1.0]},
    "values in words": {**WORD, "values": "AP"},
    "an unknown problem": {**WORD, "problem": "held"},
    "a problem that is a number": {**WORD, "problem": 1},
    "a problem that is a list": {**WORD, "problem": ["crashed"]},
    "a problem and values": {"values": {"AP": 1.0}, "problem": "crashed", "message": "x"},
    "a message that is a number": {"values": {}, "problem": "crashed", "message": 1},
    "a message and values": {"values": {"AP": 1.0}, "problem": None, "message": "x"},
}
RAW: dict[str, bytes] = {
    "no JSON": b"{",
    "no UTF-8": b"\xff\xfe\xfd",
    "brackets in brackets": b"[" * 200_000,
    "objects in objects": b'{"x":' * 200_000,
    "more digits than Python reads": b"9" * 10_000,
}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Isolated]:
    (tmp_path / "stealing.py").write_text(THIEF)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FORGED", str(tmp_path / "forged"))
    found = Isolated("stealing:thief", "embeddings")
    yield found
    found.close()


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_answer_is_no_score(what: str) -> None:
    with pytest.raises(Stop, match=MEDDLED.message):
        reported(FORGED[what])


@pytest.mark.parametrize("what", RAW)
def test_an_answer_that_cannot_be_parsed_is_no_score(what: str) -> None:
    with pytest.raises(Stop, match=MEDDLED.message):
        Server.read(RAW[what])


@pytest.mark.trials
@pytest.mark.long
def test_an_audit_does_not_begin_after_a_forged_answer(call: Isolated, tmp_path: Path) -> None:
    (tmp_path / "forged").write_bytes(b'{"x": 1}')
    assert call(CASE, {}, SECONDS) == MEDDLED
    with pytest.raises(tp.InputError, match="it wrote into the answer of its process"):
        tp.audit("stealing:thief", takes="embeddings", attacks=["zeros"], isolate=True, items=60)


VALUES: dict[str, Any] = {
    "text": {"AP": "1"},
    "a list": {"AP": [1.0]},
    "nothing": {"AP": None},
    "too many": {str(number): 1.0 for number in range(MOST_VALUES + 1)},
    "none": {},
}


@pytest.mark.parametrize("what", VALUES)
def test_forged_values_that_are_no_numbers_are_no_score(what: str) -> None:
    found = reported({**WORD, "values": VALUES[what]})
    assert found.problem is not None
    assert found.values == {}


def test_numbers_that_no_float_can_be() -> None:
    assert reported({**WORD, "values": {"AP": 10**400}}) == Outcome({"AP": float("inf")})


def test_a_forged_message_is_short_and_in_one_line() -> None:
    found = reported({"values": {}, "problem": "refused", "message": "one\ntwo " * LONGEST_MESSAGE})
    assert found.message.startswith("one two one two")
    assert len(found.message) <= LONGEST_MESSAGE + 2


@pytest.mark.trials
@pytest.mark.parametrize(
    "answer", [b'{"takes": "another"}', b'{"takes": ["embeddings"]}', b'{"refused": 1}', b"[]", b"{}", b"[" * 200_000]
)
def test_a_forged_answer_while_it_is_imported(
    answer: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Isolated
) -> None:
    (tmp_path / "stealing.py").write_text(ON_IMPORT)
    (tmp_path / "forged").write_bytes(answer)
    with pytest.raises(tp.InputError, match=re.escape(f"stealing:thief cannot be imported: {MEDDLED.message}.")):
        call.convention()
    assert "stealing" not in sys.modules


def test_forged_names_are_shown_without_control_characters(call: Isolated, tmp_path: Path) -> None:
    names = ["\x1b[2J", "\ud800", "\u202e", "a\nb"]
    (tmp_path / "forged").write_text(json.dumps({**WORD, "values": dict.fromkeys(names, 0.5)}))
    report = tp.audit("stealing:thief", takes="embeddings", attacks=["zeros"], isolate=True, items=60)
    shown = str(report)
    assert not any(letter in shown for letter in ("\x1b", "\ud800", "\u202e"))
    shown.encode()
    report.to_json().encode()
