"""The tests of other libraries, run with ours under their names, if TIEPROOF_PEERS names a folder of clones."""

import sys
from pathlib import Path

import pytest

from peer_tests import KNOWN, PEERS

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
try:
    from write_peers import PAGE, row, rows
finally:
    sys.path.remove(str(DOCS))

pytestmark = pytest.mark.heavy


def test_the_page_has_a_row_of_each() -> None:
    assert set(rows(PAGE.read_text(encoding="utf-8"))) == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_as_many_pass_as_the_page_says(name: str) -> None:
    if not (PEERS / name).is_dir():
        pytest.skip(f"TIEPROOF_PEERS names no folder with a clone of {name}")
    assert row(name) == rows(PAGE.read_text(encoding="utf-8"))[name]
