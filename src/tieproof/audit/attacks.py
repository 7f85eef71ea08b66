"""The registry of attacks: what each one does, why it must gain or change nothing, and where it comes from.

Each attack is registered once, in the module that defines it; help texts and documentation are generated from here.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Examination, Options, Rows
from tieproof.audit.report import Finding
from tieproof.errors import InputError

Kind = Literal["blind", "order", "must not matter", "truth"]
PAPER = "Nicolaou et al. 2018"


class Attack(NamedTuple):
    """One way to test an evaluator.

    name : as reports and options spell it
    kind : the question: does a blind system gain, does the order of the data matter, does anything else matter that
        must not, or is the number within the true interval
    does : the input that it passes, or the change that it makes
    why : the reason why this must gain or change nothing
    source : where such an evaluator was reported
    run : computes the findings, at least one for each measure
    applies : whether the attack applies to a convention and options
    rows : the rows that a blind system hands in; None for other attacks
    fixed : whether these rows contain no random numbers
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
"""All attacks by name, in the order of registration."""


def register(attack: Attack) -> Attack:
    """Add an attack to the registry."""
    if attack.name in ATTACKS:
        raise ValueError(f"an attack named '{attack.name}' is registered already")
    ATTACKS[attack.name] = attack
    return attack


def chosen(options: Options, convention: Convention) -> list[Attack]:
    """The attacks that were requested, or all that apply, without those to skip.

    An attack that was requested by name but does not apply is an error.
    """
    for name in [*(options.attacks or ()), *options.skip]:
        if name not in ATTACKS:
            raise InputError(f"Unknown attack '{name}'. Known: {', '.join(ATTACKS)}.")
    for name in options.attacks or ():
        if not ATTACKS[name].applies(convention, options):
            raise InputError(
                f"The attack '{name}' does not apply to an evaluator that takes {convention.takes} with these "
                "options; leave it out."
            )
    applying = [attack for attack in ATTACKS.values() if attack.applies(convention, options)]
    names = [attack.name for attack in applying] if options.attacks is None else dict.fromkeys(options.attacks)
    found = [ATTACKS[name] for name in names if name not in options.skip]
    if not found:
        raise InputError("No attack is left to run: skip names all attacks that were requested or apply. Skip fewer.")
    return found
