"""`TieproofNanoBEIREvaluator`: the data sets of NanoBEIR, each with its intervals over tied documents."""

from tieproof.integrations.sentence_transformers.evaluator import TieproofEvaluator
from tieproof.integrations.sentence_transformers.scoring import NanoBEIREvaluator


class TieproofNanoBEIREvaluator(NanoBEIREvaluator):  # type: ignore[misc]
    """`NanoBEIREvaluator`, whose data sets are evaluated by `TieproofEvaluator`.

    It takes the arguments of that evaluator, and returns its metrics: of each data set, and their means over the data
    sets. The value under the name of a metric is the lower bound over all orderings of tied documents; the suffixes
    `_lower`, `_expected` and `_upper` give the whole interval. `write_predictions=True` is refused.

    Raises
    ------
    ValueError
        A data set is unknown, or cannot be downloaded.

    """

    information_retrieval_class = TieproofEvaluator
