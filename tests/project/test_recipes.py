"""The recipes of CONTRIBUTING.md, each followed once: the registered objects are used, and removed again."""

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp
import zoo
from tieproof import cli
from tieproof.cli import commands, options
from tieproof.cli.exits import say
from tieproof.cli.output import Outputs
from tieproof.inputs.readers import FILE_FORMATS, FileFormat, read_embeddings
from tieproof.inputs.readers.columns import Entry, holds
from tieproof.inputs.readers.location import File, reading
from tieproof.measures import libraries
from tieproof.measures.base import REGISTRY, Definition, Estimates, Measure, Parameter, define, parse
from tieproof.show.files import MEANS
from tieproof.ties import Ties
from tieproof.trials.audit import ATTACKS
from tieproof.trials.audit.blind import hand_in_rows
from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.changes import by
from tieproof.trials.audit.examination import Attack
from tieproof.trials.audit.invariances import compare
from tieproof.trials.audit.systems import filled

ROOT = Path(__file__).parents[2]
Array = npt.NDArray[Any]
CommandLine = Callable[..., str]

VECTORS, LABELS = [[0.0], [0.0], [0.0], [5.0], [5.0]], [0, 0, 1, 1, 1]
"""The first two have a relevant and an equally near other item; the third has none; the others have each other."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Run the command line and return its output, standard error first."""

    def call(*args: str, status: int = 0) -> str:
        with pytest.raises(SystemExit) as stopped:
            cli.main(args)
        out, err = capsys.readouterr()
        assert stopped.value.code == status, err
        return err + out

    return call


# A measure


def hit(ties: Ties, measure: Measure) -> Estimates:
    """Whether the nearest item is relevant, times a weight: m of the l items that may be the nearest are."""
    first = ties.k == 0
    query, l, m = ties.query[first], ties.l[first], ties.m[first]
    lower, expected, upper, variance = np.zeros((4, ties.n_queries))
    lower[query], expected[query], upper[query] = m == l, m / l, 1.0
    variance[query] = (m / l) * (1 - m / l)
    weight = float(measure["weight"])
    return Estimates(lower * weight, expected * weight, upper * weight, variance * weight**2)


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Measure]:
    defined = define(
        Definition(
            name="ToyHit",
            compute=hit,
            meaning="whether the nearest item is relevant, times a weight",
            formula="w [m = l] … w m / l … w",
            source="this test",
            parameters=(Parameter("weight", 1.0, "what a hit counts", limits=(0.0, 10.0)),),
        )
    )
    toys = libraries.Vocabulary("toys", "this test", {"ToyHit": "toy_hit_rate"})
    monkeypatch.setattr(libraries, "LIBRARIES", (*libraries.LIBRARIES, toys))
    yield defined
    del REGISTRY["ToyHit"]


def test_a_measure(measure: Measure, tmp_path: Path, run: CommandLine) -> None:
    result = tp.evaluate(VECTORS, LABELS, distance="euclidean", measures=[measure, "toyhit(weight=2)"])
    assert [result["ToyHit"].lower, result["ToyHit"].upper] == [2 / 5, 4 / 5]
    assert result["ToyHit"].expected == pytest.approx(3 / 5, rel=1e-12)
    assert result["ToyHit(weight=2.0)"].upper == 8 / 5
    assert parse("toy_hit_rate") == measure

    assert "ToyHit" in run("measures")
    np.savez(tmp_path / "data.npz", embeddings=VECTORS, labels=LABELS)
    printed = run("evaluate", str(tmp_path / "data.npz"), "-d", "euclidean", "-m", "ToyHit")
    assert re.search(r"ToyHit\W+0\.4\d*\W+0\.6\d*\W+0\.8", printed)


def test_measures_are_taken_out_again() -> None:
    assert "ToyHit" not in REGISTRY


# A distance: the registered ones are not the only ones


def test_a_function_as_distance() -> None:
    def chebyshev(x: Array, y: Array) -> Array:
        return np.asarray(np.abs(x[:, None] - y[None]).max(axis=2))

    vectors = np.random.default_rng(0).integers(-3, 4, size=(30, 4)).astype(np.float64)
    labels = np.arange(30) % 5
    matrix = np.array([[max(abs(a - b) for a, b in zip(x, y, strict=True)) for y in vectors] for x in vectors])
    others = ~np.eye(30, dtype=bool)
    result = tp.evaluate(vectors, labels, distance=chebyshev, measures=["AP", "P@3"])
    expected = tp.evaluate_distances(
        matrix[others].reshape(30, 29), (labels[:, None] == labels)[others].reshape(30, 29), measures=["AP", "P@3"]
    )
    assert dict(result) == dict(expected)
    assert result["AP"].lower < result["AP"].upper


# An export, and a command


def as_lines(result: tp.Result, path: Path) -> None:
    """A line for each measure, with its bounds."""
    path.write_text("".join(f"{name}: {value.lower} to {value.upper}\n" for name, value in result.items()))


def test_an_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: CommandLine) -> None:
    np.savez(tmp_path / "data.npz", embeddings=VECTORS, labels=LABELS)
    command = ("evaluate", str(tmp_path / "data.npz"), "-d", "euclidean", "-m", "P@1", "--json")
    written = tmp_path / "result.toy"
    assert "has the extension '.toy', which cannot be written here" in run(*command, str(written), status=2)
    monkeypatch.setitem(MEANS, ".toy", lambda: as_lines)
    run(*command, str(written))
    assert written.read_text() == "P@1: 0.4 to 0.8\n"


