"""The definition of a measure: one record per measure, one registry, one spelling.

A measure is written `Name(parameter=value)@cutoff` in calls, on the command line and in reports; `parse` reads this
spelling and `str` writes it. Each definition is registered once, in its own file (`define`), with everything that
help texts and documentation need. It is called with `Ties` and returns `Estimates`.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias, overload

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import NO_RANK, FloatArray, IntArray, Ties

Value: TypeAlias = str | float
Cutoff: TypeAlias = int | str
"""A rank; "R", the query's number of relevant items; or a share of the items that are ranked, such as "1%"."""

PERCENT = r"(100|[0-9]{1,2}(\.[0-9]{1,3})?)%"


class Estimates(NamedTuple):
    """The values of a measure over all orderings of the tied items: float64 arrays of shape (Q,), one per query.

    lower <= expected <= upper, and all three are the same floats if no tie matters. variance is the variance of the
    query's value when every ordering of its tied items is equally likely; below 1e-300 it is less precise or 0.
    """

    lower: FloatArray
    expected: FloatArray
    upper: FloatArray
    variance: FloatArray

    def divided_by(self, divisor: FloatArray) -> "Estimates":
        """Return the estimates of the values divided by `divisor` (Q,)."""
        lower, expected, upper, variance = self
        return Estimates(lower / divisor, expected / divisor, upper / divisor, variance / (divisor * divisor))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure: one of `choices`, or a number between the two `limits`, which may be `included`."""

    name: str
    default: Value
    meaning: str
    choices: tuple[str, ...] = ()
    limits: tuple[float, float] = (0.0, 1.0)
    included: bool = False

    def check(self, value: object, measure: str) -> Value:
        """Return `value` if it is valid, or refuse it; the message names `measure`."""
        if self.choices:
            if value in self.choices:
                return str(value)
            expected = "one of " + ", ".join(self.choices)
        else:
            low, high = self.limits
            expected = f"a number between {low:g} and {high:g}, both {'in' if self.included else 'ex'}cluded"
            expected = expected if high < float("inf") else f"a number above {low:g}"
            try:
                number = float(str(value))
            except ValueError:
                number = math.nan
            if low < number < high or (self.included and number in self.limits):
                return int(number) if number.is_integer() else number
        raise InputError(
            f"{self.name}={value} in '{measure}': {self.name} must be {expected} (default {self.default})."
        )


REL = Parameter("rel", "all above 0", "the smallest grade that is relevant", limits=(0.0, float("inf")))
"""A parameter of every measure that does not read grades (trec_eval -l; rel of ir_measures).

