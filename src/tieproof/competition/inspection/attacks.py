"""The registry of the attacks of `check`: what each one hands in, and why it must gain nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from tieproof.competition.inspection.moulds import Mould

Kind = Literal["blind", "leak", "damage", "same", "guessing", "climbing"]
"""What the score of an attack is compared with: random systems (blind, leak), the undamaged sample, whose score it
must not exceed (damage) or must equal (same), or what is shown if a guess is the truth (guessing, climbing)."""


class Secret(NamedTuple):
    """The truth that the platform keeps: the path of its file in the folder of the truth, and its rows of cells."""

    place: Path
    rows: list[list[str]]


class Material(NamedTuple):
    """The material of an attack's submission.

    mould : the form of the sample
    random : a random generator
    public : the files that participants get, by name; empty if the bundle has none
    task : the name of the task
    secret : the truth, if it is in a file that can be changed; only the attacks by guesses use it
    """

    mould: Mould
    random: np.random.Generator
    public: Mapping[str, Path]
    task: str = ""
    secret: Secret | None = None


Handed = Callable[[Path], None]
"""A function that writes a submission into an empty folder."""


class FileAttack(NamedTuple):
    """One kind of submission that must gain nothing.

    name : as reports and options spell it
    does : the submission, in words
    why : the reason why it must gain nothing
    make : makes the submission; None if the form of the sample does not allow it
    fixed : whether it contains no random numbers
    """

    name: str
    kind: Kind
    does: str
    why: str
    make: Callable[[Material], Handed | None]
    fixed: bool = True


ATTACKS: dict[str, FileAttack] = {}
"""All attacks by name, in the order of registration."""


def register(attack: FileAttack) -> FileAttack:
    """Add an attack to the registry."""
    if attack.name in ATTACKS:
        raise ValueError(f"an attack named '{attack.name}' is registered already")
    ATTACKS[attack.name] = attack
    return attack
