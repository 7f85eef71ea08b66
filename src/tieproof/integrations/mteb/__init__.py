"""Tasks of MTEB whose scores include the interval of every measure, next to MTEB's own number (extra `mteb`).

The scores of `mteb.evaluate(model, with_intervals(task))` include `ndcg_at_10_lower` and so on; `TieIntervals` is the
mixin for tasks of your own. `write_qrels` saves the judgments for `tieproof mteb predictions/`.
"""

from importlib.util import find_spec

from tieproof import errors

if find_spec("mteb") is None:
    raise errors.MissingExtraError("tieproof.integrations.mteb", "mteb")

from tieproof.integrations.mteb.tasks import TieIntervals, with_intervals, write_qrels

__all__ = ["TieIntervals", "with_intervals", "write_qrels"]
