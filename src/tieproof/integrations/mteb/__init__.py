"""Tasks of MTEB whose scores hold the interval of every measure, beside the number of MTEB (extra `mteb`).

`mteb.evaluate(model, with_intervals(task))` has `ndcg_at_10_lower` and the like among its scores; `TieIntervals` is
the mixin, for tasks of your own. `write_qrels` keeps what is relevant, for `tieproof mteb predictions/`.
"""

from importlib.util import find_spec

from tieproof import errors

if find_spec("mteb") is None:
    raise errors.MissingExtraError("tieproof.integrations.mteb", "mteb")

from tieproof.integrations.mteb.tasks import TieIntervals, with_intervals, write_qrels

__all__ = ["TieIntervals", "with_intervals", "write_qrels"]
