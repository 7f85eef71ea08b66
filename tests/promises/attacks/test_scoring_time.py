"""How long scoring takes tells little of the labels: a platform may show it to participants."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tieproof.trials.competition import scoring
from tieproof.trials.competition.scoring import Scoring, scored


@pytest.mark.parametrize(("items", "pauses"), [(20, []), (140, [0.75])])
def test_scoring_takes_whole_seconds(
    tmp_path: Path, items: int, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock says that the evaluation takes 2.25 seconds; with few data, labels do not matter to its time."""
    ids = [f"{at:03d}" for at in range(items)]
    np.savez(tmp_path / "embeddings.npz", ids=ids, embeddings=np.random.default_rng(0).normal(size=(items, 60)))
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "label"), *((name, at % 3) for at, name in enumerate(ids))])
    clock, slept = iter([10.0, 12.25]), list[float]()
    monkeypatch.setattr(scoring, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=slept.append))
    scored(Scoring("embeddings", ("AP",)), tmp_path / "labels.csv", tmp_path)
    assert slept == pauses
