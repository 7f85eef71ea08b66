"""Measures of lists from a search, compared with all complete rankings that begin with the list."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from test_lists import spellings

import completion_oracle
import oracle
from completion_oracle import Search
from tieproof.measures import REGISTRY, parse
from tieproof.measures.cut_off import CutOffTies, Unseen
from tieproof.measures.unseen import estimate, first_items
from tieproof.ties import IntArray, Ties

KINDS = ("exact", "order", "approximate")


def searches(graded: bool, count: int, seed: int = 3) -> list[Search]:
    """Lists of up to four items with up to three unseen ones, at least one of all relevant."""
    source = random.Random(seed)
    grades: list[oracle.Grade] = [1, 2, 3, Fraction(1, 4)] if graded else [1]

    def grade(share: float) -> oracle.Grade:
        return source.choice(grades) if source.random() < share else 0

    found: list[Search] = []
    while len(found) < count:
        share = source.choice((0.3, 0.5, 0.8))
        sizes = source.choice(((), (1,), (2,), (1, 1), (1, 2), (2, 1), (1, 1, 1), (2, 2), (3,), (1, 3), (1, 1, 2)))
        missing = tuple(source.choice(grades) for _ in range(source.choice((0, 0, 1, 1, 2, 3))))
        search = Search(
            tuple(tuple(grade(share) for _ in range(size)) for size in sizes),
            tuple(sorted(missing, reverse=True)),
            source.choice((0, 0, 1, 2, 3)),
        )
        if len(search.unseen) <= 3 and any((*search.grades, *search.missing)):
            found.append(search)
    return found


def ties_of(found: list[Search], kind: str, graded: bool) -> CutOffTies:
    """The ties of these lists; if only their order is given, each item is a tie of its own."""
    rows, ends, grades = [], [], []
    for q, search in enumerate(found):
        ranking = [(grade,) for grade in search.grades] if kind == "order" else search.ranking
        k = n = 0
        end = (0, 0, 0, 0)
        for tie in ranking:
            relevant = sorted((float(grade) for grade in tie if grade > 0), reverse=True)
            if relevant:
                rows.append((q, k, n, len(tie), len(relevant)))
                grades += relevant
            end = (k, n, len(tie), len(relevant))
            k, n = k + len(tie), n + len(relevant)
        ends.append(end)
    query, k_of, n_of, l_of, m_of = np.array(rows, dtype=np.int64).reshape(-1, 5).T.copy()
    listed = [sum(grade > 0 for grade in search.grades) for search in found]
    ties = Ties(
        query=query,
        k=k_of,
        n=n_of,
        l=l_of,
        m=m_of,
        n_relevant=np.array([count + len(s.missing) for count, s in zip(listed, found, strict=True)]),
        n_items=np.array([len(search.grades) for search in found]),
        grades=np.array(grades) if graded else None,
        missing_grades=np.array([float(g) for search in found for g in search.missing]) if graded else None,
    )
    last: Any = tuple(np.array(ends, dtype=np.int64).T.copy())
    sizes: IntArray = np.array([len(search.grades) + len(search.unseen) for search in found])
    unseen: Unseen = "anywhere" if kind == "approximate" else "behind"
    return first_items(ties, None if kind == "order" else last, sizes, unseen)


def as_ordered(search: Search, kind: str) -> Search:
    if kind != "order":
        return search
    return Search(tuple((grade,) for grade in search.grades), search.missing, search.others)


def all_spellings() -> list[tuple[str, str, int | None]]:
    cut = [(f"{name}@{k}", name, k) for m, name, c in spellings() if c == 3 for k in (2, 5)]
    return [*spellings(), *cut, ("bpref", "bpref", None), ("FirstRank", "FirstRank", None)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("measure", "name", "cutoff"), all_spellings(), ids=lambda value: str(value))
def test_bounds_are_those_of_all_whole_rankings(measure: str, name: str, cutoff: int | None, kind: str) -> None:
    for graded in (False, True):
        found = searches(graded, count=50 if graded and "nDCG" in name else 25)
        got = estimate(parse(measure), ties_of(found, kind, graded))
        for at, search in enumerate(found):
            one = as_ordered(search, kind)
            lower, upper = completion_oracle.bounds(name, one, kind, cutoff)
            expected = completion_oracle.behind(name, one, cutoff)
            assert got.lower[at] == pytest.approx(float(lower), rel=1e-12, abs=1e-15), (one, graded)
            assert got.upper[at] == pytest.approx(float(upper), rel=1e-12, abs=1e-15), (one, graded)
            assert got.expected[at] == pytest.approx(float(expected.expected), rel=1e-12), one
            assert np.sqrt(got.variance[at]) == pytest.approx(expected.std, rel=1e-12, abs=1e-15), one
            assert got.lower[at] <= got.expected[at] <= got.upper[at]


def test_the_whole_registry_is_compared() -> None:
    assert {name.partition("(")[0] for name in REGISTRY} == {
        name.partition("(")[0].partition("@")[0] for _, name, _ in all_spellings()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_unseen_leaves_the_measure_as_it_is(kind: str) -> None:
    found = [search for search in searches(False, 200) if not search.unseen]
    ties = ties_of(found, kind, graded=False)
    whole = Ties(ties.query, ties.k, ties.n, ties.l, ties.m, n_relevant=ties.n_relevant, n_items=ties.n_items)
    for measure, _, _ in spellings():
        for one, other in zip(estimate(parse(measure), ties), parse(measure)(whole), strict=True):
            assert (one == other).all(), measure
    assert not ties.open_ends.any()


def test_open_ends_are_queries_that_something_unseen_may_change() -> None:
    found = [
        Search(((1,), (0,)), (), 2),  # no relevant item is in the last tie or unseen
        Search(((1,), (0, 1)), (), 2),
        Search(((0,), (0,)), (1,), 1),
        Search(((0,), (1,)), (1,), 0),  # all items in the last tie and all unseen items are relevant
        Search(((0,), (1,)), (), 0),
        Search(((1,), (1,)), (1,), 0),
    ]
    opened = {kind: ties_of(found, kind, graded=False).open_ends.tolist() for kind in KINDS}
    assert opened["exact"] == [False, True, True, False, False, False]
    assert opened["order"] == [False, False, True, False, False, False]
    assert opened["approximate"] == [True, True, True, True, False, False]
