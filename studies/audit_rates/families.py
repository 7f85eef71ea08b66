"""What is simulated: a family of evaluators is honest or guilty, and makes one for each seed.

An evaluator has a name, by which any process finds it: `studies.audit_rates.families:NAME__STRENGTH__SEED`.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

Evaluator = Callable[..., Any]
Kind = Literal["honest", "gains", "guilty", "changes"]


class Family(NamedTuple):
    """Evaluators that are alike but for their seed.

    name : in tables and in the names of evaluators
    kind : honest; or guilty, if a blind system gains; or one that gains by its definition, with nothing wrong about
        ties; or one whose number changes where nothing has changed
    does : what such an evaluator does, in words
    takes : how it is called, as `tieproof.audit` has it
    make : from a strength and a seed to an evaluator
    strengths : of what it does wrong, from strong to weak; in percent, or as `does` says
    whole : whether all attacks are made, on as many items and queries as usual
    thorough : whether the audit is a thorough one, which also sees gains of half a standard deviation
    """

    name: str
    kind: Kind
    does: str
    takes: str
    make: Callable[[int, int], Evaluator]
    strengths: Sequence[int] = (100,)
    whole: bool = False
    thorough: bool = False

    @property
    def convictions(self) -> set[str]:
        """The verdicts that convict such an evaluator."""
        if self.kind == "changes":
            return {"changes", "depends on order", "writes into its input", "misjudges a good system"}
        small = {"gains a little"} if self.thorough and self.kind == "guilty" else set()
        return {"exploitable"} | small


FAMILIES: dict[str, Family] = {}
"""Every family by its name, in the order of registration."""


def register(family: Family) -> None:
    """Add a family."""
    if family.name in FAMILIES:
        raise ValueError(f"a family named '{family.name}' is registered already")
    FAMILIES[family.name] = family


def name_of(family: Family, strength: int, seed: int) -> str:
    """The name by which any process finds an evaluator."""
    return f"{__name__}:{family.name.replace(' ', '_')}__{strength}__{seed}"


@cache
def evaluator(name: str) -> Evaluator:
    """The evaluator of a name, without what is before the colon; there is one in each process."""
    from studies.audit_rates import blind_spots, guilty, honest, recalls, shapes  # noqa: F401 (each registers its families)

    family, strength, seed = name.split("__")
    return FAMILIES[family.replace("_", " ")].make(int(strength), int(seed))


def __getattr__(name: str) -> Evaluator:
    """Evaluators, as attributes of this module."""
    if name.count("__") != 2 or name.startswith("__"):
        raise AttributeError(name)
    try:
        return evaluator(name)
    except (KeyError, ValueError) as error:
        raise AttributeError(name) from error
