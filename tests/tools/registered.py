"""All measures of the registry, with their definitions in the oracle."""

import itertools
from dataclasses import replace
from fractions import Fraction

import oracle
from tieproof.measures import REGISTRY, Measure, parse

TOLERANCE = 1e-12
UNDERFLOW = Fraction(1, 10**150)
"""The squares of smaller values, and so their variances, are below the smallest normal float."""
CUTOFFS = (1, 2, 3, 5, 8, 50)
OTHER_VALUES = {"p": 0.25, "max_grade": 3, "beta": 2, "recall": 0.5}
"""Values of numeric parameters that are tested in addition to the default."""


def registered_measures() -> list[str]:
    """Every definition with every choice of its parameters, with cutoffs and without."""
    spellings = []
    for definition in REGISTRY.values():
        choices = [
            [f"{p.name}={value}" for value in p.choices or (p.default, OTHER_VALUES[p.name])]
            for p in definition.parameters
        ]
        for chosen in itertools.product(*choices):
            bare = definition.name + (f"({','.join(chosen)})" if chosen else "")
            at = [] if definition.cutoff == "none" else [f"@{k}" for k in CUTOFFS]
            at += ["@R"] if definition.rank_r and "norm=R" in chosen else []
            at += [] if definition.cutoff == "required" else [""]
            spellings += [str(parse(bare + suffix)) for suffix in at]
    return list(dict.fromkeys(spellings))


def oracle_for(measure: Measure) -> oracle.Definition:
    name = str(measure) if measure.cutoff == "R" else str(replace(measure, cutoff=None))
    return oracle.DEFINITIONS[name]


def assert_close(found: float, expected: float | Fraction, what: str) -> None:
    if found == float(expected):  # the nearest float
        return
    distance = abs(Fraction(found) - Fraction(expected))
    assert distance <= Fraction(TOLERANCE) * abs(Fraction(expected)) + UNDERFLOW, (
        f"{what}: {found!r}, not {float(expected)!r}"
    )
