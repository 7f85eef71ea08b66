"""How often intervals, verdicts and families of tests are right on samples of queries."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from studies.common import progress
from studies.compare import peers
from studies.compare.cases import BITS, Case, Systems
from studies.compare.systems import Differences, samples
from tieproof.analyses.compare.compare import DifferenceColumns, p_values_of, settled, sides
from tieproof.analyses.compare.verdicts import RULES, Evidence, Sample, rule_of, smallest_p_value
from tieproof.measures.statistics.resampling import Strata, bca
from tieproof.measures.statistics.tests import CORRECTIONS, sign_flip, t_interval, tukey

CONFIDENCE = 0.95


class Size(NamedTuple):
    """The size of the simulation.

    items : as many, half of them distractors
    samples : of queries, for each size in `queries` and `few`
    dealt : samples for the tests of several systems
    few : sizes for which only intervals are computed
    """

    items: int
    samples: int
    dealt: int
    queries: tuple[int, ...] = (50, 200)
    few: tuple[int, ...] = (10, 25)


def coverage_rows(systems: Systems, size: Size) -> Iterator[list[str]]:
    """How often the interval of a sample contains the mean of the population."""
    for name, found in (("embeddings", systems.floats[0]), (f"{BITS}-bit codes", systems.codes[0])):
        mean = float(found.lower.mean())
        for count in (*size.few, *size.queries):
            progress(f"intervals of {name}, {count} queries")
            drawn = found.lower[samples(len(found.lower), count, size.samples, count)]
            strata = Strata(np.array([count]))
            ends = {
                "BCa": np.array(bca(drawn, strata, CONFIDENCE)),
                "t": np.array([t_interval(column, strata, CONFIDENCE) for column in drawn.T]),
            }
            row = [name, f"{count}"]
            for each in ends.values():
                inside = (each[:, 0] <= mean) & (mean <= each[:, 1])
                row += [percent(inside), f"{(each[:, 1] - each[:, 0]).mean():.4f}"]
            yield row


def percent(which: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> str:
    """The share of true values, in percent.

    >>> percent(np.array([True, False, False, False]))
    '25.0 %'
    """
    return f"{100 * np.mean(which):.1f} %"


def verdicts(differences: Differences) -> list[str]:
    """The verdict on each sample, (n, k) -> k, by the sign-flip test of a single pair."""
    expected = settled(differences.expected)
    strata = Strata(np.array([len(expected)]))
    ahead = sides(expected, strata)
    against = settled(np.where(ahead > 0, differences.lower, -differences.upper))
    columns = DifferenceColumns(
        keys=[("a", "b", "")] * len(ahead),
        ahead=ahead,
        expected=np.where(ahead < 0, -expected, expected),
        against=against,
        systems=["a", "b"],
        values=np.zeros((1, 0, 2)),
        strata=strata,
        queries=np.arange(len(expected)),
    )
    p_values, _ = p_values_of(columns, "sign-flip", None)
    lower, upper = differences.lower.mean(axis=0), differences.upper.mean(axis=0)
    differing = np.count_nonzero(expected, axis=0)
    return [
        rule_of(
            Evidence(
                equal=not expected[:, at].any(),
                p_value=float(p_values[0, at]),
                p_lower=float(p_values[1, at]),
                lower=float(lower[at]),
                upper=float(upper[at]),
                alpha=1 - CONFIDENCE,
                ahead=bool(ahead[at]),
                smallest=smallest_p_value(Sample("sign-flip", 2, len(expected), int(differing[at]), varies=True)),
            )
        ).name
        for at in range(len(ahead))
    ]


NAMES = [rule.name for rule in RULES]
BETTER = [name for name in NAMES if name.startswith("better")]


def verdict_rows(given: list[Case], size: Size) -> Iterator[list[str]]:
    """How often each verdict is given on the samples of each case, and how often other programs find a difference."""
    for case in given:
        for count in size.queries:
            progress(f"verdicts: {case.truth}, {count} queries")
            places = samples(len(case.differences.expected), count, size.samples, count)
            drawn = case.differences.at(places)
            printed = {program: found[places] for program, found in case.printed.items()}
            if case.equal:
                drawn = drawn.exchanged(count)
                kept = np.random.default_rng(count).random(places.shape) < 0.5
                printed = {program: np.where(kept, found, -found) for program, found in printed.items()}
            found = np.array(verdicts(drawn))
            backwards = np.isin(found, BETTER) & (sides(drawn.expected, Strata(np.array([count]))) < 0)
            yield [
                case.truth,
                f"{count}",
                *(percent(found == name) for name in NAMES),
                "" if case.equal else percent(backwards),
                *(percent(peers.p_values(each) <= 1 - CONFIDENCE) for each in printed.values()),
            ]


def family_rows(systems: Systems, size: Size) -> Iterator[list[str]]:
    """How often any of ten pairs of five equal systems is called different."""
    several = np.stack([each.expected for each in (*systems.floats, systems.noisier, *systems.codes)], axis=1)
    pairs = np.array([(a, b) for a in range(5) for b in range(a + 1, 5)])
    for count in size.queries:
        progress(f"ten pairs of equal systems, {count} queries")
        places = samples(len(several), count, size.dealt, count)
        dealt = np.random.default_rng(count).permuted(several[places.T], axis=2)  # (k, n, 5)
        gaps = dealt[:, :, pairs[:, 0]] - dealt[:, :, pairs[:, 1]]
        sums = gaps.sum(axis=1)
        signed = np.where(sums[:, None] < 0, -gaps, gaps)
        alone = sign_flip(np.moveaxis(signed, 1, 0).reshape(count, -1)).reshape(sums.shape)
        of_each = {"none": alone}
        of_each |= {name: np.array([correct(row) for row in alone]) for name, correct in CORRECTIONS.items()}
        of_each["Tukey"] = tukey(dealt, pairs, np.abs(sums)[..., None]).among_all[..., 0]
        yield [f"{count}", *(percent(each.min(axis=1) <= 1 - CONFIDENCE) for each in of_each.values())]


FAMILY = ("no correction", "Holm", "Bonferroni", "Benjamini and Hochberg", "Tukey")
