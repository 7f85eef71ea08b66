"""`Verdict`: the conclusion from a difference between two systems, by a table of rules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tieproof.ties import Estimate

WHATEVER_THE_TIES = "better whatever the ties"
IN_EXPECTATION = "better in expectation"
TIES_COULD_EXPLAIN = "ties could explain it"
TOO_FEW_QUERIES = "too few queries to tell"
THE_SAME = "the same"


@dataclass(frozen=True)
class Verdict:
    """The conclusion from the difference between two systems.

    name : one of the names in `RULES`
    better : the system that is better; None if the verdict names none
    sentence : the verdict in words, with the systems, the measure and the numbers that it is based on
    """

    name: str
    better: str | None
    sentence: str

    def _repr_pretty_(self, printer: Any, cycle: bool) -> Any:
        """Show the sentence in a notebook."""
        from tieproof.views.printable import printable

        return printer.text(printable(self.sentence))


class Evidence(NamedTuple):
    """The numbers that a verdict on two systems is based on, seen from the system that is ahead in expectation.

    equal : whether both have the same expected value on every query
    p_value : the corrected p-value of the expected differences
    p_lower : the corrected p-value if all ties are broken against the system ahead and in favour of the other
    lower, upper : the smallest and the largest mean difference over all orderings of tied items
    alpha : 1 - confidence
    """

    equal: bool
    p_value: float
    p_lower: float
    lower: float
    upper: float
    alpha: float


class Rule(NamedTuple):
    """One line of the table: the first rule whose condition is true gives the verdict.

    name : the name of the verdict
    condition : the condition in words
    means : what the verdict says about the systems
    holds : the condition as a function
    names_better : whether the verdict says that one system is better
    """

    name: str
    condition: str
    means: str
    holds: Callable[[Evidence], bool]
    names_better: bool


RULES = (
    Rule(
        THE_SAME,
        "Both systems have the same expected value on every query.",
        "This measure cannot tell the systems apart on these queries.",
        lambda found: found.equal,
        names_better=False,
    ),
    Rule(
        WHATEVER_THE_TIES,
        "The difference is significant in expectation, and also if all ties are broken against the system that is "
        "ahead and in favour of the other one.",
        "Neither the order of tied items nor the choice of queries is likely to explain the difference.",
        lambda found: max(found.p_value, found.p_lower) <= found.alpha,
        names_better=True,
    ),
    Rule(
        IN_EXPECTATION,
        "The difference is significant in expectation, but not if all ties are broken against the system that is "
        "ahead and in favour of the other one.",
        "The choice of queries is unlikely to explain the difference if ties are broken at random. A program that "
        "breaks ties in another way may show no difference.",
        lambda found: found.p_value <= found.alpha,
        names_better=True,
    ),
    Rule(
        TIES_COULD_EXPLAIN,
        "The difference is not significant in expectation, and the order of tied items alone can make it zero or "
        "reverse it.",
        "The scores of a program that breaks ties in one order do not show which system is better.",
        lambda found: found.lower <= 0 <= found.upper and found.lower < found.upper,
        names_better=False,
    ),
    Rule(
        TOO_FEW_QUERIES,
        "The difference is not significant in expectation, and no order of tied items makes it zero or reverses it, "
        "or there are no ties.",
        "One system may be better; more queries would show it.",
        lambda found: True,
        names_better=False,
    ),
)
"""The rules, in the order in which they are tried; the last one applies to all remaining cases.

"Significant" means a corrected p-value of at most 1 - confidence. Every rule is applied from the view of the system
that is ahead in expectation, so that it does not matter which of the two systems is named first.
"""


def rule_of(evidence: Evidence) -> Rule:
    """The first rule whose condition is true.

    >>> rule_of(Evidence(False, 0.01, 0.2, -0.1, 0.4, 0.05)).name
    'better in expectation'
    """
    return next(rule for rule in RULES if rule.holds(evidence))


def verdict_on(a: str, b: str, measure: str, mean: Estimate[float], evidence: Evidence) -> Verdict:
    """The verdict on two systems, whose sentence names the system ahead in expectation first, equals by name."""
    rule = rule_of(evidence)
    if mean.expected < 0 or (mean.expected == 0 and a > b):
        a, b = b, a
        mean = Estimate(0.0 - mean.upper, 0.0 - mean.expected, 0.0 - mean.lower, mean.std)
    p_value, p_lower = (as_p_value(p) for p in (evidence.p_value, evidence.p_lower))
    ahead = f"'{a}' is ahead of '{b}' by {mean.expected:.4f} of {measure} in expectation"
    spread = f"from {mean.lower:+.4f} to {mean.upper:+.4f} over the orderings of tied items"
    sentences = {
        THE_SAME: f"'{a}' and '{b}' have the same expected {measure} on every query.",
        WHATEVER_THE_TIES: f"'{a}' is better than '{b}' whatever the ties: by {mean.expected:.4f} of {measure} in "
        f"expectation ({p_value}), and by at least {mean.lower:.4f} in any order of tied items ({p_lower}).",
        IN_EXPECTATION: f"'{a}' is better than '{b}' in expectation: by {mean.expected:.4f} of {measure} "
        f"({p_value}). The difference is {spread}; if all ties go against '{a}', it is not significant ({p_lower}).",
        TIES_COULD_EXPLAIN: f"Ties could explain it: {ahead}, which is not significant ({p_value}); it is {spread}.",
        TOO_FEW_QUERIES: f"Too few queries to tell: {ahead}, which is not significant ({p_value}).",
    }
    return Verdict(rule.name, a if rule.names_better else None, sentences[rule.name])


def as_p_value(p_value: float) -> str:
    """A p-value as text for a sentence.

    >>> as_p_value(0.25), as_p_value(0.00001)
    ('p = 0.2500', 'p < 0.0001')
    """
    return "p < 0.0001" if p_value < 0.0001 else f"p = {p_value:.4f}"
