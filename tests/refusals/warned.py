"""Valid input that is probably a mistake: it is evaluated, with a warning."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

import tieproof as tp
from refusals.case import GOOD, LABELS, Case, evaluate
from tieproof.inputs.readers import read_embeddings

MORE, CLASSES = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) // 4


BETWEEN = np.abs(MORE[:, None] - MORE).sum(axis=2)


SIMILARITIES = np.array([[1.0, 0.9, 0.1, 0.0], [0.9, 1.0, 0.2, 0.1], [0.1, 0.2, 1.0, 0.7], [0.0, 0.1, 0.7, 1.0]])


def table(folder: Path) -> object:
    """Read embeddings from a table that has other columns, too."""
    (folder / "data.csv").write_text("id,f0,f1,split,label\n1,0.5,2,0,7\n2,1.5,4,1,8\n")
    return read_embeddings(folder / "data.csv")


CASES: dict[str, Case] = {
    "a set of trec_eval": Case(
        lambda: tp.evaluate_run({"q": {"a": 1}}, {"q": {"a": 0.5}}, measures=["set"]),
        "The set set of trec_eval also has runid, utility, which tieproof does not have.",
        warns=True,
    ),
    "recall@k of a run": Case(
        lambda: tp.evaluate_run({"q": {"a": 1}}, {"q": {"a": 0.5}}, measures=["recall@10"]),
        "recall@10 is R@10: the share of all relevant documents that are among the first 10. For recall@10 of papers",
        warns=True,
    ),
    "hits in another order than that of their scores": Case(
        lambda: tp.evaluate_run(
            {"q": {"0": 1}}, {"q": [SimpleNamespace(id=str(n), score=s) for n, s in enumerate((3, 1, 2))]}
        ),
        r"hits of 1 of 1 queries are not in the order of their scores.*pass \{query: \[id, …\]\}",
        warns=True,
    ),
    "labels of -1 and 1 as relevance": Case(
        lambda: tp.evaluate_scores([[0.9, 0.5, 0.1]], [[-1, 1, -1]]),
        r"relevance has only the values -1 and 1, .* left out of the ranking.*pass numpy\.maximum\(relevance, 0\)",
        warns=True,
    ),
    "grades of -1 and 1 for all pairs": Case(
        lambda: tp.evaluate(
            [[0.5], [1.0]], gallery=[[2.0], [3.0]], relevance=[(0, 0, 1), (0, 1, -1), (1, 0, -1), (1, 1, 1)]
        ),
        r"relevance has only the values -1 and 1, .* pass numpy\.maximum\(relevance, 0\)",
        warns=True,
    ),
    "several negative values as relevance": Case(
        lambda: tp.evaluate_distances([[0.9, 0.5, 0.1, 0.2]], [[-2, 1, -1, 0]]),
        r"several negative values, such as -2 and -1, which all mean that an item is left out",
        warns=True,
    ),
    "a matrix that could be triples, as relevance= of evaluate": Case(
        lambda: tp.evaluate(np.eye(3), relevance=[[0, 1, 1], [1, 0, 1], [2, 1, 1]]),
        r"shape \(3, 3\) and is read as rows \(query, item, grade\), .*\. If it is a matrix",
        warns=True,
    ),
    "one column of 0/1 as labels": Case(
        evaluate(GOOD, np.array(LABELS)[:, None] % 2),
        r"one column of 0/1, so that items with 0 belong to no class.*\.ravel\(\)",
        warns=True,
    ),
    "a gallery that is equal to the queries": Case(
        lambda: tp.evaluate(MORE, CLASSES, gallery=MORE, gallery_labels=CLASSES),
        r"gallery is equal to the queries in all 12 rows.*pass one side alone to tp\.evaluate",
        warns=True,
    ),
    "a distance matrix as embeddings": Case(
        lambda: tp.evaluate(BETWEEN, CLASSES),
        r"square, symmetric matrix with a constant diagonal, .* 12 items.*evaluate_distances",
        warns=True,
    ),
    "a gallery that contains the queries": Case(
        lambda: tp.evaluate(MORE[:8], CLASSES[:8], gallery=MORE, gallery_labels=CLASSES),
        r"8 of 8 queries are in the gallery, too: .* finds itself.* as exclude=; the first is \(0, 0\)",
        warns=True,
    ),
    "scores of all pairs with the diagonal": Case(
        lambda: tp.evaluate_scores(-BETWEEN, CLASSES[:, None] == CLASSES),
        r"12 of 12 queries probably find themselves.*pass labels without gallery_labels, or give it a negative",
        warns=True,
    ),
    "a run in which the queries find their own documents": Case(
        lambda: tp.evaluate_run(
            {query: dict.fromkeys("abcd", 1) for query in "abcd"},
            {query: {document: float(document == query) for document in "abcd"} for query in "abcd"},
        ),
        r"4 of 4 queries find the document that has their own id first.*without these documents",
        warns=True,
    ),
    "neighbors of which the first is the query": Case(
        lambda: tp.evaluate_neighbors(
            [[0, 1], [1, 0], [2, 3], [3, 2]], labels=[0, 0, 1, 1], gallery_labels=[0, 0, 1, 1]
        ),
        r"4 of 4 queries probably find themselves: item i is the first one of query i.*leave out gallery_labels",
        warns=True,
    ),
    "packed codes under another distance than Hamming": Case(
        lambda: tp.evaluate(np.random.default_rng(0).integers(0, 256, (12, 16), np.uint8), CLASSES),
        r"uint8 of which every bit is set about half of the time.*pass distance='hamming' and bits=128",
        warns=True,
    ),
    "R@1 for queries with several relevant items": Case(
        lambda: tp.evaluate(MORE, CLASSES, measures=["R@1"]),
        r"R@1 divides by the number of relevant items, .*: Success@1",
        warns=True,
    ),
    "similarities as distances": Case(
        lambda: tp.evaluate_distances(SIMILARITIES, labels=[0, 0, 1, 1]),
        r"farthest from itself.*they are probably similarities\. Pass similarities to evaluate_scores",
        warns=True,
    ),
    "distances as scores": Case(
        lambda: tp.evaluate_scores(1 - SIMILARITIES, labels=[0, 0, 1, 1]),
        r"farthest from itself.*they are probably distances\. Pass distances to evaluate_distances",
        warns=True,
    ),
    "scores of neighbors passed as distances": Case(
        lambda: tp.evaluate_neighbors(
            [[0, 1], [1, 0]], [[0.9, 0.5], [0.8, 0.7]], labels=[0, 0], gallery_labels=[0, 1]
        ),
        r"distances decrease along every list in which they differ, so that they are probably scores\.",
        warns=True,
    ),
    "neighbors that are not sorted by their distances": Case(
        lambda: tp.evaluate_neighbors(
            [[0, 1], [1, 0]], [[0.5, 0.9], [0.8, 0.7]], labels=[0, 0], gallery_labels=[0, 1]
        ),
        r"1 of 2 lists are not in the order of their distances; the first is that of query 1\. They are ranked",
        warns=True,
    ),
    "lists of an exact search with padding of -1": Case(
        lambda: tp.evaluate_neighbors([[0, -1], [1, 0]], labels=[0, 0], gallery_labels=[0, 1]),
        r"1 of 2 lists end before they are full although the gallery has more items.*search='approximate'",
        warns=True,
    ),
    "a run with other ids of documents than the qrels": Case(
        lambda: tp.evaluate_run({"q": {"D7": 1}}, {"q": {"x": 0.5, "d7": 0.9}}),
        r"The run: no document is judged for its query.*For query 'q' the qrels have 'D7', and the run has 'd7'\.",
        warns=True,
    ),
    "a run of lists that were probably cut off": Case(
        lambda: tp.evaluate_run(
            {"q": {"d0": 1}, "r": {"d99": 1}},
            {query: {f"d{at}": max(at, 1) for at in range(10)} for query in ("q", "r")},
            measures=["P@10"],
        ),
        r"All lists of the run have 10 documents, and 2 of 2 end in a tie.*which P@10 reads, may continue\. Set",
        warns=True,
    ),
    "a run passed as qrels, and qrels as a run": Case(
        lambda: tp.evaluate_run({"q": {"a": 0.5}}, {"q": {"a": 1, "b": 0}}),
        r"fractional grades, such as 0\.5.*Pass the qrels first, then the run",
        warns=True,
    ),
    "a CSV column that may not be a dimension": Case(
        table,
        r"data.csv: 'split' is read as a dimension, in addition to 2 numbered columns. Left out: 'id', 'label'.",
        in_folder=True,
        warns=True,
    ),
}
