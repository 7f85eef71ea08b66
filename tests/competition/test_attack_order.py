"""Attacks are listed in one order, whichever of their modules is imported first."""

import subprocess
import sys

import pytest

from tieproof.trials import attacks, audit
from tieproof.trials.competition import ATTACKS

pytestmark = pytest.mark.trials

MODULES = ["attacks", "broken_files", "checking", "guessing", "judging"]


@pytest.mark.parametrize("first", MODULES)
def test_the_order_of_attacks_does_not_depend_on_imports(first: str) -> None:
    code = (
        f"import tieproof.trials.competition.inspection.{first}; "
        "from tieproof.trials.competition import ATTACKS; print([*ATTACKS])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str([*ATTACKS])


def test_attacks_run_kind_by_kind() -> None:
    """Blind systems come first, as in an audit; then damaged samples and files, guesses, and public facts."""
    kinds = [attack.kind for attack in ATTACKS.values()]
    merged = ["damage" if kind == "same" else kind for kind in kinds]
    assert list(dict.fromkeys(merged)) == ["blind", "damage", "guessing", "climbing", "leak"]
    assert next(iter(ATTACKS)) == "zeros"


def test_the_table_describes_every_attack_once_in_their_order() -> None:
    """No attack lacks words, no words lack an attack, and every named sentence is used."""
    own = [name for name, attack in ATTACKS.items() if attack.kind != "blind"]
    assert ([*attacks.TABLE["audit"]], [*attacks.TABLE["check"]]) == ([*audit.ATTACKS], own)
    assert [*attacks.TABLE["verdicts"]] == [*map(str, attacks.Verdict)]
    whys = [told["why"] for by in ("audit", "check") for told in attacks.TABLE[by].values()]
    assert {why for why in whys if whys.count(why) > 1} == attacks.TABLE["sentences"].keys()
