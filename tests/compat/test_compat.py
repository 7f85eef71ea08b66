"""Common properties of the interfaces of other libraries: the returned value, missing libraries, and the page."""

import sys
from importlib import import_module

import numpy as np
import pytest

import tieproof as tp
from tieproof.compat import ties


def test_choice_of_a_value() -> None:
    estimate = tp.Estimate(0.25, 0.5, 1.0, 0.125)
    assert [ties.choose(estimate, part) for part in ("lower", "expected", "upper")] == [0.25, 0.5, 1.0]
    assert ties.choose(estimate, "interval", str) == tp.Estimate("0.25", "0.5", "1.0", "0.125")  # type: ignore[type-var]
    for part in ties.TIE_CHOICES:
        ties.check_ties(part)
    with pytest.raises(tp.InputError, match="Known: lower, expected, upper, interval"):
        ties.check_ties("worst")


def test_missing_library_of_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    pml = import_module("tieproof.compat.pml")
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(tp.MissingExtraError, match=r"AMI needs .*pip install 'tieproof\[sklearn\]'"):
        pml.AccuracyCalculator(include=("AMI",)).get_accuracy(np.eye(3), [0, 0, 1])
