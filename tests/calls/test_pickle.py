"""Everything public can be pickled: errors keep their messages, and values keep their bits.

An error that cannot be unpickled leaves a pool of processes waiting forever.
"""

import copy
import inspect
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof import errors
from tieproof.measures import REGISTRY, parse
from tieproof.measures.confidence import confidence_vs_recall_at_1, credible_retrieval, rank_correlation
from tieproof.ties import Ties

TRIPS: dict[str, Callable[[Any], Any]] = {
    "pickle 2": lambda thing: pickle.loads(pickle.dumps(thing, 2)),
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
}


ERRORS = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)}
MADE_OF: dict[str, tuple[str, ...]] = {"MissingExtraError": ("Reading x.h5", "h5")}


def test_the_public_ones_are_among_them() -> None:
    public = {name for name in dir(tp) if inspect.isclass(kind := getattr(tp, name)) and issubclass(kind, Exception)}
    assert public == {
        "ClusterError",
        "InputError",
        "InputWarning",
        "MissingExtraError",
        "TieproofError",
        "UnsafeProductError",
    }
    assert public <= set(ERRORS)


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, trip: str) -> None:
    error = ERRORS[name](*MADE_OF.get(name, ("a message",)))
    error.add_note("while reading")
    again = TRIPS[trip](error)
    assert type(again) is type(error)
    assert str(again) == str(error) != ""
    assert again.args == error.args
    assert vars(again) == vars(error)


def test_a_missing_extra_says_what_it_lacks() -> None:
    error = pickle.loads(pickle.dumps(tp.MissingExtraError("Reading x.h5", "h5")))
    assert str(error) == "Reading x.h5 needs the extra 'h5'. Install it with: pip install 'tieproof[h5]'"
    assert (error.what, error.extra) == ("Reading x.h5", "h5")


RANDOM = np.random.default_rng(0)
DATA, LABELS = RANDOM.integers(-2, 3, size=(60, 3)), np.arange(60) % 3
ALL = ["AP", "AP@5", "Rprec", "nDCG(gain=exp)@10", "RBP(p=0.9)", "R@30"]


def evaluated() -> tp.Result:
    return tp.evaluate(
        DATA,
        LABELS,
        measures=ALL,
        categories=np.where(LABELS > 0, "x", "y"),
        average="macro",
        confidence=np.arange(60),
    )


def collected() -> tp.Evaluator:
    evaluator = tp.Evaluator(measures=["AP"])
    evaluator.update(DATA, LABELS)
    return evaluator


def constant(embeddings: Any, labels: Any) -> float:
    """An evaluator that always returns the same number."""
    return 0.5


VALUES: dict[str, Callable[[], Any]] = {
    "Result": evaluated,
    "Result of a run": lambda: tp.evaluate_run({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, measures=["AP"]),
    "Result of lists": lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 1]], measures=["AP"], n_relevant=[2]),
    "Result of a category": lambda: evaluated().category("x"),
    "Result of rounded distances": lambda: tp.evaluate(DATA, LABELS, measures=["AP"], precision="float16"),
    "Estimate": lambda: evaluated()["AP"],
    "Setting": lambda: evaluated().setting,
    "TieSummary": lambda: evaluated().ties,
    "ErrorRejectCurve": lambda: evaluated().error_reject("AP"),
    "RankCorrelation": lambda: rank_correlation([1, 1, 2], [1, 2, 3]),
    "ConfidenceAccuracy": lambda: confidence_vs_recall_at_1([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1]),
    "CredibleRetrieval": lambda: credible_retrieval(DATA.astype(float), np.ones(60), LABELS),
    "Collisions": lambda: tp.collisions(DATA, LABELS),
    "ErrorRates": lambda: tp.fnmr_at_fmr(DATA, LABELS, fmr=(0.1, 0.5), method="exact"),
    "NeighborRecall": lambda: tp.neighbor_recall([[4, 7]], ([[4, 2, 7]], [[0.1, 0.5, 0.5]]), k=2),
    "RangeRecall": lambda: tp.range_recall(([0, 2], [4, 7]), ([0, 3], [4, 2, 7])),
    "OperatingPoint": lambda: tp.fnmr_at_fmr(DATA, LABELS).points[0],
    "AuditReport": lambda: tp.audit(constant, attacks=["zeros", "duplicates"], items=60),
    "Evaluator": collected,
    "pcf": lambda: tp.pcf(DATA.astype(float)),
    "Ties": lambda: Ties(*(np.array([i]) for i in (0, 2, 1, 3, 2, 3, 9))),
}


def shown(value: Any) -> str:
    """The complete visible state of a value."""
    if isinstance(value, tp.Evaluator):
        return str(shown(value.compute()))
    if hasattr(value, "to_json"):
        more = [column.tolist() for column in value.columns().values()] if hasattr(value, "columns") else []
        return str(value.to_json()) + json.dumps(more, default=str) + str(value)
    return repr(value)


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, trip: str) -> None:
    value = VALUES[name]()
    before = shown(value)
    for again in (TRIPS[trip](value), TRIPS[trip](TRIPS[trip](value))):
        assert type(again) is type(value)
        assert shown(again) == before


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {"pcf"}))  # which is an array
def test_copies_are_equal_or_not_but_never_an_error(name: str) -> None:
    value = VALUES[name]()
    assert value == value
    assert type(copy.deepcopy(value) == value) is bool


def test_an_unpickled_result_has_all_methods() -> None:
    value, again = evaluated(), pickle.loads(pickle.dumps(evaluated()))
    assert again.category("y")["AP"] == value.category("y")["AP"]
    assert again.error_reject("AP").area == value.error_reject("AP").area
    assert again.per_query(ALL[0]).lower.tolist() == value.per_query(ALL[0]).lower.tolist()


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("measure", [parse(name) for name in ALL], ids=str)
def test_measures(measure: Any, trip: str) -> None:
    again = TRIPS[trip](measure)
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)
    assert again.definition is measure.definition


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("name", REGISTRY)
def test_definitions(name: str, trip: str) -> None:
    assert TRIPS[trip](REGISTRY[name]) is REGISTRY[name]


def test_distributions() -> None:
    codes = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(float)
    made = tp.evaluate(codes, np.arange(60) % 4, measures=["AP"]).distribution("AP", resolution=1e-5)
    for trip in TRIPS.values():
        again = trip(made)
        for probability in (1e-6, 0.001, 0.5, 0.999):
            assert again.quantile(probability) == made.quantile(probability)
        assert str(again) == str(made)
