"""Packed codes of every integer type have the Hamming distances of the bits that were packed."""

from typing import Any

import numpy as np
import pytest

import tieproof as tp

RANDOM = np.random.default_rng(0)
LABELS = np.arange(60) // 4
CENTERS = RANDOM.random((15, 64)) < 0.5
CODES = CENTERS[LABELS] ^ (RANDOM.random((60, 64)) < 0.2)
PACKED = np.packbits(CODES, axis=1)


def score(codes: Any, **options: Any) -> tp.Estimate[Any]:
    return tp.evaluate(codes, LABELS, distance="hamming", measures=["AP"], **options).per_query("AP")


EXPECTED = score(CODES)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", ["i", "u"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_any_integers(kind: str, size: int, order: str) -> None:
    found = score(PACKED.view(f"{order}{kind}{size}"), bits=64)
    assert (found.lower == EXPECTED.lower).all()
    assert (found.upper == EXPECTED.upper).all()


def test_binary_of_sentence_transformers() -> None:
    """Its bytes are the packed bytes minus 128, which flips the highest bit of each: no distance changes."""
    binary = (PACKED - 128).astype(np.int8)
    assert (binary.astype(int) == PACKED.astype(int) - 128).all()
    distances = np.bitwise_count(binary[:, None].view(np.uint8) ^ binary.view(np.uint8)).sum(axis=2)
    assert (distances == (CODES[:, None] != CODES).sum(axis=2)).all()
    assert (score(binary, bits=64).lower == EXPECTED.lower).all()


def test_a_last_byte_that_is_not_full() -> None:
    codes = CODES[:, :61]
    packed = np.packbits(codes, axis=1)
    expected = score(codes)
    for each in (packed, packed.view(np.int8), (packed - 128).view(np.int8)):
        assert (score(each, bits=61).lower == expected.lower).all()


def test_rows_that_are_not_adjacent_in_memory() -> None:
    every_other = np.repeat(PACKED, 2, axis=1)[:, ::2]
    assert (score(every_other, bits=64).lower == EXPECTED.lower).all()
    assert (score(np.asfortranarray(PACKED.view(np.uint32)), bits=64).lower == EXPECTED.lower).all()


def test_no_advice_that_loses_the_codes() -> None:
    for packed in (PACKED, (PACKED - 128).view(np.int8), PACKED.view(np.uint64), PACKED.astype(float)):
        with pytest.raises(tp.InputError, match=r"If they are packed codes, .*x > 0 would lose the codes"):
            score(packed)
    for bits in (CODES.astype(np.uint8), CODES * 2 - 1, CODES.astype(float), RANDOM.normal(size=(60, 8))):
        with pytest.raises(tp.InputError, match=r"Convert them to bools first, for example with x > 0\.$"):
            score(bits)


def test_every_call_takes_them() -> None:
    packed = PACKED.view(np.int64)
    options: dict[str, Any] = {"distance": "hamming", "bits": 64}
    assert tp.collisions(packed, LABELS, **options).to_dict() == tp.collisions(PACKED, LABELS, **options).to_dict()
    assert tp.fnmr_at_fmr(packed, LABELS, **options).to_dict() == tp.fnmr_at_fmr(PACKED, LABELS, **options).to_dict()
    recalls = [
        tp.neighbor_recall([[0, 1]], queries=codes[:1], gallery=codes, k=2, **options).to_dict()
        for codes in (packed, PACKED)
    ]
    assert recalls[0] == recalls[1]
    evaluator = tp.Evaluator(**options, measures=["AP"])
    evaluator.update(packed, LABELS)
    assert (evaluator.compute().per_query("AP").lower == EXPECTED.lower).all()
