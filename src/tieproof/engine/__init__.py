"""The public functions of the engine, from a problem to ties; README.md in this folder draws the modules behind them.

Modules that a problem does not need are not loaded.
"""

from typing import TYPE_CHECKING

from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.engine.collisions import FoundTies as FoundTies
    from tieproof.engine.collisions import collisions_of as collisions_of
    from tieproof.engine.collisions import paint as paint
    from tieproof.engine.dense import extremes_of_lists as extremes_of_lists
    from tieproof.engine.dense import last_ties as last_ties
    from tieproof.engine.dense import ties_of_lists as ties_of_lists
    from tieproof.engine.extremes import moved as moved
    from tieproof.engine.extremes import ranking_of as ranking_of
    from tieproof.engine.listed import NearestLists as NearestLists
    from tieproof.engine.merging import merged_lists as merged_lists
    from tieproof.engine.merging import places_of_pairs as places_of_pairs
    from tieproof.engine.methods import TiesByPart as TiesByPart
    from tieproof.engine.methods import ties_of as ties_of
    from tieproof.engine.nearest import nearest_lists as nearest_lists
    from tieproof.engine.nearest import nearest_of_numbers as nearest_of_numbers
    from tieproof.engine.nearest import nearest_space as nearest_space
    from tieproof.engine.nearest import neighbors_of as neighbors_of
    from tieproof.engine.portions import Others as Others
    from tieproof.engine.portions import Portion as Portion
    from tieproof.engine.portions import RankedQueries as RankedQueries
    from tieproof.engine.portions import others_of as others_of
    from tieproof.engine.portions import ranked_of as ranked_of
    from tieproof.engine.portions import ties_with_others as ties_with_others
else:
    __getattr__, __dir__ = exports(__name__)
