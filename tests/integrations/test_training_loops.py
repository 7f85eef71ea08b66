"""The examples of training loops, which a page shows: each keeps the epoch with the best expected value."""

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import tieproof as tp

torch = pytest.importorskip("torch")

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "training_loop.md"
EXAMPLES = PAGE.parents[1] / "integrations" / "examples"

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not PAGE.exists(), reason="no docs beside the tests"),
]

NEEDED = {
    "lightning_loop": ["lightning"],
    "hugging_face_trainer": ["transformers", "accelerate"],
    "torchmetrics_collection": ["torchmetrics"],
    "loggers": ["mlflow", "tensorboard"],
}


def run(example: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that exist after the example ran in an empty folder."""
    for library in NEEDED.get(example, []):
        pytest.importorskip(library)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{folder / 'mlruns'}")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # others need a database
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, "toy", raising=False)
    return runpy.run_path(str(EXAMPLES / f"{example}.py"))


def expected_of(names: dict[str, Any], state: Any, measure: str) -> float:
    """The expected value of the model with these weights."""
    model = names["Model"]()
    model.load_state_dict(state)
    codes, labels = model.codes(names["pixels"][names["test"]]), names["labels"][names["test"]]
    return tp.evaluate(codes, labels, distance="hamming", measures=[measure])[measure].expected


def test_the_page_shows_the_examples() -> None:
    shown = re.findall(r"^```{literalinclude} (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {(PAGE.parent / name).resolve() for name in shown} == {*EXAMPLES.resolve().glob("*.py")}


def test_plain_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names = run("pytorch_loop", tmp_path, monkeypatch)
    lowers = [float(each) for each in re.findall(r"P@1 \d\.\d{4} ≤ (\d\.\d{4}) ", capsys.readouterr().out)]
    assert len(lowers) == 8
    assert round(names["best"], 4) == max(lowers)
    assert expected_of(names, torch.load("best.pt"), "P@1") == names["best"]


def test_lightning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run("lightning_loop", tmp_path, monkeypatch)
    best = names["best"]
    kept = names["Digits"].load_from_checkpoint(best.best_model_path)
    assert expected_of(names, kept.model.state_dict(), "AP") == pytest.approx(float(best.best_model_score), rel=1e-6)
    assert names["trainer"].callback_metrics["ap_expected"] <= best.best_model_score


def test_hugging_face_trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run("hugging_face_trainer", tmp_path, monkeypatch)
    state = names["trainer"].state
    lowers = [logged["eval_ap_expected"] for logged in state.log_history if "eval_ap_expected" in logged]
    assert len(lowers) == 5
    assert state.best_metric == max(lowers)
    assert expected_of(names, names["trainer"].model.state_dict(), "AP") == state.best_metric


def test_torchmetrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run("torchmetrics_collection", tmp_path, monkeypatch)
    assert {"ap_lower", "ap_expected", "ap_upper", "p_at_1_lower"} <= names["found"].keys()
    assert expected_of(names, torch.load("best.pt"), "AP") == pytest.approx(float(names["best"]), rel=1e-6)


def test_names_of_a_single_metric() -> None:
    collection = pytest.importorskip("torchmetrics").MetricCollection
    from tieproof.compat.torchmetrics import RetrievalMAP

    items = {"preds": torch.tensor([0.5]), "target": torch.tensor([1]), "indexes": torch.tensor([0])}
    for prefix in ("", "ap_"):
        found = collection({"ap": RetrievalMAP(ties="interval")}, prefix=prefix)(**items)
        assert list(found) == [f"{prefix}{name}" for name in ("lower", "expected", "upper", "std")]


def test_loggers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run("loggers", tmp_path, monkeypatch)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with names["mlflow"].start_run(), pytest.raises(names["mlflow"].exceptions.MlflowException, match="P@10"):
        names["mlflow"].log_metrics({"P@10": 0.5})
    lowers = [metric.value for metric in names["history"]]
    assert names["best"].value == max(lowers)
    assert lowers[-1] == names["result"]["AP"].lower
    events = EventAccumulator("tensorboard").Reload()
    assert set(events.Tags()["scalars"]) == names["result"].to_flat_dict().keys()
    assert [event.value for event in events.Scalars("ap_lower")] == pytest.approx(lowers, rel=1e-6)
