"""Scores, distances and runs that cannot be evaluated."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

import tieproof as tp
from refusals.case import Case
from tieproof.trials.audit import Command

SQUARE = [[9.0, 2.0], [2.0, 9.0]]


def two_scores() -> pd.DataFrame:
    return pd.DataFrame([["q", "a", 1.0, 2.0]], columns=["qid", "docno", "score", "score"])


QRELS, RUN = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}


def of_run() -> tp.Result:
    return tp.evaluate_run(QRELS, RUN, measures=["AP"])


MATCHES = SimpleNamespace(keys=np.array([[1]]), distances=np.array([[0.5]]), counts=np.array([1]))


def points(*scores: float) -> list[Any]:
    """Points as qdrant returns them."""
    return [SimpleNamespace(id=item, score=score) for item, score in enumerate(scores)]


SUBTOPICS = {"q": {"fruit": {"a": 1}}}


CASES: dict[str, Case] = {
    "a ranking that names an item twice": Case(
        lambda: tp.rbo(["a", {"b", "c"}, "b"], ["a"]), r"first ranking has the item 'b' more than once"
    ),
    "an empty ranking": Case(lambda: tp.rbo(["a"], []), r"scores of the second ranking are empty"),
    "a ranking that is a number": Case(lambda: tp.rbo(["a"], 3), r"second ranking must be a dictionary .*not int"),
    "items of a ranking that are dictionaries": Case(
        lambda: tp.rbo([{"id": 1}], ["a"]), r"first ranking must name its items by strings or numbers"
    ),
    "NaN in the scores of a ranking": Case(
        lambda: tp.kendall_tau({"a": np.nan, "b": 1.0}, ["a", "b"]), r"scores of the first ranking .* contain nan at"
    ),
    "a run in place of a ranking": Case(lambda: tp.rbo(RUN, RUN), r"first ranking is a run.*Use tieproof.agreement"),
    "a persistence of 1": Case(lambda: tp.rbo(["a"], ["a"], p=1), r"p must be .* at most 0\.999999, .* not 1"),
    "a correlation of different items": Case(
        lambda: tp.kendall_tau(["a", "b"], ["a", "c"]), r"second one lacks 1 of them, such as 'b'.*use tieproof.rbo"
    ),
    "a correlation with a ranking of equal scores": Case(
        lambda: tp.kendall_tau(["a", "b"], {"a": 0, "b": 0}), r"All scores of the second ranking are equal"
    ),
    "runs without a common query": Case(
        lambda: tp.agreement(RUN, {"other": {"a": 1.0}}), r"no query in common: the first has queries such as 'q'"
    ),
    "a document twice in the second of two runs": Case(
        lambda: tp.agreement(RUN, {"q": {7: 1.0, "7": 2.0}}), r"The second run: document '7' occurs twice"
    ),
    "an unknown measure of diversity": Case(
        lambda: tp.evaluate_diversity(SUBTOPICS, RUN, measures=["AP"]),
        r"'AP' is not one of alpha_nDCG, .* cutoff from 1",
    ),
    "a measure of diversity for qrels without subtopics": Case(
        lambda: tp.evaluate_run(QRELS, RUN, measures=["alpha_nDCG@20"]), r"evaluate_diversity computes it"
    ),
    "alpha of 1": Case(lambda: tp.evaluate_diversity(SUBTOPICS, RUN, alpha=1), r"alpha must be .* below 1, .*not 1"),
    "qrels without subtopics": Case(
        lambda: tp.evaluate_diversity(QRELS, RUN), r"int stands in place of a dictionary. evaluate_run takes qrels"
    ),
    "a negative grade for a subtopic": Case(
        lambda: tp.evaluate_diversity({"q": {"fruit": {"a": -2}}}, RUN),
        r"grade -2 for document 'a' and subtopic 'fruit' of query 'q'.*write 0",
    ),
    "two grades of a document for one subtopic": Case(
        lambda: tp.evaluate_diversity({"q": {"fruit": {7: 1, "7": 0}}}, RUN),
        r"two grades for document '7' and subtopic 'fruit' of query 'q'",
    ),
    "no document that is relevant to a subtopic": Case(
        lambda: tp.evaluate_diversity({"q": {"fruit": {"a": 0}}}, RUN), r"qrels have no relevant document"
    ),
    "a run without the queries of subtopics": Case(
        lambda: tp.evaluate_diversity(SUBTOPICS, {"other": {"a": 1.0}}), r"run has no query of the qrels, such as 'q'"
    ),
    "no distances of other pairs": Case(
        lambda: tp.det_curve([0.5], []), r"Every pair is relevant or excluded, so there are no other pairs"
    ),
    "labels and scores in place of the distances of pairs": Case(
        lambda: tp.det_curve([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.1]),
        r"first argument has only two values, as labels have.*"
        r"pass det_curve\(-scores\[labels == 1\], -scores\[labels != 1\]\)",
    ),
    "scores and labels of -1 and 1 in place of the distances of pairs": Case(
        lambda: tp.fnmr_at_fmr_of_distances([0.9, 0.2, 0.8], [1, -1, -1]),
        r"second argument has only two values, as labels have.*pass fnmr_at_fmr_of_distances\(-scores\[labels == 1",
    ),
    "labels of pairs that are classes": Case(
        lambda: tp.det_curve_of_pairs([0, 1, 2], [0.1, 0.2, 0.3]), r"labels of pairs must be 1 and 0, .*not 0 to 2"
    ),
    "pairs without scores": Case(lambda: tp.det_curve_of_pairs([0, 1]), r"either scores or embeddings="),
    "one fold of pairs": Case(
        lambda: tp.det_curve_of_pairs([0, 1], [0.1, 0.2], folds=["a", "a"]), r"All pairs are in one fold"
    ),
    "a threshold that is not a number": Case(
        lambda: tp.det_curve([0.1], [0.2]).at("0.1"),  # type: ignore[arg-type]
        r"A threshold must be a number, not '0\.1'",
    ),
    "queries of which none has a match": Case(
        lambda: tp.open_set_identification_of_scores([[0.5]], [[0]]), r"No query has a match in the gallery"
    ),
    "a negative fraction as relevance": Case(
        lambda: tp.evaluate_scores([[0.1, 0.3]], [[-0.89, 0.5]]),
        r"relevance contains -0\.89, a negative fraction.*left out of the ranking.*numpy\.maximum\(relevance, 0\)",
    ),
    "a negative fraction as the grade of a triple": Case(
        lambda: tp.evaluate([[0.0], [1.0], [2.0]], relevance=[(0, 1, -0.5), (0, 2, 1)]),
        r"relevance contains -0\.5, a negative fraction",
    ),
    "complete lists without the number of relevant items": Case(
        lambda: tp.evaluate_scores([[2, 1]], [[1, 0]], complete=True),
        r"complete=True says that the relevant items which a list lacks were never found. Pass n_relevant=",
    ),
    "a cutoff in percent of a run": Case(
        lambda: tp.evaluate_run({"q": {"d": 1}}, {"q": {"d": 1.0}}, measures=["Success@1%"]),
        r"cutoff of 'Success@1%' is a share of all items, but the lists of a run need not have all",
    ),
    "a rank of the first relevant item where none was found": Case(
        lambda: tp.evaluate_run({"q": {"d": 1, "e": 0}}, {"q": {"e": 1.0}}, measures=["FirstRank"]),
        r"FirstRank needs a relevant item of known rank, which the lists of 1 of 1 queries lack",
    ),
    "a rank that counts as zero": Case(
        lambda: tp.evaluate_scores([[2, 1]] * 2, [[1, 0], [0, 0]], measures=["FirstRank"], empty="zero"),
        r"nothing relevant has no FirstRank, and empty=zero would make it the best of all. Pass empty=skip",
    ),
    "lists of relevant items for fewer queries": Case(
        lambda: tp.evaluate([[0.0], [1.0]], relevance=[np.array([1])]),
        r"relevance has lists of the items of 1 queries, but there are 2. Pass one list for each query, empty where",
    ),
    "a relevant item of a list that is not in the gallery": Case(
        lambda: tp.evaluate([[0.0], [1.0]], relevance=[{1}, {7}]),
        r"relevant to query 1 must be whole numbers from 0 to 1, but are \[7\]. Pass the positions",
    ),
    "a matrix as relevance= of evaluate": Case(
        lambda: tp.evaluate(np.eye(3), relevance=[[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        r"names item 1 twice for query 0.*If it is a matrix \(queries, items\), pass numpy\.argwhere\(relevance\)",
    ),
    "hits of Qdrant with Distance.EUCLID": Case(
        lambda: tp.evaluate_run({"q": {"0": 1}}, {"q": points(0.0, 0.5, 1.7)}),
        r"scores of the hits increase along every list .* probably distances.*Pass \{query: \{id: -score\}\}",
    ),
    "interpolated precision of a large tie": Case(
        lambda: tp.evaluate_scores([[0.0] * 3000], [[1, 0, 0] * 1000], measures=["IPrec@0.1"]),
        r"'IPrec\(recall=0.1\)' would take minutes: ties of up to 3,000 items have too many orders. Use P at",
    ),
    "an interval of a count": Case(
        lambda: tp.evaluate_scores([[1.0, 0.5]] * 2, [[0, 1]] * 2, measures=["NumRet"]).interval("NumRet"),
        r"'NumRet' is a count, and has no mean over queries. Take the interval of another measure.",
    ),
    "a cost of detection that is not positive": Case(
        lambda: tp.det_curve([0.5], [0.7]).min_dcf(0.05, c_miss=0), r"c_miss=0, .* costs that are positive numbers"
    ),
    "an interval of a curve of embeddings": Case(
        lambda: tp.fnmr_at_fmr([[0.0], [1.0], [2.0]], ["a", "a", "b"], curve=True).curve.interval(  # type: ignore[union-attr]
            lambda curve: curve.eer.upper
        ),
        r"counted from embeddings, and its pairs were not kept.*tp\.nearest with k=len\(gallery\)",
    ),
    "an interval of a DET curve without subjects": Case(
        lambda: tp.det_curve([0.5], [0.7]).interval(lambda curve: curve.eer.upper), r"needs the subjects of all pairs"
    ),
    "subjects of relevant pairs only": Case(
        lambda: tp.det_curve([0.5], [0.7], subjects=["a"]),  # type: ignore[arg-type]
        r"subjects must be two arrays",
    ),
    "a statistic of a DET curve that is NaN": Case(
        lambda: tp.det_curve([0.5, 0.6], [0.7, 0.8], subjects=(["a", "b"], ["a", "b"])).interval(
            lambda curve: np.nan
        ),
        r"The statistic must be a finite number, not nan",
    ),
    "curve= that is neither true nor false": Case(
        lambda: tp.fnmr_at_fmr([[0.0], [1.0], [2.0]], ["a", "a", "b"], curve="no"),  # type: ignore[arg-type]
        r"curve must be True or False, not 'no'",
    ),
    "curve= with more relevant pairs than fit into memory=": Case(
        lambda: tp.fnmr_at_fmr(np.zeros((300, 1)), ["a", "b"] * 150, curve=True, memory="2MiB"),
        r"of all 44,700 relevant pairs, about 22,886,400 bytes, but the memory is 2,097,152 bytes",
    ),
    "eer= that is neither true nor false": Case(
        lambda: tp.fnmr_at_fmr([[0.0], [1.0], [2.0]], ["a", "a", "b"], eer="no"),  # type: ignore[arg-type]
        r"eer must be True or False, not 'no'",
    ),
    "a false accept rate above 1": Case(lambda: tp.det_curve([0.5], [0.7]).tar(1.5), r"A false accept rate"),
    "NaN in the scores": Case(lambda: tp.evaluate_scores([[1.0, np.nan]], [[0, 1]]), r"query 0 has nan at item 1"),
    "NaN in the relevance of scores": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0]], [[0, np.nan]]), r"query 0 has nan at item 1"
    ),
    "fewer relevance values than scores": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0]], [[0]]),
        r"number of scores of query 0 is 2, but the number of its relevance values is 1",
    ),
    "scores for fewer queries than relevance": Case(
        lambda: tp.evaluate_scores([[1.0]], [[0], [1]]), r"queries is 1 for the scores, but 2 for the relevance"
    ),
    "an empty list of scores": Case(
        lambda: tp.evaluate_scores([], []), r"The scores must contain a list for at least one query"
    ),
    "scores without columns, and no gallery labels": Case(
        lambda: tp.evaluate_scores(np.zeros((2, 0)), labels=[0, 0], gallery_labels=[]),
        r"scores have no columns, so that nothing is ranked\. Pass a column for each item",
    ),
    "unjudged documents of lists that were cut off": Case(
        lambda: tp.evaluate_run(QRELS, {"q": {"a": 1.0}}, measures=["unj_5"], truncated=True),
        r"'Unjudged@5' describes the documents of a list as it is, .* Leave out truncated, or the measure",
    ),
    "truncated= that is neither true nor false": Case(
        lambda: tp.evaluate_run(QRELS, {"q": {"a": 1.0}}, truncated="no"),  # type: ignore[arg-type]
        r"truncated must be True or False, or the number of documents from which on a list was cut off, not 'no'",
    ),
    "scores in three dimensions": Case(lambda: tp.evaluate_scores(np.zeros((1, 2, 3)), []), r"shape \(1, 2, 3\)"),
    "scores of one dimension": Case(
        lambda: tp.evaluate_scores([0.9, 0.5], [1, 0]),
        r"not of the shape \(2,\)\. For a single query, pass a matrix of one row, \[scores\]",
    ),
    "scores without relevance or labels": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0]]), r"either relevance or labels="
    ),
    "labels alone for a score matrix that is not square": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0]], labels=[0]),
        r"shape \(1, 2\), which is not square.*Pass gallery_labels=",
    ),
    "labels for score lists of different lengths": Case(
        lambda: tp.evaluate_scores([[1.0, 2.0], [1.0]], labels=[0, 0]),
        r"rows of 1 to 2 items, but labels need a matrix",
    ),
    "labels together with n_relevant": Case(
        lambda: tp.evaluate_distances(SQUARE, labels=[0, 0], n_relevant=3), r"labels are for whole rankings"
    ),
    "a grade larger than any grade scale of ERR": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 999_999]], measures=["ERR"]),
        r"one grade is 999999\. The largest grade of a scale must be less than 400",
    ),
    "ERR for thousands of tied items with several grades": Case(
        lambda: tp.evaluate_scores([np.zeros(6000)], [np.tile([1, 2], 3000)], measures=["ERR(max_grade=12)"]),
        r"'ERR\(max_grade=12\)' would take minutes for a tie of 6,000 items, 6,000 of them relevant .*"
        r"Add a cutoff, or use a smaller one, such as 'ERR\(max_grade=12\)@100'",
    ),
    "a grade larger than max_grade of ERR": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 5]], measures=["ERR@20"]),
        r"'ERR@20' expects grades up to 4, but one grade is 5\..*such as 'ERR\(max_grade=5\)@20'",
    ),
    "ERR with n_relevant, for lists that were cut off": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 3]], measures=["ERR"], n_relevant=[2]),
        r"'ERR' needs the grades of the relevant items that are not in the list.*without n_relevant",
    ),
    "bpref with n_relevant, for lists that were cut off": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0]], [[0, 1]], measures=["bpref"], n_relevant=[1]),
        r"'bpref' divides by .* which is unknown for lists that were cut off.*or pass qrels and a run",
    ),
    "bpref for qrels without a document of grade 0": Case(
        lambda: tp.evaluate_run({"q": {"a": 1, "b": -1}}, {"q": {"a": 2.0, "b": 1.0}}, measures=["AP", "bpref"]),
        r"'bpref' counts the documents that were judged not relevant.*the qrels have no document of grade 0",
    ),
    "gallery labels without labels": Case(
        lambda: tp.evaluate_distances(SQUARE, [[0, 1], [1, 0]], gallery_labels=[0, 0]),
        r"gallery_labels were passed without labels",
    ),
    "a run with both large integers and floats as scores": Case(
        lambda: tp.evaluate_run(QRELS, {"q": {"a": np.int64(2**60 + 1), "b": 0.5}}),
        r"must not mix integers that float64 cannot represent",
    ),
    "a response of a search engine whose hits have no score": Case(
        lambda: tp.evaluate_run(QRELS, {"q": {"hits": {"hits": [{"_id": "a", "_score": None}]}}}),
        r"The hit 'a' of query 'q' has no _score.*track_scores in Elasticsearch",
    ),
    "a document that is retrieved twice": Case(
        lambda: tp.evaluate_run(QRELS, {"q": [{"_id": "a", "_score": 2}, {"_id": "a", "_score": 1}]}),
        r"document 'a' occurs twice for query 'q', at places 1 and 2. Keep one of them, or pass duplicates='first'",
    ),
    "a query id that ends in a NUL character": Case(
        lambda: tp.evaluate_run(QRELS, {"q\0": {"a": 1}}), r"'q\\x00' ends in a NUL character"
    ),
    "a run with two columns called score": Case(
        lambda: tp.evaluate_run(QRELS, two_scores()),
        r"The run must have only one column with the name 'score', not 2",
    ),
    "a neighbor id outside the gallery": Case(
        lambda: tp.evaluate_neighbors([[0, 7]], labels=[0], gallery_labels=[0, 1, 0]),
        r"ids contain 7 for query 0, but there are 3 items. Pass ids from 0 to 2, and -1 where nothing was found",
    ),
    "a neighbor that is listed twice": Case(
        lambda: tp.evaluate_neighbors([[0, 1], [2, 2]], labels=[0, 0], gallery_labels=[0, 1, 0]),
        r"ids contain item 2 twice for query 1.*usearch",
    ),
    "neighbor ids that are floats": Case(
        lambda: tp.evaluate_neighbors([[0.0, 1.0]], labels=[0], gallery_labels=[0, 1]),
        r"ids must be integers, the positions of items in the gallery from 0 on, but are float64",
    ),
    "neighbor distances passed before the ids": Case(
        lambda: tp.evaluate_neighbors([[0.5, 0.75]], [[0, 1]], labels=[0], gallery_labels=[0, 1]),
        r"are float64\..*faiss returns distances and ids: pass its second array first",
    ),
    "neighbors with n_items=2^63": Case(
        lambda: tp.evaluate_neighbors([[0]], relevance=[(0, 0)], n_items=2**63, measures=["P@1"]),
        r"n_items is 9223372036854775808, and the number of queries is 1, but their product must be at most 2\^63",
    ),
    "neighbors with empty gallery_labels": Case(
        lambda: tp.evaluate_neighbors([[0]], labels=[0], gallery_labels=[]), r"gallery labels are empty\. Pass one"
    ),
    "the Qdrant points of a single query": Case(
        lambda: tp.evaluate_neighbors(points(1, 2), labels=[0], gallery_labels=[0, 1]),
        r"answer to a single query\. Pass a list of the answers",
    ),
    "neighbor ids that are strings": Case(
        lambda: tp.evaluate_neighbors([["a", "b"]], labels=[0], gallery_labels=[0, 1]), r"ids are names"
    ),
    "neighbor ids of a single query, in one dimension": Case(
        lambda: tp.evaluate_neighbors([0, 1], labels=[0], gallery_labels=[0, 1]),
        r"shape \(2,\).*pass a matrix of one row, \[ids\]",
    ),
    "the Qdrant response to a single query": Case(
        lambda: tp.evaluate_neighbors(SimpleNamespace(points=[]), labels=[0], gallery_labels=[0, 1]),
        r"answer to a single query\. Pass a list of the answers",
    ),
    "usearch matches together with distances": Case(
        lambda: tp.evaluate_neighbors(MATCHES, [[0.5]], labels=[0], gallery_labels=[0, 1]),
        r"ids are matches, which contain their distances or scores\. Pass them alone",
    ),
    "Qdrant points whose scores increase in one list, decrease in another": Case(
        lambda: tp.evaluate_neighbors([points(1, 2), points(2, 1)], labels=[0, 0], gallery_labels=[0, 1]),
        r"scores of the points decrease in some lists and increase in others",
    ),
    "NaN in the distances of neighbors": Case(
        lambda: tp.evaluate_neighbors([[1, 0]], [[0.5, np.nan]], labels=[0], gallery_labels=[0, 1]),
        r"query 0 has nan for item 0.*with usearch pass counts=",
    ),
    "fewer distances than neighbor ids in a list": Case(
        lambda: tp.evaluate_neighbors([[1, 0]], [[0.5]], labels=[0], gallery_labels=[0, 1]),
        r"The number of distances of query 0 is 1, but the number of its ids is 2\. Pass exactly one for each id",
    ),
    "distances for fewer queries than the neighbor ids": Case(
        lambda: tp.evaluate_neighbors([[1], [0]], [[0.5]], labels=[0, 1], gallery_labels=[0, 1]),
        r"queries is 1 for the distances, but 2 for the ids",
    ),
    "both distances and scores= of neighbors": Case(
        lambda: tp.evaluate_neighbors([[1]], [[0.5]], scores=[[0.5]], labels=[0], gallery_labels=[0, 1]),
        r"either distances, where smaller is nearer, or scores=",
    ),
    "integer distances beyond 2^53 in one list, floats in another": Case(
        lambda: tp.evaluate_neighbors([[1], [0]], [[2**60], [0.5]], labels=[0, 1], gallery_labels=[0, 1]),
        r"distances of query 0 contain an integer beyond 2\^53",
    ),
    "counts= larger than the length of a list": Case(
        lambda: tp.evaluate_neighbors([[1, 0]], counts=[3], labels=[0], gallery_labels=[0, 1]),
        r"counts contain 3 for query 0, whose list has 2 entries",
    ),
    "counts= with floats": Case(
        lambda: tp.evaluate_neighbors([[1, 0]], counts=[0.5], labels=[0], gallery_labels=[0, 1]),
        r"counts must be integers of the shape \(1,\), one for each query, but are float64",
    ),
    "fewer labels than lists of neighbors": Case(
        lambda: tp.evaluate_neighbors([[1], [0]], labels=[0]),
        r"number of labels is 1, but the number of queries is 2\. Pass exactly one for each",
    ),
    "neighbors without labels or relevance=": Case(
        lambda: tp.evaluate_neighbors([[1]]), r"either labels or relevance="
    ),
    "relevance= for neighbors without n_items": Case(
        lambda: tp.evaluate_neighbors([[1]], relevance=[(0, 1)]), r"relevance does not tell how many items.*n_items"
    ),
    "n_items that differs from the number of gallery labels": Case(
        lambda: tp.evaluate_neighbors([[1]], labels=[0], gallery_labels=[0, 1], n_items=3),
        r"n_items is 3, but there are 2 gallery labels",
    ),
    "n_items that differs from the number of queries in leave-one-out": Case(
        lambda: tp.evaluate_neighbors([[1], [0]], labels=[0, 1], n_items=3),
        r"n_items is 3, but there are lists of 2 queries and no gallery_labels",
    ),
    "gallery_labels for neighbors without labels": Case(
        lambda: tp.evaluate_neighbors([[1]], relevance=[(0, 1)], gallery_labels=[0, 1]),
        r"gallery_labels were passed without labels",
    ),
    "gallery_groups for neighbors without gallery_labels": Case(
        lambda: tp.evaluate_neighbors([[1], [0]], labels=[0, 1], gallery_groups=[0, 1]),
        r"gallery_groups were passed without gallery_labels",
    ),
    "an unknown value of unanswered=": Case(
        lambda: tp.evaluate_answers([[1.0], [2.0]], [0, 0], unanswered="first"),  # type: ignore[arg-type]
        r"Unknown unanswered='first'\. Known: worst, last",
    ),
    "an unknown value of search=": Case(
        lambda: tp.evaluate_neighbors([[1]], labels=[0], gallery_labels=[0, 1], search="ivf"),  # type: ignore[arg-type]
        r"Unknown search='ivf'\. Known: exact, approximate, returned",
    ),
    "AP for neighbors in a gallery of 1,000,000,000 items": Case(
        lambda: tp.evaluate_neighbors([[1]], relevance=[(0, 1)], n_items=10**9, measures=["P@1", "AP"]),
        r"AP depends on whole rankings, and 1,000,000,000 items are.*such as AP@100",
    ),
    "a number without a name among the measures": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 1], [1, 0]], measures="AP,10"), r"Unknown measure '10'"
    ),
    "an audit with an infinite time limit": Case(
        lambda: tp.audit(max, takes="embeddings", time_limit=float("inf")),
        r"time_limit must be a number of seconds above 0 and at most 1,000,000, not inf",
    ),
    "an audit of an evaluator that returns a tuple": Case(
        lambda: tp.audit(lambda embeddings, labels: (0.5, 0.1), attacks=["zeros"]),
        r"cannot be audited: for random embeddings it returned a tuple; a number or a dict of numbers was expected"
        r".* lambda \*given:",
    ),
    "an audit of an evaluator that returns percentages": Case(
        lambda: tp.audit(lambda embeddings, labels: 50.0, attacks=["zeros"]),
        r"gives 50 \(score\) for random embeddings, outside the limits 0 and 1\. .*limits=\(0, 100\)",
    ),
    "an audit with too few items": Case(
        lambda: tp.audit(max, takes="embeddings", items=10), r"items must be a whole number of at least 40, not 10"
    ),
    "an audit with an unknown average=": Case(
        lambda: tp.audit(max, takes="embeddings", average="mode"),  # type: ignore[arg-type]
        r"Unknown average='mode'\. Known: mean, macro, other\.",
    ),
    "an audit whose attacks are all skipped": Case(
        lambda: tp.audit(lambda embeddings, labels: 0.5, attacks=["zeros"], skip=["zeros"]),
        r"No attack is left to run: skip names all attacks",
    ),
    "an audit of a recall that returns percentages": Case(
        lambda: tp.audit(lambda found, distances, truth: 50.0),
        r"gives 50 \(score\) for the true neighbors, outside the limits 0 and 1\. .*limits=\(0, 100\)",
    ),
    "an audit of a recall that returns a tuple": Case(
        lambda: tp.audit(lambda found, distances, truth: (0.5, 0.1)),
        r"cannot be audited: for the true neighbors it returned a tuple.* lambda \*given:",
    ),
    "an audit of a recall that takes other arguments": Case(
        lambda: tp.audit(lambda found, truth: 0.5, takes="recall"),
        r"refuses the true neighbors \(TypeError: .* called with \(found int64 \(60, 10\), .*such as the one",
    ),
    "an audit of an evaluator that crashes": Case(
        lambda: tp.audit(lambda embeddings, labels: dict[str, float]()["AP"]),
        r"fails on random embeddings \(KeyError: 'AP'\)\. It was called with \(embeddings float32 \(240, 16\)",
    ),
    "an audit of a program that fails": Case(
        lambda: tp.audit(Command("false {qrels} {run}")),
        r"refuses random embeddings \(ValueError: the command exited with status 1.* Run it on two such files",
    ),
    "an audit of a recall without limits": Case(
        lambda: tp.audit(lambda found, distances, truth: 0.5, limits=None),
        r"limits is None, but .* the numbers for no and for all true neighbors",
    ),
    "an audit of a recall with measure=": Case(
        lambda: tp.audit(lambda found, distances, truth: 0.5, measure="P@10"),
        r"measure says nothing of an evaluator of recall\. Leave it out",
    ),
    "an audit of a recall with pooled=": Case(
        lambda: tp.audit(lambda found, distances, truth: 0.5, pooled=True),
        r"pooled says nothing of an evaluator of recall\. Leave it out",
    ),
    "an audit of a recall by an attack on rankings": Case(
        lambda: tp.audit(lambda found, distances, truth: 0.5, attacks=["zeros"]),
        r"attack 'zeros' does not apply to an evaluator that takes \(found, distances, truth\)",
    ),
    "an audit of a ranking by an attack on recalls": Case(
        lambda: tp.audit(lambda embeddings, labels: 0.5, attacks=["repeated ids"]),
        r"attack 'repeated ids' does not apply to an evaluator that takes \(embeddings, labels\)",
    ),
    "rel under noise": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 2], [1, 0]], measures=["AP(rel=2)"], noise=0.1),
        r"'AP\(rel=2\)' has no bounds under noise.*Set smaller grades to 0",
    ),
    "RBP of grades under noise": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 2], [1, 0]], measures=["RBP(gain=linear)"], noise=0.1),
        r"'RBP\(gain=linear\)' reads grades, and its bounds under noise are known only if all grades are 1",
    ),
    "a distribution of a measure that divides by the hits above a cutoff": Case(
        lambda: tp.evaluate_scores([[1.0, 1.0]], [[0, 1]], measures=["AP(norm=hits)@1"]).distribution(
            "AP(norm=hits)@1"
        ),
        r"'AP\(norm=hits\)@1' has no distribution here.*Use 'AP@1', or leave out the cutoff",
    ),
    "a distribution of lists whose last tie may continue": Case(
        lambda: tp.evaluate_scores([[2.0, 1.0, 1.0]], [[0, 1, 0]], measures=["AP"], n_relevant=[2]).distribution(
            "AP"
        ),
        r"unseen items.*Pass whole lists",
    ),
    "a distribution with too fine a resolution": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 1], [1, 0]]).distribution("AP", resolution=1e-9),
        r"resolution must be a number from 1e-07 to 1, not 1e-09",
    ),
    "a distribution that would take minutes": Case(
        lambda: tp.evaluate_scores(np.zeros((1, 4000)), (np.arange(4000) % 2)[None]).distribution("AP"),
        r"would take minutes: a tie has 4,000 items\. Pass distribution\(…, resolution=5e-3\), which takes seconds",
    ),
    "a quantile at no probability": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 1], [1, 0]]).distribution("AP").quantile(2.0),
        r"probability must be a number from 0 to 1, not 2\.0",
    ),
    "the probability of NaN": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 1], [1, 0]]).distribution("AP").at_least(np.nan),
        r"value must be a number, not nan",
    ),
    "an unknown rule for ties": Case(
        lambda: of_run().as_printed("id", qrels=QRELS, run=RUN), r"Unknown rule='id'\. Known: trec_eval, pytrec_eval"
    ),
    "the printed value without the data": Case(
        lambda: of_run().as_printed("trec_eval"),
        r"A result does not keep its data\. Pass it again, .*as_printed\('trec_eval', qrels=…, run=…\)",
    ),
    "the printed value of another run": Case(
        lambda: of_run().as_printed("trec_eval", qrels=QRELS, run={"q": {"a": 2.0}}),
        r"The data is not that of the result: its fingerprint is",
    ),
    "a rule of ids for lists": Case(
        lambda: tp.evaluate_scores(SQUARE, [[0, 1], [1, 0]]).as_printed("trec_eval", scores=SQUARE),
        r"The rule 'trec_eval' needs the ids of documents, but lists of scores have none\. Use position or reversed",
    ),
    "the printed value of embeddings": Case(
        lambda: tp.evaluate(SQUARE, [0, 0]).as_printed("position", embeddings=SQUARE),
        r"as_printed takes results of evaluate_run, evaluate_scores and evaluate_distances, not of evaluate\.",
    ),
    "a result of Chroma as a run": Case(
        lambda: tp.evaluate_run(QRELS, {"q": {"ids": [["a"]], "distances": [[0.5]]}}),
        r"This is a result of Chroma, with ids and distances, of which smaller ones are nearer",
    ),
    "results of LangChain as a run": Case(
        lambda: tp.evaluate_run(QRELS, {"q": [(SimpleNamespace(id="a", page_content="…"), 0.5)]}),
        r"These are pairs of LangChain, of a document and a score, which is a distance in some stores",
    ),
}
