"""How long a call may take: the first one longer, and one that takes too long is asked a second time."""

from collections.abc import Callable, Mapping
from typing import Any

from tieproof.audit.cases import Case
from tieproof.audit.examination import Call
from tieproof.audit.outcomes import Outcome

WARM_UP = 10
"""How many times the limit the first call of a process may take: it may compile, or load a model."""

AGAIN = 3
"""How many times the limit a call may take that took too long."""

IN_VAIN = 2
"""After so many calls that took too long twice, one that takes too long is not asked again."""


def patient(call: Callable[[Case, Mapping[str, Any], float], Outcome], seconds: float) -> Call:
    """Calls with a limit of so many seconds, and again with a longer one where that is over.

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
