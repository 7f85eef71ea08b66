"""If a library is missing, the error of its integration names what to install."""

import sys
from importlib import import_module

import pytest

import tieproof as tp


@pytest.mark.parametrize(("name", "extra"), [("sklearn", "sklearn")])
def test_missing_library(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"tieproof.integrations.{name}", raising=False)
    with pytest.raises(tp.MissingExtraError, match=rf"integrations.{name} .*pip install 'tieproof\[{extra}\]'"):
        import_module(f"tieproof.integrations.{name}")
