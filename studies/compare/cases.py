"""The pairs of systems that are compared: which is better, how each query differs, and what other programs print."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

import tieproof as tp
from studies.common import progress
from studies.compare import peers
from studies.compare.systems import MEASURE, Array, Data, Differences, codes, noisy, values
from tieproof.ties import Estimate, FloatArray

SAME_RUN = "the same run, its lines in two orders"
TWO_PROGRAMS = "the same codes, ranked by two programs"

NOISE, MORE_NOISE = 0.5, 0.6
BITS, FEWER_BITS = 64, 48

Values = Estimate[FloatArray]


class Systems(NamedTuple):
    """The score of each query in each system."""

    floats: tuple[Values, Values]
    noisier: Values
    codes: tuple[Values, Values]
    shorter: Values


def evaluate(data: Data) -> Systems:
    """All systems."""
    progress("systems of known quality")
    one, other = (noisy(data, NOISE, seed) for seed in (1, 2))
    return Systems(
        floats=(values(one, data), values(other, data)),
        noisier=values(noisy(data, MORE_NOISE, 1), data),
        codes=(values(codes(one, BITS), data), values(codes(other, BITS), data)),
        shorter=values(codes(one, FEWER_BITS), data),
    )


class Case(NamedTuple):
    """Two systems: which is better, and how each query differs.

    truth : in words
    differences : of the better system minus the other
    equal : whether neither is better, so that their names are exchanged query by query
    printed : the differences of the scores that other programs print
    """

    truth: str
    differences: Differences
    equal: bool
    printed: Mapping[str, FloatArray]


def cases(data: Data, systems: Systems) -> list[Case]:
    """All pairs of systems that are compared."""
    one, other = (noisy(data, NOISE, seed) for seed in (1, 2))
    qrels = peers.judgments(data)
    runs = {
        "one": peers.as_run(codes(one, BITS), data),
        "other": peers.as_run(codes(other, BITS), data),
        "shorter": peers.as_run(codes(one, FEWER_BITS), data),
        "backwards": peers.as_run(codes(one, BITS), data, backwards=True),
    }
    scores = {}
    for program, evaluate_run in peers.PROGRAMS.items():
        progress(f"what {program} prints")
        scores[program] = {name: evaluate_run(run, qrels) for name, run in runs.items()}

    def printed(a: str, b: str) -> dict[str, FloatArray]:
        return {program: found[a] - found[b] for program, found in scores.items()}

    first, second = systems.floats
    coded, recoded = systems.codes
    without = Differences.of(first, second)
    worse = Differences.of(first, systems.noisier)
    return [
        Case("equal, no ties", without, True, dict.fromkeys(scores, without.expected)),
        Case("equal, with ties", Differences.of(coded, recoded), True, printed("one", "other")),
        Case(
            "the same run, its lines in two orders", Differences.of(coded, coded), False, printed("one", "backwards")
        ),
        Case("better, no ties", worse, False, dict.fromkeys(scores, worse.expected)),
        Case("better, with ties", Differences.of(coded, systems.shorter), False, printed("one", "shorter")),
        Case(
            "embeddings and their codes",
            Differences.of(first, coded),
            False,
            {program: first.expected - found["one"] for program, found in scores.items()},
        ),
        Case(
            TWO_PROGRAMS,
            Differences.of(coded, coded),
            False,
            dict.fromkeys(scores, in_two_orders(codes(one, BITS), data)),
        ),
    ]


def in_two_orders(bits: Array, data: Data) -> FloatArray:
    """The scores with ties in the order of the file, minus those with ties in the reversed order.

    The distractors come last in the file, as where they are appended to a collection.
    """
    distances, items = (bits[:, None] != bits).sum(axis=2), np.arange(len(bits))
    one, other = (
        tp.evaluate_distances(len(bits) * distances + order, labels=data.labels, measures=[MEASURE])
        for order in (items, -items)
    )
    return one.per_query(MEASURE).lower - other.per_query(MEASURE).lower
