"""Labels, groups, relevance and exclusions that cannot be evaluated."""

import numpy as np

import tieproof as tp
from refusals.case import GOOD, LABELS, Case, evaluate

CASES: dict[str, Case] = {
    "too few labels": Case(evaluate(labels=LABELS[:4]), r"number of labels is 4, but the number of embeddings is 6"),
    "too many labels": Case(evaluate(labels=[*LABELS, 1]), r"number of labels is 7, but .* embeddings is 6"),
    "an empty list of labels": Case(evaluate(labels=[]), r"number of labels is 0, but the number of embeddings is 6"),
    "neither labels nor relevance=": Case(evaluate(labels=None), r"either labels or relevance="),
    "both labels and relevance=": Case(evaluate(relevance=[(0, 1)]), r"either labels or relevance="),
    "float labels with NaN": Case(evaluate(labels=[0, 0, 1, np.nan, 2, 2]), r"row 3 contains nan"),
    "fractions as labels": Case(evaluate(labels=np.arange(6) / 2), r"row 1 contains 0.5"),
    "integer labels of more than 64 bits": Case(evaluate(labels=[2**70, 2**70, 1, 1, 2, 2]), r"at most 64 bits"),
    "negative labels together with labels of 2^63 and above": Case(
        evaluate(labels=[2**63, 2**63 + 1, -1, -1, 2, 2]),
        r"integers from -1 to 9223372036854775809, which do not fit into one type",
    ),
    "float labels too large to be exact": Case(evaluate(labels=np.full(6, 2.0**54)), r"row 0 contains 1.8"),
    "a list of integer and string labels": Case(evaluate(labels=[1, "1", 2, 2, 3, 3]), r"contain int, str"),
    "a label that ends in a NUL character": Case(evaluate(labels=["a", "a\0", "b", "b", "c", "c"]), r"ends in a NUL"),
    "query labels of bytes and gallery labels of strings": Case(
        evaluate(labels=[b"a"] * 6, gallery=GOOD, gallery_labels=["a"] * 6),
        r"labels of different types are never equal",
    ),
    "masked labels": Case(evaluate(labels=np.ma.masked_equal(LABELS, 1)), r"labels must not have masked entries"),
    "groups in two dimensions": Case(evaluate(groups=np.zeros((6, 2), int)), r"shape \(items,\), not \(6, 2\)"),
    "exclude pairs that remove every relevant item": Case(
        evaluate(labels=None, relevance=[(0, 1)], exclude=[(0, 1)]), r"relevant item that is not excluded"
    ),
    "an array of objects with integer and string labels": Case(
        evaluate(labels=np.array([0, "a", 1, 1, 2, 2], dtype=object)), r"contain int, str"
    ),
    "None as labels in a list": Case(evaluate(labels=[None] * 6), r"row 0 is None"),
    "a label that is missing among strings": Case(
        evaluate(labels=["a", "a", "b", "b", "c", float("nan")]), r"row 5 is nan\. Leave out rows without one"
    ),
    "two columns of labels with values other than 0 and 1": Case(
        evaluate(labels=np.full((6, 2), 7)), r"one 0/1 column per class"
    ),
    "three-dimensional labels": Case(evaluate(labels=np.zeros((6, 2, 2))), r"not \(6, 2, 2\)"),
    "gallery labels without a gallery": Case(evaluate(gallery_labels=LABELS), r"without a gallery"),
    "query labels of integers and gallery labels of strings": Case(
        evaluate(gallery=GOOD, gallery_labels=["a"] * 6), r"labels of different types are never equal"
    ),
    "query labels in one dimension, gallery labels in columns": Case(
        evaluate(gallery=GOOD, gallery_labels=np.eye(6, dtype=int)), r"shape \(6,\)"
    ),
    "groups without gallery_groups": Case(
        evaluate(gallery=GOOD, gallery_labels=LABELS, groups=LABELS), r"without gallery_groups"
    ),
    "too few groups": Case(evaluate(groups=[1]), r"number of groups is 1, but the number of queries is 6"),
    "an exclude pair with an index out of range": Case(
        evaluate(exclude=[(0, 6)]), r"names item 6, but there are only 6"
    ),
    "a relevance row with an index out of range": Case(evaluate(labels=None, relevance=[(6, 0)]), r"names query 6"),
    "a relevance row that occurs twice": Case(
        evaluate(labels=None, relevance=[(0, 1), (2, 3), (2, 3)]), r"item 3 twice for query 2"
    ),
    "a relevance row that pairs a query with itself": Case(
        evaluate(labels=None, relevance=[(0, 1), (2, 2)]), r"names item 2 for the query 2 itself"
    ),
    "a relevance row with a grade of NaN": Case(
        evaluate(labels=None, relevance=[(0, 1, np.nan)]), r"row 0 has the grade nan"
    ),
    "labels of which no two are equal": Case(evaluate(labels=range(6)), r"No query has a relevant item"),
    "queries without relevant items, with empty='error'": Case(
        evaluate(labels=[0, 0, 1, 2, 3, 4], empty="error"),
        r"No item is relevant to 4 of 6 queries; the first is query 2",
    ),
    "labels that float16 may have rounded": Case(
        evaluate(labels=np.array([0, 0, 1, 1, 2048, 2048], np.float16)),
        r"every integer only below 2048, but row 4 contains 2048\.0, which may have been rounded",
    ),
    "labels that float32 may have rounded": Case(
        evaluate(labels=np.array([0, 0, 1, 1, 2**24, 2**24], np.float32)),
        r"every integer only below 16777216, but row 4",
    ),
    "labels that float64 may have rounded": Case(
        evaluate(labels=[0.0, 0.0, 1.0, 1.0, 2.0**53, 2.0**53]), r"every integer only below 9007199254740992"
    ),
    "large integers and floats in one list of labels": Case(
        evaluate(labels=[0.0, 0.0, 1, 1, np.int64(2**60), np.int64(2**60)]),
        r"row 4 contains 1\.15.*may have been rounded",
    ),
    "float16 relevance with indices that may have been rounded": Case(
        lambda: tp.evaluate(np.arange(2100.0)[:, None], relevance=np.array([[0, 2049]], np.float16)),
        r"in float16 below 2048, because larger ones may have been rounded\), but row 0 contains 2048\.0",
    ),
    "a grade that float64 cannot represent exactly": Case(
        evaluate(labels=None, relevance=np.array([[0, 1, 2**53 + 1]])), r"grade beyond 2\^53"
    ),
    "groups and gallery_groups of different types": Case(
        evaluate(gallery=GOOD + 1, gallery_labels=LABELS, groups=LABELS, gallery_groups=["a"] * 6),
        r"groups are int64, but the gallery_groups are strings",
    ),
    "one 0/1 column of labels for the queries only": Case(
        evaluate(labels=np.eye(6, 1), gallery=GOOD + 1, gallery_labels=LABELS),
        r"a single column of only 0 and 1 counts as columns",
    ),
    "labels in batches of equal length": Case(
        evaluate(GOOD, [LABELS[:3], LABELS[3:]]),
        r"The labels are 2 rows of 3, which are probably batches\. Join them .* numpy\.concatenate",
    ),
    "labels in batches of different lengths": Case(
        evaluate(GOOD, [np.array(LABELS[:4]), np.array(LABELS[4:])]),
        r"The labels are lists of different lengths, which are probably batches\. Join them .* numpy\.concatenate",
    ),
}
