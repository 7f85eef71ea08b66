"""If a library is missing, the error of its drop-in or plug-in names what to install."""

import sys
from importlib import import_module

import pytest

import tieproof as tp

DOORS = {
    "compat.oml": ("torch", "torch"),
    "compat.torchmetrics": ("torchmetrics", "torchmetrics"),
    "integrations.sentence_transformers": ("sentence_transformers", "sentence-transformers"),
    "integrations.sklearn": ("sklearn", "sklearn"),
}


@pytest.mark.parametrize("door", DOORS)
def test_missing_library(door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library, extra = DOORS[door]
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"tieproof.{door}", raising=False)
    with pytest.raises(tp.MissingExtraError, match=rf"tieproof.{door} .*pip install 'tieproof\[{extra}\]'"):
        import_module(f"tieproof.{door}")
