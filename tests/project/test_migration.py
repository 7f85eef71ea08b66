"""The pages for users of other libraries: both lines print the same without ties, values inside with ties."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import original_oml
from pages import ROOT, run_and_compare, text_of

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

PAGES = {
    "loops": ("faiss", "torch"),
    "open_metric_learning": ("torch", "oml"),
    "pytorch_metric_learning": ("pytorch_metric_learning", "faiss"),
    "ranx": ("ranx",),
    "torchmetrics": ("torchmetrics",),
    "trec_eval": ("pytrec_eval", "ir_measures"),
}
"""The libraries that each page imports."""

TOLERANCE = 1e-6
"""Some of the libraries compute in float32."""

BY_PROCESSOR = re.compile(r"\d\.\d{4}(?= +\d\.\d{4} ≤)")
"""The value of a library that sorts ties, before the interval: sorting differs between processors."""


def of_page(after: Mapping[str, Any], name: str, names: Mapping[str, Any]) -> Any:
    """The estimate that a page prints next to a library's name of a measure."""
    return after[names.get("measures", {}).get(name, name)]


@pytest.mark.parametrize("page", PAGES)
def test_a_page(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if page == "open_metric_learning":
        original_oml.load()
    for library in PAGES[page]:
        pytest.importorskip(library)
    names: Any = run_and_compare(f"docs/migration/{page}.md", lambda: capsys.readouterr().out, BY_PROCESSOR)

    assert names["before"]
    for name, value in names["before"].items():
        estimate = of_page(names["after"], name, names)
        assert estimate.lower == estimate.upper == pytest.approx(float(value), rel=TOLERANCE), name

    assert names["tied_before"]
    for name, value in names["tied_before"].items():
        estimate = of_page(names["tied_after"], name, names)
        assert estimate.lower < estimate.upper
        assert estimate.lower - TOLERANCE <= value <= estimate.upper + TOLERANCE, name
        if "replaced" in names:  # the same call under the names of tieproof.compat, with ties="upper"
            assert float(names["replaced"][name]) == pytest.approx(estimate.upper, rel=TOLERANCE), name


def test_every_page_stands_in_the_index_and_in_the_contents() -> None:
    assert sorted(PAGES) == sorted(page.stem for page in (ROOT / "docs" / "migration").glob("*.md"))
    for page in PAGES:
        assert f"(migration/{page}.md)" in text_of("docs/migration.md")
