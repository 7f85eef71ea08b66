"""The blind systems of `tieproof.audit`, handed in as files."""

from functools import partial
from pathlib import Path

import numpy as np

from tieproof.audit import ATTACKS as AUDITED
from tieproof.audit.examination import Dice, Rows
from tieproof.competition.inspection.attacks import FileAttack, Handed, Material, register
from tieproof.ties import Array


def dice_of(material: Material) -> Dice:
    """The source of a blind system's numbers: vectors, or the scores of a run."""
    return Dice(material.random, "scores" if material.mould.is_run else "leave-one-out")


def cast(rows: Rows, material: Material) -> Handed:
    """A submission of these rows under the ids of the sample."""
    mould = material.mould
    made = rows(dice_of(material), *mould.rows.shape)
    return partial(write, material, made)


def write(material: Material, rows: Array, folder: Path) -> None:
    """Write rows under the ids of the sample."""
    mould = material.mould
    place = folder / mould.place
    place.parent.mkdir(parents=True, exist_ok=True)
    mould.write(place, mould.ids, np.asarray(rows))


def random_system(material: Material) -> Handed:
    """The submission of a random system, with which blind systems are compared."""
    return cast(Dice.plain, material)


for _attack in AUDITED.values():
    if _attack.rows is not None:
        register(
            FileAttack(
                _attack.name,
                "blind",
                _attack.does,
                _attack.why,
                partial(cast, _attack.rows),
                _attack.fixed,
            )
        )
