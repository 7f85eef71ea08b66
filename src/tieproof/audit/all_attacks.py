"""The registry of attacks, complete: importing this module registers all of them."""

from tieproof.audit import blind, lists, histories, order_search, invariances, truth  # noqa: F401, I001 (in this order)
from tieproof.audit.attacks import ATTACKS

__all__ = ["ATTACKS"]
