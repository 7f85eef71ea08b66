"""Reports to other libraries: every block of code prints the stated output, with only that library installed."""

import contextlib
import importlib.util
import io
import random
import re
import warnings
from pathlib import Path

import pytest

from studies.can_we_hack_map import study
from studies.can_we_hack_map.evaluators.placeholders import placeholders

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

FOLDER = Path(study.__file__).with_name("reports")
REPORTS = sorted(FOLDER.glob("*.md"))
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTIONS = ("**Why.**", "**Expected.**", "**A suggestion.**")

MODULES = {
    "deep_hashing": "numpy",
    "faiss": "faiss",
    "ir_measures": "ir_measures",
    "mteb": "mteb",
    "open_metric_learning": "oml",
    "pytorch_metric_learning_not_finite": "pytorch_metric_learning",
    "pytorch_metric_learning_ties": "pytorch_metric_learning",
    "pytrec_eval": "pytrec_eval",
    "ranx": "ranx",
    "scikit_learn": "sklearn",
    "scikit_learn_ndcg": "sklearn",
    "sentence_transformers": "sentence_transformers",
    "tie_aware_retrieval_metrics": "trm",
    "torchmetrics": "torchmetrics",
}
"""The library that each report is for."""


def blocks(text: str) -> list[tuple[str, str]]:
    """Code and what it prints, each pair in order."""
    found = BLOCK.findall(text)
    assert [kind for kind, _ in found] == ["python", "text"] * (len(found) // 2)
    return [(code, printed) for (_, code), (_, printed) in zip(found[::2], found[1::2], strict=True)]


def test_every_report_is_tried() -> None:
    assert [path.stem for path in REPORTS] == sorted(MODULES)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_reports_are_short_and_whole(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "Thank you" in text
    assert sorted(SECTIONS, key=text.index) == list(SECTIONS)
    assert "tieproof" not in text
    (first, printed), (mend, _) = blocks(text)
    assert len([line for line in first.splitlines() if line]) <= 13
    assert len([line for line in mend.splitlines() if line]) <= 10
    assert printed.strip()


@pytest.mark.heavy
@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_code_prints_what_the_report_says(path: Path) -> None:
    if importlib.util.find_spec(MODULES[path.stem]) is None:
        pytest.skip(f"{MODULES[path.stem]} is not installed")
    namespace: dict[str, object] = {"__name__": "report"}
    random.seed(0)
    loaded = placeholders() if MODULES[path.stem] == "oml" else contextlib.nullcontext()
    with loaded, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code, printed in blocks(path.read_text(encoding="utf-8")):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(compile(code, str(path), "exec"), namespace)
            assert said.getvalue() == printed
