"""What other libraries print that no ordering of tied items scores. Writes other_libraries.md beside this script.

Needs the libraries of the extra `heavy`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tieproof as tp

PAGE = Path(__file__).with_suffix(".md")

INTRODUCTION = """<!-- Written by docs/other_libraries.py from what the libraries print. -->

# Other libraries

Most libraries break ties by some order: of the data, of a sorting algorithm or of document ids. What they print then
lies between `lower` and `upper`, and moves between them when the data is permuted; `tests/measures/test_parity.py`
checks both, and that all agree with tieproof where nothing is tied. These print what no ordering of the tied items
scores ([what they print](what_they_print.md) for one ranking full of ties is a page of its own):

| library | function | scores | relevance | it prints | lower to upper | why |
|---|---|---|---|---|---|---|
"""


class Case(NamedTuple):
    """A call of a library, and our measure of the same ranking."""

    package: str
    function: str
    print: Callable[[Sequence[float], Sequence[int]], float]
    measure: str
    scores: Sequence[float]
    relevance: Sequence[int]
    why: str

    def printed(self) -> float:
        """What the library prints."""
        return float(self.print(self.scores, self.relevance))

    def ours(self) -> "tp.Estimate[float]":
        """What orderings of the tied items score."""
        return tp.evaluate_scores([self.scores], [self.relevance], measures=[self.measure])[self.measure]


def sklearn_ap(scores: Sequence[float], relevance: Sequence[int]) -> float:
    """Average precision of scikit-learn."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(relevance, scores))


def sklearn_lrap(scores: Sequence[float], relevance: Sequence[int]) -> float:
    """Label ranking average precision of scikit-learn."""
    from sklearn.metrics import label_ranking_average_precision_score

    return float(label_ranking_average_precision_score([relevance], [scores]))


def by_document(values: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """The items of one query as documents a, b, c and so on."""
    return {"q": {chr(ord("a") + place): value for place, value in enumerate(values)}}


def ranx_rbp(scores: Sequence[float], relevance: Sequence[int]) -> float:
    """Rank-biased precision of ranx."""
    import ranx

    return float(ranx.evaluate(ranx.Qrels(by_document(relevance)), ranx.Run(by_document(scores)), "rbp.80"))


def trec_map(scores: Sequence[float], relevance: Sequence[int]) -> float:
    """Average precision of trec_eval."""
    import pytrec_eval

    return float(
        pytrec_eval.RelevanceEvaluator(by_document(relevance), {"map"}).evaluate(by_document(scores))["q"]["map"]
    )


def irm_ap(scores: Sequence[float], relevance: Sequence[int]) -> float:
    """Average precision of ir_measures."""
    import ir_measures

    return float(
        ir_measures.calc_aggregate([ir_measures.AP], by_document(relevance), by_document(scores))[ir_measures.AP]
    )


def torchmetrics_ap(scores: Sequence[float], relevance: Sequence[int]) -> float:
    """Average precision of torchmetrics."""
    import torch
    from torchmetrics.functional.retrieval import retrieval_average_precision

    return float(retrieval_average_precision(torch.tensor(scores), torch.tensor(relevance) > 0))


def trm_precision(scores: Sequence[float], relevance: Sequence[int]) -> float:
    """The largest precision of tie-aware-retrieval-metrics."""
    import trm

    found = trm.evaluate([list(scores)], [[grade > 0 for grade in relevance]], metrics=["precision"], k_list=[5])
    return float(found.metrics["precision"][5].maximum)


BY_THRESHOLD = (
    "it cuts at thresholds: every relevant item of a tie counts the precision after the whole tie, which is that of "
    "the tie's last rank, and only one item can have that"
)
IN_FLOAT32 = (
    "it holds scores in float32, in which these two are equal, and then sorts by document id, the last one first"
)

CASES = [
    Case("scikit-learn", "`average_precision_score`", sklearn_ap, "AP", [2, 1, 1], [0, 1, 1], BY_THRESHOLD),
    Case(
        "scikit-learn",
        "`label_ranking_average_precision_score`",
        sklearn_lrap,
        "AP",
        [2, 1, 1],
        [0, 1, 1],
        "the same",
    ),
    Case(
        "ranx",
        "`rbp.80`",
        ranx_rbp,
        "RBP",
        [2, 1],
        [3, 0],
        "it adds up grades, where Moffat and Zobel have gains from 0 to 1, and so passes 1; without grades it agrees",
    ),
    Case("pytrec_eval", "`map`", trec_map, "AP", [0.500000001, 0.5], [1, 0], IN_FLOAT32),
    Case("ir_measures", "`AP`", irm_ap, "AP", [0.500000001, 0.5], [1, 0], "it asks pytrec_eval"),
    Case(
        "torchmetrics",
        "`retrieval_average_precision`",
        torchmetrics_ap,
        "AP",
        [-1.0, -2.0, -3.0],
        [1, 0, 1],
        "it takes items with scores of 0 or less for not relevant",
    ),
    Case(
        "tie-aware-retrieval-metrics",
        "`precision@5`, maximum",
        trm_precision,
        "P@5",
        [1, 1],
        [1, 0],
        "with a cutoff beyond the list its bounds divide by the length of the list, its expected value by the "
        "cutoff; else its interval is ours",
    ),
]


DEFINITIONS = """
## One name, several definitions

Two measures are computed differently under one name; `tests/calls/test_judged_only.py` and
`tests/measures/test_parity.py` compare with those that are named here.

- **ERR** stops a reader at an item of grade g with the chance (2^g - 1) / 2^max. Chapelle et al. 2009 take for max
  the largest grade of the scale. gdeval, which ir_measures runs for `ERR@20`, has 4 there whatever the scale, and
  refuses larger grades; so has `ERR@20` here, and `ERR(max_grade=1)@20` is that of labels, where `ERR@20` cannot pass
  0.18. Where max is the largest grade that happens to be judged, a new judgment changes the values of other queries.
  gdeval also prints five digits, and takes only queries that are numbers.
- **bpref** divides by R in the paper of Buckley and Voorhees 2004, and by min(R, N) in trec_eval, where N is the
  number of documents that were judged not relevant; so do pytrec_eval, ir_measures, ranx and tieproof. In trec_eval a
  document with a negative grade is not judged; in ranx it is, and counts in N. Where N is 0, trec_eval counts each
  relevant document that was retrieved as 1, and ranx divides by 0. Qrels with relevant documents alone, as many of
  BEIR's are, make bpref the share of them that was retrieved: tieproof refuses bpref where all qrels are like that,
  and counts as trec_eval does where only some queries are.
"""


def render() -> str:
    """The page."""
    return INTRODUCTION + "".join(map(row, CASES)) + DEFINITIONS


def row(case: Case) -> str:
    """A line of the table."""
    estimate = case.ours()
    lists = (", ".join(map(str, values)) for values in (case.scores, case.relevance))
    interval = f"{case.measure}: {estimate.lower:.4f} to {estimate.upper:.4f}"
    cells = (case.package, case.function, *lists, f"{case.printed():.4f}", interval, case.why)
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
