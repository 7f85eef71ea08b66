"""The registry of attacks: what each does, why it must gain or change nothing, and where it comes from.

An attack registers once, where it stands; help texts and documentation are written from here.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Examination, Options, Rows
from tieproof.audit.verdicts import Finding
from tieproof.errors import InputError

Kind = Literal["blind", "order", "must not matter", "truth"]
PAPER = "Nicolaou et al. 2018"


class Attack(NamedTuple):
    """One way to put an evaluator to the test.

    name : as reports and options spell it
    kind : what is asked: whether blind systems gain, whether order gains, what must not matter, or the truth
    does : what it feeds, or what it changes
    why : the reason for which that must gain, or change, nothing
    source : where it was seen
    run : its findings, for each measure at least one
    applies : to which conventions and options
    rows : what a blind system hands in; None of other attacks
    fixed : whether no random number goes into these rows
    """

    name: str
    kind: Kind
    does: str
    why: str
    source: str
    run: Callable[[Examination], Iterator[Finding]]
    applies: Callable[[Convention, Options], bool] = lambda convention, options: True
    rows: Rows | None = None
    fixed: bool = False


ATTACKS: dict[str, Attack] = {}
"""Every attack by its name, in the order of registration."""


def register(attack: Attack) -> Attack:
    """Add an attack to the registry."""
    if attack.name in ATTACKS:
        raise ValueError(f"an attack named '{attack.name}' is registered already")
    ATTACKS[attack.name] = attack
    return attack


def chosen(names: Sequence[str] | None, convention: Convention, options: Options) -> list[Attack]:
    """The attacks of these names, or all; those that do not apply are left out, unless they are asked for."""
    if names is None:
        return [attack for attack in ATTACKS.values() if attack.applies(convention, options)]
    for name in names:
        if name not in ATTACKS:
            raise InputError(f"Unknown attack '{name}'. Known: {', '.join(ATTACKS)}.")
        if not ATTACKS[name].applies(convention, options):
            raise InputError(
                f"The attack '{name}' does not apply to an evaluator of {convention.takes} with these options."
            )
    return [ATTACKS[name] for name in dict.fromkeys(names)]
