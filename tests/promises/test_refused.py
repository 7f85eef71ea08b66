"""Promise 5: data that cannot be evaluated is refused by name and never scored; suspicious data causes a warning."""

import re
import warnings
from pathlib import Path

import pytest

import tieproof as tp
from refusals import SECTIONS
from refusals.case import Case

CASES = [(name, case) for section in SECTIONS.values() for name, case in section.items()]
REFUSED = [pytest.param(case, id=name) for name, case in CASES if not case.warns]
WARNED = [pytest.param(case, id=name) for name, case in CASES if case.warns]


def test_names_are_unique() -> None:
    names = [name for name, _ in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: Case, tmp_path: Path) -> None:
    with pytest.raises(tp.TieproofError) as caught:
        case.run(tmp_path)
    assert re.search(case.says, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", WARNED)
def test_warned(case: Case, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tp.InputWarning)
        case.run(tmp_path)
    (message,) = [str(warning.message) for warning in caught if issubclass(warning.category, tp.InputWarning)]
    assert re.search(case.says, message), message
    assert "\n" not in message
