"""Predictions saved by `mteb.evaluate` give the same intervals as the scores of the tasks."""

import json
import re
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tieproof import cli
from tieproof.errors import InputError

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("mteb")

import mteb  # noqa: E402
from mteb.abstasks import AbsTaskRetrieval  # noqa: E402

import tieproof as tp  # noqa: E402
from mteb_tasks import Encoder, loaded, task_class  # noqa: E402
from tieproof.integrations.mteb import NAMES, SavedPredictions, with_intervals, write_qrels  # noqa: E402

BOUNDS = ("lower", "expected", "upper")


def data(documents: int = 40) -> tuple[dict[str, Any], dict[str, dict[str, int]]]:
    random = np.random.default_rng(3)
    ids = [f"q{number}" if number < 3 else f"d{number}" for number in range(documents)]
    vectors = random.normal(size=(documents + 9, 3)).astype(np.float16).astype(float).tolist()
    qrels = {
        f"q{query}": dict(zip(random.choice(ids, 6, replace=False).tolist(), [2, 1, 1, 1, 0, 0], strict=True))
        for query in range(9)
    }
    queries = {query: vectors[documents + place] for place, query in enumerate(qrels)}
    return {"queries": queries, "corpus": dict(zip(ids, vectors, strict=False))}, qrels


def evaluated(task: Any, folder: Path | None = None, model: Any = None) -> Mapping[str, Any]:
    """Evaluate a task, with its predictions in a folder."""
    result = mteb.evaluate(
        model or Encoder("float16"), task, cache=None, prediction_folder=folder, show_progress_bar=False
    )
    (scores,) = result.task_results[0].scores["test"]
    return dict(scores)


@pytest.mark.parametrize(
    "options", [{}, {"ignore_identical_ids": True}, {"skip_first_result": True}, {"k_values": (1, 3, 5)}], ids=str
)
def test_saved_lists_give_the_same_scores(tmp_path: Path, options: Mapping[str, Any]) -> None:
    options = {"k_values": (1, 3, 10, 100), **options}
    vectors, qrels = data()
    vectors["corpus"] |= {f"again {name}": vector for name, vector in [*vectors["corpus"].items()][:20]}
    task = with_intervals(loaded(task_class("Toy", **options)(), vectors, qrels))
    scores = evaluated(task, tmp_path)
    assert sum(scores[f"{name}_at_3_lower"] < scores[f"{name}_at_3_upper"] for name in NAMES) >= 3
    model = SavedPredictions(tmp_path)
    assert model.mteb_model_meta.name == "toy/encoder"
    assert evaluated(task, model=model) == scores
    assert write_qrels(task, tmp_path) == tmp_path / "Toy_qrels.json"
    longest = max(options["k_values"])
    given = tmp_path / "Toy_qrels.json", tmp_path / "Toy_predictions.json"
    if options.get("skip_first_result"):
        with pytest.raises(InputError, match=r"leaves out the first document .* mteb\.evaluate\(SavedPredictions"):
            tp.evaluate_run(*given)
        return
    truncated = longest if longest < 60 else False
    found = tp.evaluate_run(*given, measures=[f"{ours}@3" for ours in NAMES.values()], truncated=truncated)
    for theirs, ours in NAMES.items():
        for bound in BOUNDS:
            assert getattr(found[f"{ours}@3"], bound) == scores[f"{theirs}_at_3_{bound}"]


def test_a_folder_without_predictions(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no file that ends in _predictions\.json\. Pass prediction_folder="):
        SavedPredictions(tmp_path)


def registered(monkeypatch: pytest.MonkeyPatch, load: Any, **attributes: Any) -> Any:
    """Register a task, so that mteb finds it by its name."""
    made = task_class("ToyOfLibrary", load_data=load, **attributes)
    monkeypatch.setitem(sys.modules["mteb.get_tasks"]._TASKS_REGISTRY, "ToyOfLibrary", made)
    return made


def test_judgments_and_conventions_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, qrels = data()
    made = registered(monkeypatch, lambda task, **options: loaded(task, vectors, qrels), ignore_identical_ids=True)
    scores = evaluated(with_intervals(made()), tmp_path)
    found = tp.evaluate_run("mteb:ToyOfLibrary", tmp_path / "ToyOfLibrary_predictions.json", measures=["AP@10"])
    assert found["AP@10"].lower == scores["map_at_10_lower"]


def test_a_task_whose_data_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(task: Any, **options: Any) -> None:
        raise ConnectionError("Couldn't reach it\nin several lines")

    registered(monkeypatch, absent)
    with pytest.raises(
        InputError, match=r"ToyOfLibrary could not be loaded \(ConnectionError: Couldn't reach it\)\."
    ):
        tp.evaluate_run("mteb:ToyOfLibrary", {"q": {"d": 1.0}})


@pytest.mark.parametrize("name", ["NoSuchTask", "Banking77Classification"])
def test_tasks_that_the_library_lacks_or_that_rank_nothing(name: str) -> None:
    with pytest.raises(InputError, match=f"mteb {mteb.__version__} has no task {name} that ranks anything"):
        tp.evaluate_run(f"mteb:{name}", {"q": {"d": 1.0}})


def test_judgments_are_written_of_a_task_that_was_not_loaded(tmp_path: Path) -> None:
    class Late(AbsTaskRetrieval):  # type: ignore[misc]
        def load_data(self, **options: Any) -> None:
            loaded(self, *data())

    path = write_qrels(task_class("Toy", Late)(), tmp_path)
    content = json.loads(path.read_text())
    assert content["default"]["test"] == data()[1]
    assert content["tieproof_conventions"] == {"ignore_identical_ids": False, "skip_first_result": False}


def test_judgments_are_not_written(tmp_path: Path) -> None:
    task = loaded(task_class("Toy")(), *data())
    with pytest.raises(InputError, match="there is no folder"):
        write_qrels(task, tmp_path / "none")
    with pytest.raises(InputError, match=r"task must be a task of retrieval or reranking of MTEB, not a str"):
        write_qrels("SciFact", tmp_path)
    assert not [*tmp_path.iterdir()]


def test_the_page_of_the_docs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The blocks of the page run, and print the text below them."""
    page = Path(__file__).parents[2] / "docs" / "integrations" / "mteb.md"
    if not page.exists():
        pytest.skip("no docs beside the tests")
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in re.findall(r"^ *```python\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE):
        exec(textwrap.dedent(code), names)
    shown = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    assert capsys.readouterr().out == "".join(shown[:-1])
    with pytest.raises(SystemExit):
        cli.main(re.findall(r"^    tieproof (.*)$", text, flags=re.MULTILINE)[0].split())
    assert capsys.readouterr().out.startswith(shown[-1])
