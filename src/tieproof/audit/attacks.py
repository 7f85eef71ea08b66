"""The registry of attacks: what each does, why it must gain or change nothing, and where it comes from.

An attack registers once, where it stands; help texts and documentation are written from here.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Examination, Options
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
    """

    name: str
    kind: Kind
    does: str
    why: str
    source: str
    run: Callable[[Examination], Iterator[Finding]]
    applies: Callable[[Convention, Options], bool] = lambda convention, options: True


ATTACKS: dict[str, Attack] = {}
"""Every attack by its name, in the order of registration."""


def register(attack: Attack) -> Attack:
    """Add an attack to the registry."""
    if attack.name in ATTACKS:
        raise ValueError(f"an attack named '{attack.name}' is registered already")
    ATTACKS[attack.name] = attack
    return attack


def chosen(options: Options, convention: Convention) -> list[Attack]:
    """The attacks that were asked for, or all that apply, without those to skip.

    One that does not apply is refused where it was asked for by its name.
    """
    for name in [*(options.attacks or ()), *options.skip]:
        if name not in ATTACKS:
            raise InputError(f"Unknown attack '{name}'. Known: {', '.join(ATTACKS)}.")
    for name in options.attacks or ():
        if not ATTACKS[name].applies(convention, options):
            raise InputError(
                f"The attack '{name}' does not apply to an evaluator of {convention.takes} with these options."
            )
    applying = [attack for attack in ATTACKS.values() if attack.applies(convention, options)]
    names = [attack.name for attack in applying] if options.attacks is None else dict.fromkeys(options.attacks)
    found = [ATTACKS[name] for name in names if name not in options.skip]
    if not found:
        raise InputError("No attack is left: all that were asked for are skipped.")
    return found
