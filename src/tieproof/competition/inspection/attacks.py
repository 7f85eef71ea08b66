"""The registry of what `check` hands in: what each attack is, and why it must gain nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from tieproof.competition.inspection.moulds import Mould

Kind = Literal["blind", "leak", "damage", "same"]
"""What a score is compared with: that of random systems, once or again and again; or that of the undamaged sample,
which it must not exceed, or must equal."""


class Material(NamedTuple):
    """What a submission is made of.

    mould : the form of the sample
    random : a generator
    public : the files that participants get, by name; empty where the bundle has none
    """

    mould: Mould
    random: np.random.Generator
    public: Mapping[str, Path]


Handed = Callable[[Path], None]
"""Writes a submission into an empty folder."""


class FileAttack(NamedTuple):
    """One way to hand something in.

    name : as reports and options spell it
    does : what is handed in
    why : the reason for which that must gain nothing
    make : the submission; None where there is none in this form
    fixed : whether no random number goes into it
    """

    name: str
    kind: Kind
    does: str
    why: str
    make: Callable[[Material], Handed | None]
    fixed: bool = True


ATTACKS: dict[str, FileAttack] = {}
"""Every attack by its name, in the order of registration."""


def register(attack: FileAttack) -> FileAttack:
    """Add an attack to the registry."""
    if attack.name in ATTACKS:
        raise ValueError(f"an attack named '{attack.name}' is registered already")
    ATTACKS[attack.name] = attack
    return attack
