"""Predictions saved by `mteb.evaluate` give the same intervals as the scores of the tasks."""

import json
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
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

from mteb_tasks import Encoder, loaded, task_class  # noqa: E402
from tieproof.integrations.mteb import with_intervals, write_qrels  # noqa: E402
from tieproof.integrations.mteb_lists.report import folder_ties  # noqa: E402
from tieproof.integrations.mteb_lists.scores import names_at  # noqa: E402
from tieproof.measures import parse  # noqa: E402

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


def evaluated(task: Any, folder: Path, model: Any = None) -> Mapping[str, Any]:
    """Evaluate a task, with its predictions and results in a folder."""
    result = mteb.evaluate(
        model or Encoder("float16"), task, cache=None, prediction_folder=folder, show_progress_bar=False
    )
    result.task_results[0].to_disk(folder / f"{task.metadata.name}.json")
    (scores,) = result.task_results[0].scores["test"]
    return dict(scores)


@pytest.mark.parametrize(
    "options", [{}, {"ignore_identical_ids": True}, {"skip_first_result": True}, {"k_values": (1, 3, 5)}], ids=str
)
def test_saved_lists_give_the_same_intervals(tmp_path: Path, options: Mapping[str, Any]) -> None:
    options = {"k_values": (1, 3, 10, 100), **options}
    vectors, qrels = data()
    vectors["corpus"] |= {f"again {name}": vector for name, vector in [*vectors["corpus"].items()][:20]}
    task = loaded(task_class("Toy", **options)(), vectors, qrels)
    scores = evaluated(with_intervals(task), tmp_path)
    assert write_qrels(task, tmp_path) == tmp_path / "Toy_qrels.json"
    names = names_at(options["k_values"])
    (found,) = folder_ties(tmp_path, [*map(parse, names.values())]).splits
    assert found.longest == max(options["k_values"])
    assert found.lists_cut_off == (9 if max(options["k_values"]) < 60 else 0)
    for theirs, ours in names.items():
        assert found.printed[ours] == pytest.approx(scores[theirs], abs=1e-6)  # rounded in the file
        estimate = found.estimates[ours]
        assert [getattr(estimate, bound) for bound in BOUNDS] == [scores[f"{theirs}_{bound}"] for bound in BOUNDS]
    assert sum(each.lower < each.upper for each in found.estimates.values()) > 3
    assert (found.lists, found.judged, found.model, found.subset) == (9, 9, "toy/encoder", "default")


def registered(monkeypatch: pytest.MonkeyPatch, load: Any, **attributes: Any) -> Any:
    """Register a task, so that mteb finds it by its name."""
    made = task_class("ToyOfLibrary", load_data=load, **attributes)
    monkeypatch.setitem(sys.modules["mteb.get_tasks"]._TASKS_REGISTRY, "ToyOfLibrary", made)
    return made


def test_judgments_and_conventions_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, qrels = data()
    made = registered(monkeypatch, lambda task, **options: loaded(task, vectors, qrels), ignore_identical_ids=True)
    scores = evaluated(with_intervals(made()), tmp_path)
    (found,) = folder_ties(tmp_path, [parse("AP@10")]).splits
    assert found.estimates["AP@10"].lower == scores["map_at_10_lower"]
    assert (found.longest, found.why) == (1000, "")


def test_a_task_whose_data_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, qrels = data()

    def absent(task: Any, **options: Any) -> None:
        raise ConnectionError("Couldn't reach it\nin several lines")

    evaluated(loaded(registered(monkeypatch, absent)(), vectors, qrels), tmp_path)
    (found,) = folder_ties(tmp_path, [parse("AP@10")]).splits
    assert not found.estimates
    assert found.lists == 9
    assert found.why.endswith("the data of ToyOfLibrary could not be loaded (ConnectionError: Couldn't reach it)")


def test_tasks_that_the_library_lacks_or_that_rank_nothing(tmp_path: Path) -> None:
    content = json.dumps({"default": {"test": {"q": {"d": 1.0}}}})
    for name in ("NoSuchTask", "Banking77Classification"):
        (tmp_path / f"{name}_predictions.json").write_text(content)
    for found in folder_ties(tmp_path, [parse("AP@10")]).splits:
        assert found.why.endswith(f"mteb {mteb.__version__} has no task {found.task} that ranks anything")


def test_the_command_over_a_folder_that_mteb_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two tasks, one of them for reranking, with the result file of one of them."""
    vectors, qrels = data()
    ranked: dict[str, Sequence[str]] = {query: [*vectors["corpus"]][:20] for query in qrels}
    first = loaded(task_class("First")(), vectors, qrels)
    second = loaded(task_class("Second")(), vectors, qrels, ranked)
    scores = evaluated(first, tmp_path)
    evaluated(second, tmp_path)
    (tmp_path / "Second.json").unlink()
    for task in (first, second):
        write_qrels(task, tmp_path)
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        cli.main(["mteb", str(tmp_path), "-m", "nDCG@10"])
    out, err = capsys.readouterr()
    assert (stopped.value.code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if "nDCG@10" in line]
    assert [row[0] for row in rows] == ["First", "Second"]
    assert rows[0][4] == f"{scores['ndcg_at_10']:.4f}"
    assert list(map(len, rows)) == [8, 7]


def test_judgments_are_written_of_a_task_that_was_not_loaded(tmp_path: Path) -> None:
    class Late(AbsTaskRetrieval):  # type: ignore[misc]
        def load_data(self, **options: Any) -> None:
            loaded(self, *data())

    path = write_qrels(task_class("Toy", Late)(), tmp_path)
    content = json.loads(path.read_text())
    assert content["default"]["test"] == data()[1]
    assert content["tieproof_conventions"] == {
        "longest": 1000,
        "ignore_identical_ids": False,
        "skip_first_result": False,
    }


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
        cli.main(["mteb", "predictions/"])
    assert capsys.readouterr().out.startswith(shown[-1])
