"""Smaller audits, for tests that are not about other sizes of data."""

import pytest


def few_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try 129 items or queries as another size in place of 1,601, which take most of the time of an audit."""
    monkeypatch.setattr("tieproof.trials.audit.invariances.SIZES", ((257, 60), (129, 60), (100, 257), (100, 129)))
