"""Files that cannot be read, or not without guessing."""

from refusals.case import Case

CASES: dict[str, Case] = {}
