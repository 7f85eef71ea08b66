"""Predictions and judgments of MTEB are runs and qrels like others, split by split, without the library."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.cli import main

MODEL = {"model_name": "toy/one two", "revision": "r1"}
KEPT = {"ignore_identical_ids": False, "skip_first_result": False}
NAMES = ["nDCG@3", "RR@3", "AP@3", "R@3", "P@1", "Success@1"]


def lists(queries: int = 20, documents: int = 9) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run with many ties, in which three documents have the ids of queries; and grades from -1 to 2."""
    random = np.random.default_rng(0)
    run, qrels = {}, {}
    for query in range(queries):
        names = [f"q{place}" if place < 3 else f"d{place}" for place in range(documents)]
        run[f"q{query}"] = dict(zip(names, (random.integers(0, 6, documents) / 4).tolist(), strict=True))
        judged = random.choice([*names, "gone"], 5, replace=False).tolist()
        qrels[f"q{query}"] = dict(zip(judged, random.integers(-1, 3, 5).tolist(), strict=True))
    return run, qrels


def write(folder: Path, kind: str, content: Any) -> str:
    path = folder / f"Toy_{kind}.json"
    path.write_text(json.dumps(content))
    return str(path)


def scores(*given: Any, **options: Any) -> str:
    return json.dumps(tp.evaluate_run(*given, measures=NAMES, **options).to_dict() | {"said": []}, sort_keys=True)


def test_a_file_of_one_split(tmp_path: Path) -> None:
    run, qrels = lists()
    predictions = write(tmp_path, "predictions", {"mteb_model_meta": MODEL, "default": {"test": run}})
    judged = write(tmp_path, "qrels", {"tieproof_conventions": KEPT, "default": {"test": qrels}})
    assert scores(judged, predictions) == scores(qrels, run)
    assert str(tp.agreement(predictions, run)) == str(tp.agreement(run, run))


def test_a_split_is_named_behind_a_colon(tmp_path: Path) -> None:
    run, qrels = lists()
    other = {query: dict.fromkeys(each, 0.5) for query, each in run.items()}
    path = write(tmp_path, "predictions", {"eng": {"dev": other, "test": run}, "fra": {"test": other}})
    assert scores(qrels, f"{path}:eng/test") == scores(qrels, run) != scores(qrels, f"{path}:fra/test")
    for wanted in ("", ":deu/test"):
        with pytest.raises(
            tp.InputError, match=r"Toy_predictions\.json.* eng/dev, eng/test, fra/test\. Name a split"
        ):
            scores(qrels, path + wanted)


def test_a_task_that_leaves_out_documents_with_the_id_of_the_query(tmp_path: Path) -> None:
    run, qrels = lists()
    rules = {"ignore_identical_ids": True, "skip_first_result": False}
    judged = write(tmp_path, "qrels", {"tieproof_conventions": rules, "default": {"test": qrels}})
    trec = tmp_path / "run.txt"
    trec.write_text(
        "".join(f"{query} Q0 {name} 1 {each} tag\n" for query in run for name, each in run[query].items())
    )
    without = {query: {name: each for name, each in run[query].items() if name != query} for query in run}
    for given in (run, str(trec), write(tmp_path, "predictions", {"default": {"test": run}})):
        assert scores(judged, given) == scores(qrels, without)
        # A list that was cut off is one shorter without the document.
        assert (
            json.loads(scores(judged, given, truncated=9))["measures"]
            == (json.loads(scores(qrels, without, truncated=8))["measures"])
        )
    result = tp.evaluate_run(judged, run, measures=NAMES)
    printed, expected = (
        each.as_printed("trec_eval", qrels=q, run=r)
        for each, q, r in ((result, judged, run), (tp.evaluate_run(qrels, without, measures=NAMES), qrels, without))
    )
    assert dict(printed) == dict(expected)


class Task:
    """What a task of MTEB has, after it loaded its data."""

    data_loaded = False
    ignore_identical_ids = skip_first_result = False

    def load_data(self) -> None:
        self.dataset = {"default": {"test": {"relevant_docs": lists()[1]}}}

    def convert_v1_dataset_format_to_v2(self, processes: None) -> None:
        pass


def test_judgments_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("mteb")
    asked = []

    def get_task(name: str, **which: Any) -> Any:
        asked.append(which)
        if name == "Offline":
            return SimpleNamespace(**KEPT, data_loaded=False, load_data=lambda: open("/no/such\nfile"))
        return {"Toy": Task()}[name]

    library.get_task, library.__version__ = get_task, "2.0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mteb", library)
    run, qrels = lists()
    assert scores("mteb:Toy", run) == scores("mteb:Toy:default/test", run) == scores(qrels, run)
    assert asked == [{"eval_splits": None, "hf_subsets": None}, {"eval_splits": ["test"], "hf_subsets": ["default"]}]
    with pytest.raises(tp.InputError, match=r"mteb 2\.0 has no task Nothing that ranks anything\."):
        scores("mteb:Nothing", run)
    with pytest.raises(
        tp.InputError, match=r"The data of the task Offline could not be loaded \(FileNotFoundError: "
    ):
        scores("mteb:Offline", run)
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(tp.MissingExtraError, match=r"mteb:Toy needs .*pip install 'tieproof\[mteb\]'"):
        scores("mteb:Toy", run)


def test_lists_from_a_length_on_were_cut_off() -> None:
    """Of each query alone, the bounds are those of a list that was cut off, or that is complete."""
    run, qrels = lists()
    run = {query: dict.fromkeys(each, 0.5) for query, each in run.items()}
    for query in ("q1", "q2", "q3"):
        run[query].popitem()
    found = tp.evaluate_run(qrels, run, measures=NAMES, truncated=9)
    whole, cut = (tp.evaluate_run(qrels, run, measures=NAMES, truncated=each) for each in (False, True))
    is_cut = np.array([len(run[query]) >= 9 for query in found.query_ids])
    assert 0 < is_cut.sum() < len(is_cut)
    for name in NAMES:
        for bound in ("lower", "expected", "upper"):
            each = (getattr(result.per_query(name), bound) for result in (found, cut, whole))
            mixed, of_cut, of_whole = each
            assert (mixed == np.where(is_cut, of_cut, of_whole)).all()
    assert found.to_dict()["measures"] != whole.to_dict()["measures"] != cut.to_dict()["measures"]


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    run, qrels = lists()
    write(tmp_path, "predictions", {"mteb_model_meta": MODEL, "eng": {"test": run}, "fra": {"test": run}})
    write(tmp_path, "qrels", {"tieproof_conventions": KEPT, "eng": {"test": qrels}})

    def said(*words: str) -> Any:
        with pytest.raises(SystemExit) as done:
            main([*words, "-m", "R@3", "--json", "-"])
        captured = capsys.readouterr()
        assert done.value.code in (None, 0), captured.err
        return json.loads(captured.out)

    files = ("Toy_qrels.json", "Toy_predictions.json:eng/test")
    expected = tp.evaluate_run(qrels, run, measures=["R@3"], truncated=9)
    assert said("run", *files, "--longest", "9")["measures"] == expected.to_dict()["measures"]
    compared = said("compare", "--qrels", files[0], "ours=" + files[1], "Toy_predictions.json:fra/test")
    assert "ours" in str(compared)
    before = Path("Toy_predictions.json").read_bytes()
    with pytest.raises(SystemExit):
        main(["run", *files, "--json", "Toy_predictions.json"])
    assert "is read in this evaluation" in capsys.readouterr().err
    assert Path("Toy_predictions.json").read_bytes() == before
