"""Smaller audits, for tests that are not about other sizes of data."""

import pytest


def few_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try 129 items or queries as another size in place of 1,001 and more, which take most of the time."""
    monkeypatch.setattr("tieproof.trials.audit.invariances.SIZES", (257, 129))
    monkeypatch.setattr("tieproof.trials.audit.invariances.MORE_SIZES", ())
