"""Labels, groups, relevance and exclusions that cannot be evaluated."""

import numpy as np

import tieproof as tp
from refusals.case import GOOD, LABELS, Case, evaluate

CASES: dict[str, Case] = {
    "too few labels": Case(evaluate(labels=LABELS[:4]), r"4 labels for 6 embeddings"),
    "too many labels": Case(evaluate(labels=[*LABELS, 1]), r"7 labels for 6 embeddings"),
    "an empty list of labels": Case(evaluate(labels=[]), r"0 labels for 6 embeddings"),
    "no labels": Case(evaluate(labels=None), r"either labels or relevance="),
    "labels and relevance": Case(evaluate(relevance=[(0, 1)]), r"either labels or relevance="),
    "float labels with NaN": Case(evaluate(labels=[0, 0, 1, np.nan, 2, 2]), r"row 3 contains nan"),
    "fractions as labels": Case(evaluate(labels=np.arange(6) / 2), r"row 1 contains 0.5"),
    "labels of 70 bits": Case(evaluate(labels=[2**70, 2**70, 1, 1, 2, 2]), r"at most 64 bits"),
    "labels of both signs beyond 63 bits": Case(
        evaluate(labels=[2**63, 2**63 + 1, -1, -1, 2, 2]),
        r"integers from -1 to 9223372036854775809, which do not fit into one type",
    ),
    "floats too large to be labels": Case(evaluate(labels=np.full(6, 2.0**54)), r"row 0 contains 1.8"),
    "integers beside strings": Case(evaluate(labels=[1, "1", 2, 2, 3, 3]), r"contain int, str"),
    "labels that end in NUL": Case(evaluate(labels=["a", "a\0", "b", "b", "c", "c"]), r"ends in a NUL"),
    "bytes against strings": Case(
        evaluate(labels=[b"a"] * 6, gallery=GOOD, gallery_labels=["a"] * 6),
        r"labels of different types are never equal",
    ),
    "masked labels": Case(evaluate(labels=np.ma.masked_equal(LABELS, 1)), r"labels have masked entries"),
    "groups in columns": Case(
        evaluate(groups=np.zeros((6, 2), int)),
        r"shape \(items,\), not \(6, 2\)",
    ),
    "everything excluded": Case(
        evaluate(labels=None, relevance=[(0, 1)], exclude=[(0, 1)]),
        r"relevant item that is not excluded",
    ),
    "labels of mixed types": Case(evaluate(labels=np.array([0, "a", 1, 1, 2, 2], dtype=object)), r"contain int, str"),
    "labels of None": Case(evaluate(labels=[None] * 6), r"contain NoneType"),
    "two label columns of classes": Case(evaluate(labels=np.full((6, 2), 7)), r"one 0/1 column per class"),
    "three-dimensional labels": Case(evaluate(labels=np.zeros((6, 2, 2))), r"not \(6, 2, 2\)"),
    "gallery labels without a gallery": Case(evaluate(gallery_labels=LABELS), r"without a gallery"),
    "strings against integers": Case(
        evaluate(gallery=GOOD, gallery_labels=["a"] * 6),
        r"labels of different types are never equal",
    ),
    "columns against labels": Case(evaluate(gallery=GOOD, gallery_labels=np.eye(6, dtype=int)), r"shape \(6,\)"),
    "groups without gallery_groups": Case(
        evaluate(gallery=GOOD, gallery_labels=LABELS, groups=LABELS),
        r"without gallery_groups",
    ),
    "too few groups": Case(evaluate(groups=[1]), r"1 groups for 6 queries"),
    "an excluded item that is not there": Case(evaluate(exclude=[(0, 6)]), r"names item 6, but there are only 6"),
    "relevance out of range": Case(evaluate(labels=None, relevance=[(6, 0)]), r"names query 6"),
    "relevance named twice": Case(
        evaluate(labels=None, relevance=[(0, 1), (2, 3), (2, 3)]), r"item 3 twice for query 2"
    ),
    "relevance of oneself": Case(
        evaluate(labels=None, relevance=[(0, 1), (2, 2)]), r"names item 2 for the query 2 itself"
    ),
    "a grade of NaN": Case(evaluate(labels=None, relevance=[(0, 1, np.nan)]), r"row 0 has the grade nan"),
    "nothing relevant": Case(evaluate(labels=range(6)), r"No query has anything relevant"),
    "some with nothing relevant": Case(
        evaluate(labels=[0, 0, 1, 2, 3, 4], empty="error"),
        r"4 of 6 queries have nothing relevant; the first is query 2",
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
    "large integers beside floats": Case(
        evaluate(labels=[0.0, 0.0, 1, 1, np.int64(2**60), np.int64(2**60)]),
        r"row 4 contains 1\.15.*may have been rounded",
    ),
    "items that float16 may have rounded": Case(
        lambda: tp.evaluate(np.arange(2100.0)[:, None], relevance=np.array([[0, 2049]], np.float16)),
        r"in float16 below 2048, because larger ones may have been rounded\), but row 0 contains 2048\.0",
    ),
    "a grade that float64 rounds": Case(
        evaluate(labels=None, relevance=np.array([[0, 1, 2**53 + 1]])), r"grade beyond 2\^53"
    ),
    "groups of different types": Case(
        evaluate(gallery=GOOD + 1, gallery_labels=LABELS, groups=LABELS, gallery_groups=["a"] * 6),
        r"groups are int64, but the gallery_groups are strings",
    ),
    "one column of classes for queries alone": Case(
        evaluate(labels=np.eye(6, 1), gallery=GOOD + 1, gallery_labels=LABELS),
        r"a single column of only 0 and 1 counts as columns",
    ),
    "batches of labels": Case(
        evaluate(GOOD, [LABELS[:3], LABELS[3:]]),
        r"The labels are 2 rows of 3, probably batches\. Join them .* numpy\.concatenate",
    ),
    "batches of labels of different lengths": Case(
        evaluate(GOOD, [np.array(LABELS[:4]), np.array(LABELS[4:])]),
        r"The labels are lists of different lengths, probably batches\. Join them .* numpy\.concatenate",
    ),
}
