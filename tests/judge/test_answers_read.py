"""Every answer of a system becomes numbers or a refusal; no answer stops the judge or fills its memory."""

import random
from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest

from tieproof.trials.judge import answers
from tieproof.trials.judge.answers import Answers, repeats_of
from tieproof.trials.judge.batches import Batch

ITEMS = Batch({"a": 0, "b": 1, "c": 2}, (("a",), ("b",), ("c",)))
PAIRS = Batch({"a": 0, "b": 1, "c": 2}, (("a", "b"), ("b", "c")))
MOST = 4


def read_answers(content: bytes, batch: Batch, most: int) -> Answers:
    return answers.read_answers(BytesIO(content), batch, most)


def npy(shape: str, kind: str = "<f8", body: bytes = bytes(4096)) -> bytes:
    """A NumPy file with any header."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


READ: dict[str, tuple[bytes, list[str]]] = {
    "an array": (npy("(3, 2)"), ["", "", ""]),
    "numbers, one for each": (npy("(3,)"), ["", "", ""]),
    "matrices": (npy("(3, 2, 2)"), ["", "", ""]),
    "no numbers at all": (npy("(3, 0)"), ["wrong shape"] * 3),
    "vectors that are too long": (npy("(3, 5)"), ["wrong shape"] * 3),
    "too few rows": (npy("(2, 2)"), ["crashed"] * 3),
    "less than nothing": (npy("(-3,)"), ["crashed"] * 3),
    "more than there is": (npy("(3, 1000000)"), ["crashed"] * 3),
    "nothing, very often": (npy("(10**12, 0)"), ["crashed"] * 3),
    "no shape": (npy("'x'"), ["crashed"] * 3),
    "a header that Python cannot even split": (npy("(3, 2"), ["crashed"] * 3),
    "complex numbers": (npy("(3, 2)", "<c16"), ["crashed"] * 3),
    "objects": (npy("(3, 2)", "|O"), ["crashed"] * 3),
    "texts": (npy("(3, 2)", "<U3"), ["crashed"] * 3),
    "dates": (npy("(3, 2)", "<M8[s]"), ["crashed"] * 3),
    "lines": (b"b,3\nc,1,2\r\na, 0.5 ,1e3\n\n", ["", "", ""]),
    "none": (b"", ["missing"] * 3),
    "zeros": (bytes(100), ["missing"] * 3),
    "what is no UTF-8": (b"\xff\xfea,1\nb,1\nc,1", ["missing", "", ""]),
    "lines that are not": (b"a\nb,nan\nc,1+2j", ["wrong shape", "not finite", "no numbers"]),
    "a long line": (b"a," + b"1," * 10**6 + b"\nb,1\nb,1\nb,1\nc,,", ["wrong shape", "duplicate", "no numbers"]),
}


@pytest.mark.parametrize("what", READ)
def test_answers_in_every_form_are_read_or_refused(what: str) -> None:
    content, refused = READ[what]
    assert read_answers(content, ITEMS, MOST).refused == refused


def test_answers_for_pairs() -> None:
    found = read_answers(b"b , c,2\na,b,1,1\nb,a,7\na\n", PAIRS, 1)
    assert (found.refused, found.unknown) == (["wrong shape", ""], 2)
    assert found.vectors[1].tolist() == [2.0]
    assert read_answers(npy("(2, 1)"), PAIRS, 1).refused == ["", ""]
    assert read_answers(npy("(2, 2)"), PAIRS, 1).refused == ["wrong shape"] * 2


def check(found: Answers, batch: Batch, most: int) -> None:
    assert len(found.vectors) == len(found.refused) == len(batch.questions)
    for vector, refused in zip(found.vectors, found.refused, strict=True):
        if not refused:
            assert vector.dtype == np.float64
            assert vector.ndim == 1
            assert 0 < len(vector) <= most
            assert np.isfinite(vector).all()


SPOILT: dict[str, Callable[[], bytes]] = {
    "an array": lambda: npy("(3, 2)"),
    "lines": lambda: b"a,1,2\nb,3,4\nc,5,6\n",
}


@pytest.mark.trials
@pytest.mark.parametrize("what", SPOILT)
def test_bytes_at_random_are_read_or_refused(what: str) -> None:
    dice = random.Random(7)
    for _ in range(2000):
        content = bytearray(SPOILT[what]())
        for _ in range(dice.randrange(1, 5)):
            content[dice.randrange(min(len(content), 130))] = dice.randrange(256)
        for batch, most in ((ITEMS, MOST), (PAIRS, 1)):
            check(read_answers(bytes(content), batch, most), batch, most)


def test_answers_that_differ_more_than_any_float_says() -> None:
    """The difference must be finite, because a log is JSON, which has no infinity."""
    found = repeats_of([(np.array([5e-324]), np.array([1e308])), (np.array([1e308]), np.array([-1e308]))])
    assert (found.differ, found.largest) == (2, np.finfo(np.float64).max)
    assert repeats_of([(np.array([1e308, 0.0]), np.array([-1e308, 0.0]))]).largest == 2.0


def test_answers_of_other_lengths_and_from_zero_differ_by_their_whole_length() -> None:
    assert repeats_of([(np.array([3.0, 4.0]), np.array([3.0, 4.0, 0.0]))]).largest == 1.0
    assert repeats_of([(np.zeros(2), np.ones(2))]).largest == 1.0
