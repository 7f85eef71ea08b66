"""Attacks are listed in one order, which is that of the table with their words."""

import pytest

from tieproof.trials import audit, findings
from tieproof.trials.competition import ATTACKS

pytestmark = pytest.mark.trials


def test_attacks_run_kind_by_kind() -> None:
    """Blind systems come first, as in an audit; then damaged samples and files, guesses, and public facts."""
    kinds = ["damage" if attack.kind == "same" else attack.kind for attack in ATTACKS.values()]
    assert list(dict.fromkeys(kinds)) == ["blind", "damage", "guessing", "climbing", "leak"]


def test_the_table_describes_every_attack_and_verdict_once_in_their_order() -> None:
    own = [name for name, attack in ATTACKS.items() if attack.kind != "blind"]
    for part, known in {"audit": audit.ATTACKS, "check": own, "verdicts": findings.Verdict}.items():
        assert [*findings.TABLE[part]] == [*known]
    whys = [told["why"] for by in ("audit", "check") for told in findings.TABLE[by].values()]
    whys += findings.TABLE["causes"].values()
    assert {why for why in whys if whys.count(why) > 1} == findings.TABLE["sentences"].keys()
