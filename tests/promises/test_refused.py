"""Promise 5: data that cannot be evaluated is refused by name and never scored; suspicious data causes a warning."""

import re
import runpy
import warnings
from pathlib import Path

import pytest

import tieproof as tp
from refusals import SECTIONS
from refusals.case import Case

CASES = [(name, case) for section in SECTIONS.values() for name, case in section.items()]
LARGE = "100,000"  # in the names of cases that take seconds
REFUSED = [
    pytest.param(name, case, id=name, marks=[pytest.mark.long] * (LARGE in name))
    for name, case in CASES
    if not case.warns
]
WARNED = [pytest.param(name, case, id=name) for name, case in CASES if case.warns]

WRITER = Path(__file__).parents[1] / "refusals" / "write_messages.py"
CHANGED = "a message or a case changed; run python tests/refusals/write_messages.py"


class Shown:
    """The messages as they were written down, tests/refusals/messages.md."""

    def __init__(self) -> None:
        self.writer = runpy.run_path(str(WRITER))
        self.lines = WRITER.with_name("messages.md").read_text(encoding="utf-8").splitlines()

    def check(self, name: str, message: str, folder: Path) -> None:
        assert "\n" not in message
        assert self.writer["row"](name, message.replace(f"{folder}/", "")) in self.lines, CHANGED


@pytest.fixture(scope="module")
def page() -> Shown:
    return Shown()


def test_these_cases_are_written_down(page: Shown) -> None:
    expected = page.writer["render"](lambda case: "").splitlines()
    for shown, line in zip(page.lines, expected, strict=True):
        assert shown.startswith(line.removesuffix("  |")), CHANGED


def test_names_are_unique() -> None:
    names = [name for name, _ in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("name", "case"), REFUSED)
def test_refused(name: str, case: Case, tmp_path: Path, page: Shown) -> None:
    with pytest.raises(tp.TieproofError) as caught:
        case.run(tmp_path)
    assert re.search(case.says, str(caught.value)), str(caught.value)
    page.check(name, str(caught.value), tmp_path)


@pytest.mark.parametrize(("name", "case"), WARNED)
def test_warned(name: str, case: Case, tmp_path: Path, page: Shown) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tp.InputWarning)
        case.run(tmp_path)
    (message,) = [str(warning.message) for warning in caught if issubclass(warning.category, tp.InputWarning)]
    assert re.search(case.says, message), message
    page.check(name, message, tmp_path)
