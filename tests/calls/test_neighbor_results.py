"""The result of lists of neighbors as text, JSON and record."""

from test_neighbors import DISTANCES, IDS, LABELS, data, nearest

import tieproof as tp


def test_without_distances_the_order_counts_and_the_result_says_so() -> None:
    result = tp.evaluate_neighbors(IDS[:, :2], **LABELS, measures=["P@1", "AP"])
    assert result["P@1"] == tp.Estimate(1.0, 1.0, 1.0, 0.0)
    assert result.to_dict()["setting"]["distance"] == "order"
    assert result.to_dict()["search"] == "exact"
    said = text_of(result)
    assert "by the order that an exact search among 5 items returned" in said
    assert "There are no distances: the order of each list is taken as given, without ties." in said
    assert "After an exact search, an unlisted item comes after all listed items." in said
    assert result.ties.ties == 0


def text_of(result: tp.Result) -> str:
    return " ".join(result.to_text(explain=True).split())


def test_the_text_says_what_is_left_open() -> None:
    said = text_of(tp.evaluate_neighbors(IDS, DISTANCES, **LABELS, search="approximate"))
    assert "by the distances that an approximate search among 5 items returned" in said
    assert "Items not listed may change the score of 2 of 2 queries. After an approximate search" in said
    assert "it is low because of unlisted items, not only because of ties" in said
    assert "search=returned" in said
    assert "Report 'expected'" not in said
    said = text_of(tp.evaluate_neighbors(IDS, DISTANCES, **LABELS, search="returned"))
    assert "by the distances that a search among 5 items returned" in said
    assert "Only what was returned is scored: an unlisted item comes last, and counts as never retrieved." in said
    whole = tp.evaluate_neighbors([[0, 1, 2, 3, 4]] * 2, [[0, 1, 2, 3, 4]] * 2, **LABELS)
    assert "Items not listed" not in text_of(whole)


def test_records_are_verified() -> None:
    distances, labels = data(3)
    ids, found = nearest(distances, 5)
    result = tp.evaluate_neighbors(ids, found, labels=labels, search="approximate")
    assert tp.verify(result, ids, found, labels=labels).agrees
    returned = tp.evaluate_neighbors(ids, found, labels=labels, search="returned")
    assert tp.verify(returned, ids, found, labels=labels).agrees
    assert not tp.verify(result, ids, found, labels=labels[::-1]).agrees
    by_order = tp.evaluate_neighbors(ids, labels=labels)
    assert tp.verify(by_order, ids, labels=labels).agrees
    assert not tp.verify(by_order, ids, found, labels=labels).agrees


def test_categories_and_averages_are_those_of_evaluate() -> None:
    distances, labels = data(4)
    ids, found = nearest(distances, 24)
    whole = tp.evaluate_distances(distances, labels=labels, average="macro")
    result = tp.evaluate_neighbors(ids, found, labels=labels, average="macro")
    assert {**result} == {**whole}
    assert {**result.category(2)} == {**whole.category(2)}


def test_fingerprints_include_the_grades_of_unlisted_items() -> None:
    def fingerprint(grade: int) -> str:
        triples = [(0, 0, 2), (0, 1, grade)]
        return tp.evaluate_neighbors([[0]], [[0.5]], relevance=triples, n_items=4).fingerprint

    assert fingerprint(1) != fingerprint(3)
