"""The ties of rankings by rounded distances, some queries at a time."""

from tieproof.distances.gauge import Gauge
from tieproof.engine.dense import ties_of_scores
from tieproof.engine.rounded.distances import RoundedDistances
from tieproof.engine.stripes import stripe_by_stripe
from tieproof.inputs.formats import Format
from tieproof.problem import Problem, Watch
from tieproof.ties import IntArray, Parts, Ties

BYTES_PER_ITEM, BYTES_PER_RELEVANT = 96, 320
"""What a ranked item, and a relevant one besides, take at most while the ties of a query are found."""


def rounded_ties(problem: Problem, wanted: Format, gauge: Gauge, watch: Watch) -> Parts:
    """Indices of queries and the ties of their rankings."""
    distances = RoundedDistances(gauge, wanted)

    def ties_of(queries: IntArray, rows: IntArray) -> tuple[IntArray, Ties]:
        block = distances.block(slice(int(rows[0]), int(rows[-1]) + 1))
        nearness = -block[(rows - rows[0])[:, None], gauge.identity[1]]
        del block
        found = ties_of_scores(nearness, problem.relevance.block(queries))
        advance(nearness.size)
        return queries, found

    with watch(problem.pairs) as advance:
        yield from stripe_by_stripe(problem, gauge, BYTES_PER_ITEM, BYTES_PER_RELEVANT, ties_of)
