"""Lines of code that reproduce a finding: each works in a new process, or is left out."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
import zoo
import zoo_guilty
from tieproof.trials.audit import Command

pytestmark = pytest.mark.trials


def printed_by(line: str, folder: Path) -> str:
    """The output of a line in a new process in a folder, where only the package can be found."""
    environment = {**os.environ, "PYTHONPATH": str(Path(tp.__file__).parents[1])}
    words = [sys.executable, "-c", line]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("name", "attack", "options"),
    [
        ("stable_sort", "zeros", {"seed": 2}),
        ("stable_sort", "isolated pairs", {}),
        ("stable_sort", "order search", {"items": 100}),
        ("returns_text", "zeros", {}),
        ("by_batch", "settings", {"vary": {"batch_size": [50, 200]}}),
        ("drops_the_nearest", "duplicates", {"measure": tp.AP, "limits": None}),
        ("nan_passes_through", "nan", {}),
    ],
)
def test_every_line_shows_its_finding_in_a_new_process(
    name: str, attack: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Whatever else was attacked before."""
    report = tp.audit(getattr(zoo, name), attacks=["zeros", "two vectors", attack], **{"items": 60, **options})
    found = report.finding(attack)
    assert not found.verdict.harmless
    expected = found.detail if found.score is None else repr(found.score)
    assert printed_by(found.reproduce, tmp_path) == expected


def test_the_line_of_a_command(tmp_path: Path) -> None:
    script = tmp_path / "first.py"
    script.write_text(
        "import sys\n"
        "relevant = {tuple(line.split()[::2]): line.split()[3] for line in open(sys.argv[1])}\n"
        "best = {}\n"
        "for query, _, document, _, score, _ in map(str.split, open(sys.argv[2])):\n"
        "    best.setdefault(query, (float(score), document))\n"
        "print(sum(relevant[query, found[1]] == '1' for query, found in best.items()) / len(best))\n"
    )
    report = tp.audit(
        Command(f"{sys.executable} -IS {script} {{qrels}} {{run}}"), attacks=["permuting items"], items=50, queries=40
    )
    found = report.finding("permuting items")
    assert found.verdict == "depends on order"
    assert printed_by(found.reproduce, tmp_path) == repr(found.score)


def test_a_module_beside_is_found_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_the_audit.py").write_text("def constant(embeddings, labels):\n    return 0.5\n")
    monkeypatch.chdir(tmp_path)
    found = tp.audit("beside_the_audit:constant", attacks=["zeros"], items=60).finding("random embeddings")
    assert found.reproduce.startswith("import tieproof as tp; print(tp.audit('beside_the_audit:constant', ")
    assert printed_by(found.reproduce, tmp_path) == "0.5"


def local() -> Callable[..., float]:
    def mine(embeddings: Any, labels: Any) -> float:
        return zoo.upper(embeddings, labels)

    return mine


@pytest.mark.parametrize(
    ("evaluator", "attack", "options"),
    [
        (local(), "zeros", {}),
        (zoo.breaks_ties_by_chance, "calling again", {}),
        (zoo_guilty.first_score_of_labels, "zeros after a good system", {}),
        (zoo.by_sorting, "settings", {"vary": {"sort": [np.sort, zoo.unsorted]}}),
    ],
)
def test_findings_that_no_line_reproduces_have_none(
    evaluator: Callable[..., float], attack: str, options: dict[str, Any]
) -> None:
    """A function without a name, functions whose numbers change or are remembered, options without a literal form."""
    report = tp.audit(evaluator, attacks=[attack], items=60, **options)
    assert not report.held
    assert {finding.reproduce for finding in report.findings} == {""}
    assert "tp.audit(" not in str(report)
    assert "To see each again" not in report.to_markdown()
