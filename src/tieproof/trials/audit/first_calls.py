"""What ends an audit before it begins: an evaluator gives no number for its first data, or an impossible one."""

import math
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.trials.audit.conventions import Convention
from tieproof.trials.audit.outcomes import RETURNED, Outcome

LATE = "Pass fewer items (--items) or a longer time_limit (--time-limit)."
EXTRACT = "Pass a function that extracts the number, such as lambda *given: evaluator(*given)[0]."
OTHERS = (
    "If it expects other arguments, pass takes (--takes), or a function that calls it as it expects, such as the one "
    "below."
)

WRAPPER = """\
# audited.py, for tieproof audit audited:evaluator --takes "{takes}"
from {module} import {function}

def evaluator({names}):
    answer = {function}({names})  # change this line to what it expects
    return float(answer)  # or a dict of numbers by their names"""
"""What the notes of the error show, to be copied and changed."""


def no_answer(outcome: Outcome, what: str, case: Any, convention: Convention, title: str) -> InputError:
    """The error if the evaluator gives no number for what it must be able to score; its note is a wrapper to copy."""
    by_program = "{qrels}" in title
    if outcome.message.startswith(RETURNED) or outcome.problem in ("timed out", "too much output"):
        advice = EXTRACT if outcome.message.startswith(RETURNED) else LATE
        return InputError(f"The evaluator cannot be audited: for {what} {outcome.message}. {advice}")
    verb = "refuses" if outcome.problem == "refused" else "fails on"
    given = zip(convention.names, convention.arguments(case), strict=True)
    got = ", ".join(f"{name} {_kind_of(argument)}" for name, argument in given)
    got = convention.takes if convention.files else f"({got}), {convention.takes.partition('), ')[2]}".rstrip(", ")
    advice = "Run it on two such files to see more." if by_program else OTHERS
    error = InputError(
        f"The evaluator {verb} {what} ({outcome.message.rstrip('.')}). It was called with {got}. {advice}"
    )
    if not by_program:
        module, _, function = title.rpartition(":")
        named = {"module": module or "my_package", "function": function if function.isidentifier() else "score"}
        error.add_note(WRAPPER.format(takes=convention.name, names=", ".join(convention.names), **named))
    return error


def _kind_of(argument: Any) -> str:
    """The type and the shape of an argument, in words.

    >>> _kind_of(np.zeros((2, 3))), _kind_of({"q": {}}), _kind_of((np.zeros(2), np.arange(2)))
    ('float64 (2, 3)', 'dict of 1', '(float64 (2,), int64 (2,))')
    """
    if isinstance(argument, np.ndarray):
        return f"{argument.dtype} {argument.shape}"
    if isinstance(argument, tuple):
        return f"({', '.join(map(_kind_of, argument))})"
    return f"{type(argument).__name__} of {len(argument)}"


def check_limits(value: float, name: str, what: str, limits: tuple[float, float], slack: float, advice: str) -> None:
    """Raise InputError if what any evaluator must be able to score has a number outside the limits, but for NaN."""
    if math.isnan(value) or limits[0] - slack <= value <= limits[1] + slack:
        return
    raise InputError(
        f"The evaluator gives {value:.6g} ({name}) for {what}, outside the limits {limits[0]:g} and {limits[1]:g}. "
        f"{advice}",
        "limits",
    )
