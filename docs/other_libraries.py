"""Numbers of other libraries that no ordering of tied items scores; what_they_print.py writes them into its page.

Needs the libraries of the extra `heavy`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tieproof as tp

INTRODUCTION = """## Numbers that no ordering scores

Most numbers are between `lower` and `upper`, as above. `tests/measures/test_parity.py` checks this, and that all
libraries agree with tieproof where nothing is tied. These calls return a number that no ordering of the tied items
scores:

| library | function | scores | relevance | it returns | lower to upper | reason |
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
        """The number that the library returns."""
        return float(self.print(self.scores, self.relevance))

    def ours(self) -> "tp.Estimate[float]":
        """The interval over all orderings of the tied items."""
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
    "it evaluates at thresholds: every relevant item of a tie counts with the precision at the tie's last rank, "
    "which only one item can have"
)
IN_FLOAT32 = (
    "it stores scores in float32, in which these two are equal, and sorts tied documents by id in descending order"
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
        "as above",
    ),
    Case(
        "ranx",
        "`rbp.80`",
        ranx_rbp,
        "RBP",
        [2, 1],
        [3, 0],
        "it adds up grades, so the sum can exceed 1; gains of Moffat and Zobel are from 0 to 1; with grades of 0 and "
        "1 it agrees",
    ),
    Case("pytrec_eval", "`map`", trec_map, "AP", [0.500000001, 0.5], [1, 0], IN_FLOAT32),
    Case("ir_measures", "`AP`", irm_ap, "AP", [0.500000001, 0.5], [1, 0], "it calls pytrec_eval"),
    Case(
        "torchmetrics",
        "`retrieval_average_precision`",
        torchmetrics_ap,
        "AP",
        [-1.0, -2.0, -3.0],
        [1, 0, 1],
        "it treats items with scores of 0 or less as not relevant",
    ),
    Case(
        "tie-aware-retrieval-metrics",
        "`precision@5`, maximum",
        trm_precision,
        "P@5",
        [1, 1],
        [1, 0],
        "with a cutoff beyond the end of the list, its bounds divide by the length of the list and its expected "
        "value by the cutoff; otherwise its interval is the same",
    ),
]


DEFINITIONS = """
## One name, several definitions

Each of these two names has several definitions. `tests/calls/test_judged_only.py` and
`tests/measures/test_parity.py` compare tieproof with the programs that are named here.

- **ERR** models a reader who stops at an item of grade g with probability (2^g - 1) / 2^max. For Chapelle et al.
  2009, max is the largest grade of the scale. gdeval, which ir_measures runs for `ERR@20`, uses max = 4 for every
  scale and refuses larger grades, and so does `ERR@20` here. With binary labels it cannot exceed 0.18; write
  `ERR(max_grade=1)@20` for them.
- **bpref** divides by R in the paper of Buckley and Voorhees 2004, and by min(R, N) in trec_eval, pytrec_eval,
  ir_measures, ranx and tieproof, where N is the number of documents that were judged not relevant. In trec_eval, a
  document with a negative grade is not judged; in ranx it is judged and counts in N. If N is 0, trec_eval counts
  each relevant document that was retrieved as 1, and ranx divides by 0. tieproof refuses bpref if no qrels have
  other documents, as many of BEIR, and counts as trec_eval does if only some queries lack them.
"""


def section() -> str:
    """The part of the page."""
    return INTRODUCTION + "".join(map(row, CASES)) + DEFINITIONS


def row(case: Case) -> str:
    """A line of the table."""
    estimate = case.ours()
    lists = (", ".join(map(str, values)) for values in (case.scores, case.relevance))
    interval = f"{case.measure}: {estimate.lower:.4f} to {estimate.upper:.4f}"
    cells = (case.package, case.function, *lists, f"{case.printed():.4f}", interval, case.why)
    return f"| {' | '.join(cells)} |\n"
