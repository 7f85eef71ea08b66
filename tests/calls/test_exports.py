"""Exports to loggers and data frames: names that every logger accepts, and the numbers of the result."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

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


def test_categories_beyond_2_63_stay_whole_numbers_in_frames() -> None:
    names = [1, 2**63 + 1] * 15
    frame = tp.evaluate(EMBEDDINGS, LABELS, measures=["AP"], categories=names[: len(LABELS)]).to_frame("category")
    assert frame["category"].tolist() == [1, 2**63 + 1]


def test_long_doubles_are_numbers() -> None:
    half: Any = np.longdouble(0.5)
    graded = {"q": {"a": 1, "b": 0.25}}
    assert tp.evaluate_run(graded, RUN, level=half).to_json() == tp.evaluate_run(graded, RUN, level=0.5).to_json()
    assert tp.rbo([[1, 2]], [[2, 1]], p=half) == tp.rbo([[1, 2]], [[2, 1]], p=0.5)
    with pytest.raises(tp.InputError, match="k must be a whole number of at least 1"):
        tp.nearest(EMBEDDINGS, k=np.datetime64(1, "ns"))  # type: ignore[arg-type]


def test_frames_that_can_not_be_made() -> None:
    result = tp.evaluate(EMBEDDINGS, LABELS)
    with pytest.raises(tp.InputError, match="This result has no categories"):
        result.to_frame(per="category")
    with pytest.raises(tp.InputError, match=r"Unknown per='class'\. Known: query, measure, category"):
        result.to_frame(per="class")  # type: ignore[arg-type]


CODES, QRELS, RUN = np.arange(20, dtype=np.uint8)[:, None] % 8 * 32, {"q": {"a": 1}}, {"q": {"b": 1.0, "a": 0.5}}

TAKING: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "bits": (3, lambda bits: tp.evaluate(CODES, LABELS, distance="hamming", bits=bits)),
    "bits of collisions": (3, lambda bits: tp.collisions(CODES, LABELS, distance="hamming", bits=bits)),
    "items and seed": (60, lambda n: tp.audit(lambda x, y: 0.5, attacks=["zeros"], items=n, queries=n, seed=n)),
    "truncated at": (2, lambda truncated: tp.evaluate_run(QRELS, RUN, truncated=truncated, n_items=9)),
    "truncated": (True, lambda truncated: tp.evaluate_run(QRELS, RUN, truncated=truncated, n_items=9)),
}
"""Arguments that results and records hold, and the results that they give."""

TWO: Any = np.int64(2)
THREE: Any = np.int64(3)


@pytest.mark.parametrize("name", TAKING)
def test_numbers_of_numpy_are_written_as_those_of_python(name: str, tmp_path: Path) -> None:
    number, made = TAKING[name]
    plain, given = made(number), made(np.array(number)[()])
    assert given.to_json() == plain.to_json()
    if isinstance(plain, tp.Result):
        for place, result in {"plain": plain, "given": given}.items():
            result.save(tmp_path / f"{place}.tieproof")
        assert (tmp_path / "given.tieproof").read_bytes() == (tmp_path / "plain.tieproof").read_bytes()


def test_a_truth_of_codes_whose_bits_are_a_number_of_numpy(tmp_path: Path) -> None:
    made = tp.truth(CODES[:3], CODES, k=2, distance="hamming", bits=THREE, out=tmp_path / "truth")
    assert json.loads(made.to_json())["bits"] == 3
    assert tp.verify_truth(tmp_path / "truth", CODES[:3], CODES)


def test_a_threshold_of_numpy() -> None:
    found = tp.det_curve([1, 2, 2, 3], [2, 3, 4]).at(TWO)
    assert json.loads(json.dumps(asdict(found)))["threshold"] == 2
