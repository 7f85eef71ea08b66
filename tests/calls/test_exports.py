"""Exports to loggers and data frames: names that every logger accepts, and the numbers of the result."""

import re

import numpy as np
import pandas as pd
import pytest

import tieproof as tp
from tieproof.evaluation.result import flat_name
from tieproof.measures import REGISTRY

EMBEDDINGS = np.random.default_rng(4).integers(0, 3, (20, 3)).astype(float)
LABELS = np.arange(20) % 6
NAMES = np.array(["a", "b|c", "<d>", "e", "f", "g"])[LABELS]

LOGGERS = {
    "MLflow": r"[A-Za-z0-9_\-. :/]+",
    "TensorBoard": r"[A-Za-z0-9_.\-/]+",
    "Weights & Biases": r"[_a-zA-Z][_a-zA-Z0-9]*",
    "what docs promise": r"[a-z][a-z0-9_]*",
}
"""The names that loggers accept: `mlflow.utils.validation`, `torch.utils.tensorboard` and wandb's documentation."""


def spellings() -> list[str]:
    """Every measure, in each form that it can have: with a cutoff, with R, with each value of its parameters."""
    found = []
    for name, definition in REGISTRY.items():
        cutoffs = {"required": ["@10", "@5"], "optional": ["", "@10", "@5"], "none": [""]}[definition.cutoff]
        cutoffs += ["@R"] if definition.rank_r else []
        forms = [""]
        for parameter in definition.parameters:
            values = parameter.choices or (0.25, 0.5, 0.8, 0.95)
            forms += [f"({parameter.name}={value})" for value in values if value != parameter.default]
        found += [f"{name}{form}{cutoff}" for form in forms for cutoff in cutoffs]
    return found


def test_names_fit_every_logger_and_are_all_different() -> None:
    names = {}
    for spelling in spellings():
        try:
            measure = str(tp.measures.parse(spelling))
        except tp.InputError:
            continue
        names[measure] = flat_name(measure)
    assert len(names) > 40
    assert len(set(names.values())) == len(names)
    for name in names.values():
        for pattern in LOGGERS.values():
            assert re.fullmatch(pattern, f"{name}_tie_std")


def test_flat_dict() -> None:
    result = tp.evaluate(EMBEDDINGS, LABELS, measures=["nDCG@10", "AP@R", "RBP(p=0.5)"])
    found = result.to_flat_dict()
    names = [f"{each}_{bound}" for each in ("ndcg_at_10", "ap_at_r", "rbp_p_0_5") for bound in BOUNDS]
    assert list(found) == names
    assert found["ndcg_at_10_lower"] == result["nDCG@10"].lower
    assert found["ap_at_r_tie_std"] == result["AP@R"].std
    assert {type(value) for value in found.values()} == {float}


BOUNDS = ("lower", "expected", "upper", "tie_std")


def test_frame_per_query_is_what_it_was() -> None:
    result = tp.evaluate(EMBEDDINGS, LABELS, categories=NAMES)
    pd.testing.assert_frame_equal(result.to_frame(), result.to_frame(per="query"))
    assert list(result.to_frame()) == ["query", "category", "measure", "lower", "expected", "upper", "std"]


def test_frame_per_measure() -> None:
    result = tp.evaluate(EMBEDDINGS, LABELS, measures=["AP", "P@1"])
    frame = result.to_frame(per="measure")
    assert list(frame) == ["measure", "lower", "expected", "upper", "std"]
    assert frame.set_index("measure").loc["P@1", "upper"] == result["P@1"].upper
    assert frame["lower"].tolist() == [result["AP"].lower, result["P@1"].lower]


def test_frame_per_category() -> None:
    """Compared with the means that pandas computes from the queries."""
    result = tp.evaluate(EMBEDDINGS, LABELS, measures=["AP", "P@1"], categories=NAMES)
    frame = result.to_frame(per="category").set_index(["measure", "category"])
    assert len(frame) == 2 * len(set(NAMES.tolist()))
    groups = result.to_frame().groupby(["measure", "category"])[["lower", "expected", "upper"]]
    expected, counts = groups.mean(), groups.size()
    for key, row in expected.iterrows():
        assert frame.loc[key, ["lower", "expected", "upper"]].astype(float).to_numpy() == pytest.approx(
            row.to_numpy(), rel=1e-12
        )
        assert frame.loc[key, "queries"] == counts[key]


def test_frames_that_can_not_be_made() -> None:
    result = tp.evaluate(EMBEDDINGS, LABELS)
    with pytest.raises(tp.InputError, match="This result has no categories"):
        result.to_frame(per="category")
    with pytest.raises(tp.InputError, match=r"Unknown per='class'\. Known: query, measure, category"):
        result.to_frame(per="class")  # type: ignore[arg-type]