@options.command(
    tp.evaluate, "How many items there are.", ["tieproof items data.npz"], **options.shared("embeddings json")
)
def items(outputs: Outputs, embeddings: str) -> None:
    """Read a file, count, and print the result."""
    say(f"{len(read_embeddings(embeddings))} items, {outputs[0][0]}")


def test_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: CommandLine) -> None:
    toy = ModuleType("tieproof.cli.items")
    vars(toy).update(items=items)
    monkeypatch.setitem(sys.modules, toy.__name__, toy)
    monkeypatch.setitem(commands.COMMANDS, "items", ("Check", "How many items there are"))
    np.save(tmp_path / "vectors.npy", VECTORS)
    assert run("items", str(tmp_path / "vectors.npy"), "--json", "-") == "5 items, -\n"
    assert "How many items there are" in run()
    assert "tieproof items data.npz" in run("items", "--help")
    missing = run("items", str(tmp_path / "no.npy"), status=2)
    assert missing.startswith("Error: ")
    assert missing.count("\n") == 1


# A reader

KIND = "a toy, rows of numbers between semicolons (.toy)"


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """The rows as the only, unnamed entry."""
    with reading(path, KIND), path.open(encoding="utf-8") as file:
        rows = np.array([[float(number) for number in line.split(";")] for line in file.read().splitlines()])
    return [Entry("", rows.shape, holds(rows.dtype, rows.shape), lambda: rows)]


def test_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: CommandLine) -> None:
    vectors, labels, broken = tmp_path / "vectors.toy", tmp_path / "labels.txt", tmp_path / "broken.toy"
    vectors.write_text("".join(f"{x};1\n" for (x,) in VECTORS))
    labels.write_text("".join(f"{label}\n" for label in LABELS))
    broken.write_text("1;2\n1;two\n")
    with pytest.raises(tp.InputError, match=r"extension '\.toy', which is not known"):
        read_embeddings(vectors)

    monkeypatch.setitem(FILE_FORMATS, ".toy", FileFormat(entries))
    assert read_embeddings(vectors).tolist() == [[x, 1.0] for (x,) in VECTORS]
    printed = run("evaluate", str(vectors), str(labels), "-d", "euclidean", "-m", "P@1")
    assert re.search(r"P@1\W+0\.4\d*\W+0\.6\d*\W+0\.8", printed)
    refusal = run("evaluate", str(broken), str(labels), status=2)
    assert refusal.startswith("Error: ")
    assert KIND in refusal
    assert refusal.count("\n") == 1


# An attack


@pytest.fixture
def registered() -> Iterator[None]:
    """Remove all attacks that a test adds when it ends."""
    before = list(ATTACKS)
    yield
    for name in [name for name in ATTACKS if name not in before]:
        del ATTACKS[name]


@pytest.mark.usefixtures("registered")
def test_a_blind_attack(run: CommandLine) -> None:
    ATTACKS["sevens"] = Attack("sevens", "blind", hand_in_rows, "7s", "All are near.", rows=filled(7.0), fixed=True)
    caught = tp.audit(zoo.upper, attacks=["sevens"], items=60)
    assert (caught.finding("sevens").verdict, caught.exploitable) == ("exploitable", True)
    assert tp.audit(zoo.lower, attacks=["sevens"], items=60).held
    assert "exploitable" in run(
        "audit", "tieproof.trials.audit.examples:argsort", "-a", "sevens", "--items", "60", status=3
    )


def of_positive_parts(embeddings: Array, labels: Array) -> float:
    """An evaluator with a defect: numbers below zero count as zero."""
    return zoo.lower(np.maximum(embeddings, 0.0), labels)


@pytest.mark.usefixtures("registered")
def test_an_attack_of_what_must_not_matter() -> None:
    def negate(case: Case, random: np.random.Generator) -> Case:
        return replace(case, items=-case.items, queries=None if case.queries is None else -case.queries)

    run = partial(compare, by(negate, "negated"))
    ATTACKS["negation"] = Attack(
        "negation", "must not matter", run, "the sign of every number", "No distance changes."
    )
    assert tp.audit(of_positive_parts, attacks=["negation"], items=60).finding("negation").verdict == "changes"
    assert tp.audit(zoo.lower, attacks=["negation"], items=60).held


def test_attacks_are_taken_out_again() -> None:
    assert not {"sevens", "negation"} & ATTACKS.keys()


# Files that guides name

GUIDES = [ROOT / "CONTRIBUTING.md", *(ROOT / "src").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
FILE = re.compile(r"(?<![\w/>.*])[\w./-]*\w\.(?:py|md|txt|toml)\b")


def files_missing(text: str, beside: Path) -> list[str]:
    """Files that a text names, but that exist neither next to it nor in the source or the project."""
    folders = (beside, ROOT / "src" / "tieproof", ROOT)
    return [name for name in FILE.findall(text) if not any((folder / name).exists() for folder in folders)]


def test_every_file_that_a_guide_names_is_there() -> None:
    missing = {guide: files_missing(guide.read_text(), guide.parent) for guide in GUIDES}
    assert not any(missing.values()), missing


def test_every_file_that_the_docstring_of_a_module_names_is_there() -> None:
    missing = []
    for source in SOURCES:
        text = ast.get_docstring(ast.parse(source.read_text())) or ""
        named = [name for name in FILE.findall(text) if name.endswith(".py")]
        missing += [f"{source.name}: {name}" for name in files_missing(" ".join(named), source.parent)]
    assert missing == []


def test_every_command_that_contributing_names_is_there() -> None:
    made = (ROOT / "Makefile").read_text() + (ROOT / "release" / "release.mk").read_text()
    targets = re.findall(r"^([a-z-]+):.*## ", made, re.MULTILINE)
    named = re.findall(r"`make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text())
    assert set(named) == set(targets)
