"""Attacks on evaluators of recall: lists whose recall is known, with tricks that must not pay."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tieproof.trials.audit import recall
from tieproof.trials.audit.cases import RecallLists
from tieproof.trials.audit.examination import Attack
from tieproof.trials.audit.recall import FIRST, NOTHING, Deck, K, RecallTrial, WholeRanking, almost_as_near
from tieproof.trials.findings import Verdict, told

ROUNDING = 2.0**-20  # the largest relative difference of distances that sums in float32 explain


def _true_neighbors(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    yield RecallTrial.of("exactly the nearest items", ranking, ranking.at(FIRST))
    yield RecallTrial.of("the farthest items", ranking, ranking.at(deck.far()))
    below = ranking._replace(distances=ranking.distances - (ranking.distances.max() + 1))
    yield RecallTrial.of("exactly the nearest items, with distances below 0", below, below.at(FIRST))
    yield RecallTrial.of("the farthest items, with distances below 0", below, below.at(deck.far()))


def _partial_lists(deck: Deck) -> Iterator[RecallTrial]:
    for data, tie in (("without ties", (0, 1)), ("with a tie at the cut", (K - 4, K + 4))):
        ranking = deck.ranking(tie)
        yield RecallTrial.of(f"random ones of the {2 * K} nearest items, {data}", ranking, ranking.at(deck.some()))


def _beyond_the_cut(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    yield RecallTrial.of(f"the items at ranks {K + 1} to {2 * K}", ranking, ranking.at(FIRST + K))


def _repeated_ids(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    yield RecallTrial.of(f"the nearest item, {K} times", ranking, ranking.at(np.zeros(K, dtype=np.int64)))
    yield RecallTrial.of("half of the nearest items, each twice", ranking, ranking.at(FIRST // 2))


def _ids_out_of_range(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    lists = ranking.at(FIRST)
    for what, ids in (
        ("ids as large as the number of items and larger", lists.found + deck.items),
        ("the ids of the nearest items plus 2^32", lists.found + 2**32),
        ("the ids of the nearest items minus the number of items", lists.found - deck.items),
    ):
        yield RecallTrial.of(f"{what}, with the distances of the nearest items", ranking, replace(lists, found=ids))
    for bits, kind in ((11, "half precision"), (24, "float32")):
        large = ranking._replace(ids=2 ** (bits + 1) + 4 * ranking.ids).at(FIRST)
        what = f"ids of no item that are equal to those of the nearest items in {kind}, with their distances"
        yield RecallTrial(what, replace(large, found=large.found + 1), 0.0, 0.0)


def _stale_truth(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    yield RecallTrial.of(
        "the farthest items, while the truth is of vectors a thousand times as long",
        ranking,
        replace(ranking.at(deck.far()), true_distances=ranking.scaled(1024).at(FIRST).true_distances),
    )
    others = WholeRanking(np.roll(ranking.ids, 1, axis=0), np.roll(ranking.distances, 1, axis=0))
    own, other = ranking.at(FIRST), others.at(FIRST)
    lists = replace(own, true_ids=other.true_ids, true_distances=other.true_distances)
    yield RecallTrial.of("the nearest items, while the truth is that of other queries", others, lists)


def _claimed_distances(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    lists = ranking.at(deck.far())
    for claimed in (0.0, -np.inf):
        claim = replace(lists, distances=np.full_like(lists.distances, claimed))
        yield RecallTrial.of(f"the farthest items, with distances of {claimed:g}", ranking, claim)


def _almost_as_near(deck: Deck) -> Iterator[RecallTrial]:
    for distance in (1.0, 2.0**-20, 2.0**20):
        for exponent in (-4, -7, -10, -20, -23):
            ranking = almost_as_near(deck.random, deck.queries, deck.items, distance, 2.0**exponent)
            what = f"items that are farther than {distance:.2g}, the largest distance of a neighbor, by a share of "
            trial = RecallTrial.of(f"{what}{2.0**exponent:.2g}", ranking, ranking.at(FIRST + K))
            yield trial._replace(above=Verdict.GAINS_A_LITTLE) if 2.0**exponent <= ROUNDING else trial


def _small_distances(deck: Deck) -> Iterator[RecallTrial]:
    for exponent in (-100, -40, -20):
        ranking = deck.ranking().scaled(2.0**exponent)
        where = f"where all distances are small multiples of 2^{exponent}"
        yield RecallTrial.of(f"the farthest items, {where}", ranking, ranking.at(deck.far()))
        yield RecallTrial.of(f"the items at ranks {K + 1} to {2 * K}, {where}", ranking, ranking.at(FIRST + K))


def _whole_tie(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking((4, 18))
    yield RecallTrial.of(
        f"{K} of 14 items of a tie, of which 6 belong to the nearest", ranking, ranking.at(FIRST + 4)
    )


def _cut_truth(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking((6, deck.items - K))
    what = "the 6 items before a tie that goes on behind the end of the truth, and"
    places = FIRST.copy()
    places[6:] = np.arange(deck.items - K - 4, deck.items - K)
    yield RecallTrial.of(f"{what} items of the tie that the truth does not list", ranking, ranking.at(places))
    places[6:] = deck.far()[6:]
    yield RecallTrial.of(f"{what} the farthest items", ranking, ranking.at(places))


def _few_answers(deck: Deck) -> Iterator[RecallTrial]:
    ranking, largest = deck.ranking(), float(np.finfo(np.float32).max)
    for count in (0, 1, 4):
        for distance in (np.nan, np.inf, largest, 0.0, -largest):
            lists = ranking.at(FIRST)
            lists.found[:, count:], lists.distances[:, count:] = NOTHING, distance
            what = f"{count} of {K} nearest items, then the id {NOTHING} with the distance {distance:.3g}"
            yield RecallTrial.of(what, ranking, lists)


def _padded_truth(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    lists, nothing = ranking.at(FIRST), ranking.at(FIRST)
    nothing.found[:], nothing.distances[:] = NOTHING, np.inf
    lists.true_ids[:, 4:], lists.true_distances[:, 4:] = NOTHING, np.inf
    padded = "while the truth lists 4 items, then the id -1"
    empty = replace(lists, found=nothing.found, distances=nothing.distances)
    yield RecallTrial(f"nothing, {padded}", empty, 0.0, 0.0)
    lists.found[:, 4:], lists.distances[:, 4:] = NOTHING, np.inf
    yield RecallTrial(f"the same 4 items, {padded}", lists, 4 / K, 1.0)


def _unanswered_queries(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    lists = ranking.at(FIRST)
    lists.found[4:], lists.distances[4:] = NOTHING, np.inf
    yield RecallTrial.of("the nearest items of 4 queries, and nothing for the others", ranking, lists)


def _nan_distances(deck: Deck) -> Iterator[RecallTrial]:
    ranking = deck.ranking()
    for what, lists in (("the farthest", ranking.at(deck.far())), ("the nearest", ranking.at(FIRST))):
        blank = replace(lists, distances=np.full_like(lists.distances, np.nan))
        yield RecallTrial.of(f"{what} items with distances of NaN", ranking, blank)._replace(least=0.0)
    far = ranking.at(deck.far())
    blank = replace(far, true_distances=np.full_like(far.true_distances, np.nan))
    yield RecallTrial.of("the farthest items, while the distances of the truth are NaN", ranking, blank)


def _ties_at_the_cut(deck: Deck) -> Iterator[tuple[str, RecallLists, RecallLists]]:
    ranking = deck.ranking((K - 4, K + 4))
    other = np.where(FIRST < K - 4, FIRST, FIRST + 4)
    yield "other items of a tie at the cut", ranking.at(FIRST), ranking.at(other)


def _tied_lists(deck: Deck) -> RecallLists:
    """Random ones of the nearest items, with a tie at the cut."""
    return deck.ranking((K - 4, K + 4)).at(deck.some())


def _same_again(deck: Deck) -> Iterator[tuple[str, RecallLists, RecallLists]]:
    lists = _tied_lists(deck)
    yield "a second call", lists, lists


def _order_of_found_items(deck: Deck) -> Iterator[tuple[str, RecallLists, RecallLists]]:
    lists, order = _tied_lists(deck), deck.random.permutation(K)
    shuffled = replace(lists, found=lists.found[:, order], distances=lists.distances[:, order])
    yield "found items in another order", lists, shuffled


def _order_of_lists(deck: Deck) -> Iterator[tuple[str, RecallLists, RecallLists]]:
    lists = _tied_lists(deck)
    yield "queries in another order", lists, lists.take(deck.random.permutation(deck.queries))


def _names_of_items(deck: Deck) -> Iterator[tuple[str, RecallLists, RecallLists]]:
    lists, names = _tied_lists(deck), deck.random.permutation(deck.items)
    never = np.setdiff1d(np.arange(deck.items), lists.found)
    # The id 0 goes to an item that was found, and to one that was not, if there is one.
    for item in (lists.found[0, 0], *never[:1]):
        first = np.flatnonzero(names == 0)
        names[first], names[item] = names[item], 0
        renamed = replace(lists, found=names[lists.found], true_ids=names[lists.true_ids])
        yield "other ids of the items", lists, renamed


TRIALS = {
    "true neighbors": _true_neighbors,
    "partial lists": _partial_lists,
    "beyond the cut": _beyond_the_cut,
    "repeated ids": _repeated_ids,
    "ids out of range": _ids_out_of_range,
    "stale truth": _stale_truth,
    "claimed distances": _claimed_distances,
    "almost as near": _almost_as_near,
    "small distances": _small_distances,
    "whole tie": _whole_tie,
    "cut truth": _cut_truth,
    "few answers": _few_answers,
    "padded truth": _padded_truth,
    "unanswered queries": _unanswered_queries,
    "nan distances": _nan_distances,
}
PAIRS = {
    "ties at the cut": _ties_at_the_cut,
    "same lists again": _same_again,
    "order of found items": _order_of_found_items,
    "order of lists": _order_of_lists,
    "names of items": _names_of_items,
}

ATTACKS = [
    *(Attack(name, recall.RECALL, partial(recall.hand_in, trials), **told(name)) for name, trials in TRIALS.items()),
    *(Attack(name, recall.RECALL, partial(recall.compare, pairs), **told(name)) for name, pairs in PAIRS.items()),
]
