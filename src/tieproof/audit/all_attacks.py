"""The registry of attacks, once each of them is in it."""

from tieproof.audit import blind, lists, histories, order_search, invariances, truth  # noqa: F401, I001 (in this order)
from tieproof.audit.attacks import ATTACKS

__all__ = ["ATTACKS"]
