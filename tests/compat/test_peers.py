"""The tests of other libraries, run with our classes and functions, if TIEPROOF_PEERS names a folder of clones."""

from pathlib import Path

import pytest

from peer_tests import PEERS, run

pytestmark = pytest.mark.heavy

PAGE = Path(__file__).parents[2] / "docs" / "compat.md"

CASES = {
    "torchmetrics": ("-k", "test_auroc and not True"),
    "pytorch-metric-learning": (),
    "open-metric-learning": (),
}
"""Options of pytest for each library: of torchmetrics, the tests of AUROC without those of several processes."""


@pytest.mark.parametrize("name", CASES)
def test_as_many_pass_as_the_page_says(name: str) -> None:
    if not (PEERS / name).is_dir():
        pytest.skip(f"TIEPROOF_PEERS has no {name}")
    found, printed = run(name, *CASES[name])
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name}, "))
    passed, failed = (cell.strip().replace(",", "") for cell in row.split("|")[2:4])
    assert (found.get("passed", 0), found.get("failed", 0)) == (int(passed), int(failed)), printed[-3000:]
