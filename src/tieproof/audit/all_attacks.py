"""The registry of attacks, once each of them is in it."""

from tieproof.audit import blind, invariances, order_search, truth  # noqa: F401 (each registers its attacks)
from tieproof.audit.attacks import ATTACKS

__all__ = ["ATTACKS"]
