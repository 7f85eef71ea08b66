"""Distances under their usual names, and functions, which are reported as functions even if they have such a name."""

from typing import Any, get_args

import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main
from tieproof.distances import DISTANCES, DistanceName
from tieproof.inputs.options import FORMATS, Precision

RANDOM = np.random.default_rng(0)
DATA = RANDOM.integers(-3, 4, size=(30, 4))
LABELS = np.arange(30) % 5
OTHER_NAMES = [(other, name) for name, distance in DISTANCES.items() for other in distance.other_names]


def status(*arguments: str) -> Any:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as done:
        main(arguments)
    return done.value.code


@pytest.mark.parametrize(("name", "ours"), OTHER_NAMES)
def test_usual_names(name: str, ours: str) -> None:
    assert ours in DISTANCES
    assert name not in DISTANCES
    spellings = (name, name.upper(), name.replace("_", "-"), f" {name.replace('_', ' ').title()} ")
    expected = tp.evaluate(DATA, LABELS, distance=ours).to_json()
    for spelling in spellings:
        assert tp.evaluate(DATA, LABELS, distance=spelling).to_json() == expected
    options: dict[str, Any] = {"distance": spellings[2]}
    assert (
        tp.collisions(DATA, LABELS, epsilon=0.5, **options).to_json()
        == tp.collisions(DATA, LABELS, epsilon=0.5, distance=ours).to_json()
    )
    assert tp.fnmr_at_fmr(DATA, LABELS, **options).to_json() == tp.fnmr_at_fmr(DATA, LABELS, distance=ours).to_json()
    assert (
        tp.evaluate(DATA, LABELS, precision="float16", **options).to_json()
        == tp.evaluate(DATA, LABELS, precision="float16", distance=ours).to_json()
    )
    evaluator = tp.Evaluator(**options)
    evaluator.update(DATA, LABELS)
    assert evaluator.compute().to_json() == expected


def test_the_distances_mean_what_their_other_names_say() -> None:
    """By scipy's and NumPy's definitions: the thresholds are distances."""
    x, y = np.array([[0, 0], [3, 4], [30, 0], [0, 50]]), [0, 0, 1, 1]
    others = x[:2, None] - x[None, 2:]
    definitions = {
        "l2": np.linalg.norm(others, axis=2),
        "l2sq": (others**2).sum(axis=2),
        "manhattan": np.abs(others).sum(axis=2),
        "inner product": -(x[:2, None] * x[None, 2:]).sum(axis=2),
    }
    for name, distances in definitions.items():
        rates = tp.fnmr_at_fmr(x, y, distance=name, fmr=0.0, method="exact")
        assert rates.points[0].threshold == distances.min()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("euclidian", "euclidean"), ("cosin", "cosine"), ("manhatten", "cityblock"), ("innerproduct", "dot")],
)
def test_the_nearest_name(name: str, nearest: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(tp.InputError, match=rf"Unknown distance '{name}'\. Nearest: {nearest}\. Known distances: "):
        tp.evaluate(DATA, LABELS, distance=name)
    with pytest.raises(tp.InputError, match=f"Nearest: {nearest}"):
        tp.Evaluator(distance=name)
    assert status("evaluate", "x.npy", "y.npy", "--distance", name) == 2
    assert f"--distance: Unknown distance '{name}'. Nearest: {nearest}." in capsys.readouterr().err


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", DATA)
    np.save(tmp_path / "y.npy", LABELS)
    for command in ("evaluate", "fnmr", "collisions"):
        files = [command, "--explain", str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
        assert status(*files, "-d", "cityblock") == 0
        expected = capsys.readouterr().out
        assert status(*files, "-d", "l1") == 0
        assert capsys.readouterr().out == expected
        assert "cityblock distance" in " ".join(expected.split())


def cosine(x: Any, y: Any) -> Any:
    return np.abs(x[:, None] - y[None]).sum(axis=2)


class Learned:
    def __call__(self, x: Any, y: Any) -> Any:
        return cosine(x, y)


@pytest.mark.parametrize(
    ("function", "name"), [(cosine, "cosine"), (Learned(), "Learned"), (lambda x, y: cosine(x, y), "<lambda>")]
)
def test_a_function_is_reported_as_a_function(function: Any, name: str) -> None:
    said = f"the distance of the function {name}"
    choices: list[dict[str, Any]] = [{}, {"precision": "float16"}]
    for options in choices:
        result = tp.evaluate(DATA, LABELS, distance=function, **options)
        assert result.setting.distance == result.to_dict()["setting"]["distance"] == f"function {name}"
        text = " ".join(result.to_text(explain=True).split())
        assert f"under {said}" in text
        assert "cosine distance" not in text
    found = tp.collisions(DATA, LABELS, distance=function)
    assert found.to_dict()["setting"]["distance"] == f"function {name}"
    assert f"under {said}" in " ".join(found.to_text(explain=True).split())
    rates = tp.fnmr_at_fmr(DATA, LABELS, distance=function)
    assert rates.to_dict()["distance"] == f"function {name}"
    assert f"by {said}." in " ".join(rates.to_text(explain=True).split())


def test_the_names_that_editors_complete_are_those_that_there_are() -> None:
    assert get_args(DistanceName) == tuple(DISTANCES)
    assert get_args(Precision) == tuple(FORMATS)
