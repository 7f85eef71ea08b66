"""A provider of ir_measures: bounds over all orderings of tied documents, under the names of its measures.

Importing this package registers the provider 'tieproof', and adds the parameter `bound` to the names that ir_measures
parses; measures without a bound are computed as before. PyTerrier accepts the same measures. The extra is
`ir-measures`.

>>> import ir_measures
>>> from tieproof.integrations.ir_measures import nDCG
>>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.5}}
>>> ir_measures.calc_aggregate([nDCG(bound="expected") @ 10], qrels, run)
{nDCG(bound='expected')@10: 0.8154648767857288}
>>> ir_measures.parse_measure("RR(bound='lower')").calc_aggregate(qrels, run)
0.5
"""

from importlib.util import find_spec

from tieproof import errors

if find_spec("ir_measures") is None:
    raise errors.MissingExtraError("tieproof.integrations.ir_measures", "ir-measures")

from tieproof.integrations.ir_measures import bounded
from tieproof.integrations.ir_measures.provider import TieproofProvider, first_choice

__all__ = [*bounded.ALL, "TieproofProvider", "first_choice"]


def __getattr__(name: str) -> bounded.WithBound:
    """The measure of that name, with a bound."""
    if name not in bounded.ALL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return bounded.ALL[name]
