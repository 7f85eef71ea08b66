"""What looks right and is not: it is evaluated, with a warning."""

import numpy as np

import tieproof as tp
from refusals.case import Case

SIMILARITIES = np.array([[1.0, 0.9, 0.1, 0.0], [0.9, 1.0, 0.2, 0.1], [0.1, 0.2, 1.0, 0.7], [0.0, 0.1, 0.7, 1.0]])

CASES: dict[str, Case] = {
    "similarities as distances": Case(
        lambda: tp.evaluate_distances(SIMILARITIES, labels=[0, 0, 1, 1]),
        r"farthest from itself.*they are probably similarities\. Pass similarities to evaluate_scores",
        warns=True,
    ),
    "distances as scores": Case(
        lambda: tp.evaluate_scores(1 - SIMILARITIES, labels=[0, 0, 1, 1]),
        r"farthest from itself.*they are probably distances\. Pass distances to evaluate_distances",
        warns=True,
    ),
    "a run for the qrels": Case(
        lambda: tp.evaluate_run({"q": {"a": 0.5}}, {"q": {"a": 1, "b": 0}}),
        r"fractional grades, such as 0\.5.*Pass the qrels first, then the run",
        warns=True,
    ),
}
