"""What looks right and is not: it is evaluated, with a warning."""

from refusals.case import Case

CASES: dict[str, Case] = {}