Where grades are whole numbers, as in these two, rel=1 is the default; a grade of 0.5 is relevant by default alone.
"""


@dataclass(frozen=True)
class Definition:
    """The definition of a measure.

    cutoff: whether `@k` is "required", "optional" or "none"; rank_r: whether `@R` is allowed (R is the query's
    number of relevant items); at_rank_r: if it is not, the measure that equals it; judged_only: whether the measure
    reads `Ties.judged`; unjudged: whether it reads `Ties.unjudged`; graded: whether it reads grades, or no relevance
    at all, and therefore has no parameter `rel`; total: whether the values are counts, which are added up over
    queries where others are averaged; smaller_is_better: whether it falls when a relevant item moves up; falls_with:
    the parameter and its value for which the measure, if it has a cutoff, can fall when a relevant item moves up;
    None: it never falls (engine/README.md). libraries.toml has other names.
    """

    name: str
    compute: "Callable[[Ties, Measure], Estimates]"
    meaning: str
    formula: str
    source: str
    cutoff: Literal["required", "optional", "none"] = "none"
    rank_r: bool = False
    at_rank_r: str = ""
    judged_only: bool = False
    unjudged: bool = False
    graded: bool = False
    total: bool = False
    smaller_is_better: bool = False
    falls_with: tuple[str, str] | None = None
    parameters: tuple[Parameter, ...] = ()

    @property
    def needs_relevant(self) -> bool:
        """Whether a query with nothing relevant has no value of its own, as it has of counts and of judgments."""
        return not (self.total or self.unjudged)

    @property
    def is_score(self) -> bool:
        """Whether the mean over queries is a score, which is better the larger it is."""
        return not (self.total or self.smaller_is_better)

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the measure alone, and `rel` if it has that."""
        return self.parameters if self.graded else (*self.parameters, REL)

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name; an unknown name is refused with the list of parameters."""
        for parameter in self.all_parameters:
            if parameter.name == name:
                return parameter
        known = ", ".join(parameter.name for parameter in self.all_parameters) or "none"
        raise InputError(f"'{self.name}' has no parameter '{name}'; its parameters are: {known}.")

    def __reduce__(self) -> "tuple[Callable[[str], Definition], tuple[str]]":
        """Pickle only the name, because each process has its own registry of definitions."""
        return definition_of, (self.name,)


REGISTRY: dict[str, Definition] = {}  # every definition by its name, in the order of registration

DEFAULT_MEASURES = ("AP", "AP@R", "Rprec", "P@1", "P@10", "R@10", "Success@10", "RR", "nDCG@10")
"""The measures that are evaluated by default."""


def definition_of(name: str) -> Definition:
    """Return the registered definition of that name."""
    return REGISTRY[name]


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters and cutoff; compared and hashed by value.

    >>> from tieproof.measures import AP, nDCG
    >>> nDCG(gain="exp") @ 10
    nDCG(gain=exp)@10
    >>> AP @ 10 == parse("AP@10")
    True
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: Cutoff | None = None

    @property
    def definition(self) -> Definition:
        """The definition of the measure."""
        return REGISTRY[self.name]

    def __getitem__(self, parameter: str) -> Value:
        """Return the value of a parameter."""
        return dict(self.parameters).get(parameter, self.definition.parameter(parameter).default)

    @overload
    def __call__(self, ties: Ties, /) -> Estimates: ...
    @overload
    def __call__(self, /, **parameters: Value) -> "Measure": ...
    def __call__(self, ties: Ties | None = None, /, **parameters: Value) -> "Estimates | Measure":
        """Evaluate the measure on `ties`; or, given parameters, return the measure with these parameters.

        A query without relevant items has 0 in all four arrays, unless the measure needs none; the caller decides how
        it counts.
        """
        if ties is not None:
            return self.definition.compute(*self.at_level(ties))
        merged = dict(self.parameters)
        for name, value in parameters.items():
            merged[name] = self.definition.parameter(name).check(value, str(self))
        chosen = tuple(
            (parameter.name, merged[parameter.name])
            for parameter in self.definition.all_parameters
            if merged.get(parameter.name, parameter.default) != parameter.default
        )
        return Measure(self.name, chosen, self.cutoff)

    def __matmul__(self, cutoff: Cutoff) -> "Measure":
        """Return the measure cut off after rank `cutoff`, or after a share such as "1%" of the items that are ranked.

        "R" stands for the query's number of relevant items. A share is rounded to a whole number, halves to an even
        one, and is at least one item.
        """
        definition = self.definition
        text = f"{self}@{cutoff}"
        if definition.cutoff == "none" or self.cutoff is not None:
            why = "takes no cutoff" if definition.cutoff == "none" else f"already has the cutoff {self.cutoff}"
            raise InputError(f"'{text}': '{self}' {why}; write '{self}'.")
        if definition.rank_r and cutoff == "R":
            return Measure(self.name, self.parameters, "R")
        if not definition.unjudged and re.fullmatch(PERCENT, str(cutoff)) and float(str(cutoff)[:-1]):
            return Measure(self.name, self.parameters, f"{float(str(cutoff)[:-1]):g}%")
        if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
            or_r = " (or R, the query's number of relevant items)" if definition.rank_r else ""
            same = f"; at the query's number of relevant items it is '{definition.at_rank_r}'"
            instead = same if cutoff == "R" and definition.at_rank_r else ""
            share = "" if definition.unjudged else ", or a share of all items such as 1%"
            raise InputError(f"The cutoff of '{text}' must be a whole number of at least 1{or_r}{share}{instead}.")
        if cutoff > 2**53:
            raise InputError(f"The cutoff of '{text}' is larger than any gallery; write a smaller one.")
        return Measure(self.name, self.parameters, int(cutoff))

    @property
    def is_monotone(self) -> bool:
        """Whether the measure never gets worse when a relevant item moves up past an item that is not relevant.

        >>> parse("AP@10").is_monotone, parse("AP(norm=hits)@10").is_monotone
        (True, False)
        """
        falls_with = self.definition.falls_with
        return falls_with is None or self.cutoff is None or self[falls_with[0]] != falls_with[1]

    def complete(self) -> "Measure":
        """Return the measure itself; refuse it if it needs a cutoff and has none."""
        if self.definition.cutoff == "required" and self.cutoff is None:
            raise InputError(f"'{self}' needs a cutoff; write for example '{self}@10'.")
        return self

    def at_level(self, ties: Ties) -> "tuple[Ties, Measure]":
        """Return the ties of the items that are relevant by `rel`, and the measure without that parameter."""
        measure = self.complete()
        rel = self.rel
        return (ties, measure) if rel is None else (ties.at_level(rel), measure.without_rel)

    @property
    def rel(self) -> float | None:
        """The smallest grade that is relevant; None: all grades above 0 are, or the measure reads grades."""
        rel = dict(self.parameters).get(REL.name)
        return None if rel is None else float(rel)

    @property
    def without_rel(self) -> "Measure":
        """The measure without the parameter `rel`."""
        return Measure(self.name, tuple(one for one in self.parameters if one[0] != REL.name), self.cutoff)

    def last_rank(self, ties: Ties) -> IntArray:
        """Return the cutoff of every query, shape (Q,), or a rank beyond every item without a cutoff."""
        if isinstance(self.cutoff, str):
            return ties.n_relevant if self.cutoff == "R" else ties.share(Fraction(self.cutoff[:-1]) / 100)
        return np.full(ties.n_queries, NO_RANK if self.cutoff is None else self.cutoff)

    def __str__(self) -> str:
        parameters = ",".join(f"{name}={value}" for name, value in self.parameters)
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return self.name + (f"({parameters})" if parameters else "") + cutoff

    __repr__ = __str__


def define(definition: Definition) -> Measure:
    """Register `definition` and return its measure, with every parameter at its default and without a cutoff."""
    if definition.name.casefold() in map(str.casefold, REGISTRY):
        raise ValueError(f"a measure named '{definition.name}' is registered already")
    REGISTRY[definition.name] = definition
    return Measure(definition.name)


def parse(text: "str | Measure") -> Measure:
    """Return the measure that `text` spells; `str` of it parses back.

    Letter case does not matter. A name of another library is understood if it means the same in all libraries;
    otherwise the error lists its meanings.

    >>> parse("nDCG(gain=exp)@10"), parse("ndcg_cut_10"), parse("map"), parse("mAP@R")
    (nDCG(gain=exp)@10, nDCG@10, AP, AP@R)
    """
    if isinstance(text, Measure):
        return text.complete()
    if not isinstance(text, str):
        raise InputError(f"a measure is a string such as 'nDCG@10', not {type(text).__name__}: {text!r}.")
    spelling = text.strip()
    names = {name.casefold(): name for name in REGISTRY}
    head, at, cutoff = spelling.partition("@")
    name, values = head.casefold(), ""
    if name not in names and (match := re.fullmatch(r"(.+)\(([^()]*)\)", head)):
        name, values = match[1].strip().casefold(), match[2]
    if name not in names or values or head != names[name] or "." in cutoff:
        from tieproof.measures.libraries import meanings_of, translated  # its table is long and rarely needed

        meanings = meanings_of(spelling)
        if name not in names or (meanings and (values or "." in cutoff)):
            return parse(translated(spelling, REGISTRY, parse))
        if any(meaning.theirs == head and meaning.ours not in ("", names[name]) for meaning in meanings):
            return parse(translated(spelling, REGISTRY, parse, own=names[name]))
    measure = Measure(names[name])
    for item in filter(None, values.split(",")):
        key, equals, value = (part.strip().strip("'\"") for part in item.partition("="))
        if not equals:
            raise InputError(f"'{item}' in '{text}': parameters are written name=value, as in 'nDCG(gain=exp)'.")
        measure = measure(**{key: value})
    if at:
        number = cutoff.strip()
        measure = measure @ (int(number) if re.fullmatch("[0-9]+", number) else number.upper())
    return measure.complete()


def aliases() -> list[tuple[str, str, str]]:
    """Return (library, its spelling, ours) for every name of another library that is understood."""
    from tieproof.measures.libraries import meanings

    return [(library, theirs, ours) for library, theirs, ours, _ in meanings() if ours]
