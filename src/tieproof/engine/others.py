"""Count the items that are not relevant, by the cheapest kind of tiles; and make the space of a problem."""

from tieproof.distances import Distance
from tieproof.distances.space import Space
from tieproof.engine.plan import Plan, cheapest, with_margins
from tieproof.engine.ranked import Ranked
from tieproof.engine.resolve import count_partial
from tieproof.engine.tiles import Area, TileLoop
from tieproof.problem import Problem, Progress


def space_of(problem: Problem, plan: Plan, ends: tuple[int, ...] = ()) -> Space:
    """The space of real distances, or of rounded ones; `ends` of parts of the items as in `make_space`."""
    if problem.format is None:
        return problem.space(plan.resources, ends)
    from tieproof.distances.gauge import resources_of_gauge
    from tieproof.engine.rounded.space import RoundedSpace

    assert isinstance(problem.distance, Distance)
    gauge = problem.distance.gauge(problem.space(resources_of_gauge(plan.resources.keep_bytes), ends))
    return RoundedSpace(gauge, problem.format, plan.undecided)


def count_others(space: Space, ranked: Ranked, plan: Plan, area: Area, progress: Progress) -> None:
    """Count the items of an area, except the relevant ones, for the queries of a block."""
    if len(ranked.partial.query):
        count_partial(space, ranked)
    chosen = cheapest(space, ranked)
    if chosen is None:
        from tieproof.engine.without_tiles import count_pairs

        count_pairs(space, ranked, plan, area, progress)
    else:
        TileLoop(chosen, with_margins(ranked, chosen), plan, area, progress).run()
