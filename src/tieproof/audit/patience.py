"""Time limits of calls: the first call may take longer, and a call that takes too long is repeated once."""

from collections.abc import Callable, Mapping
from typing import Any

from tieproof.audit.cases import Case
from tieproof.audit.examination import Call
from tieproof.audit.outcomes import Outcome

WARM_UP = 10
"""The factor of the limit for the first call, which may compile code or load a model."""

AGAIN = 3
"""The factor of the limit for repeating a call that took too long."""

IN_VAIN = 2
"""After this many calls that took too long even when repeated, calls are no longer repeated."""


def patient(call: Callable[[Case, Mapping[str, Any], float], Outcome], seconds: float) -> Call:
    """A function that calls with a limit in seconds, and once more with a longer limit if the call takes too long.

    >>> limits = []
    >>> def slow(case, settings, limit):
    ...     limits.append(limit)
    ...     return Outcome({}, "timed out")
    >>> ask = patient(slow, 30.0)
    >>> answers = [ask(None, {}) for _ in range(4)]
    >>> limits
    [300.0, 90.0, 30.0, 90.0, 30.0, 30.0]
    """
    calls = in_vain = 0

    def ask(case: Case, settings: Mapping[str, Any]) -> Outcome:
        nonlocal calls, in_vain
        calls += 1
        outcome = call(case, settings, seconds * (WARM_UP if calls == 1 else 1))
        if outcome.problem == "timed out" and in_vain < IN_VAIN:
            outcome = call(case, settings, seconds * AGAIN)
            in_vain += outcome.problem == "timed out"
        return outcome

    return ask
