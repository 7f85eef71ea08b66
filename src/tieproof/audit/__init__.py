"""Attacks on evaluators: whether a blind system gains from one, and whether it depends on what must not matter.

driver.py draws what calls what; luck.py says when a difference counts; an attack is a record in blind.py,
order_search.py, invariances.py or truth.py.

`tieproof.audit` is the function; all else is imported from here by name.

>>> from tieproof.audit import ATTACKS
>>> ATTACKS["zeros"].kind
'blind'
"""

from tieproof.audit import blind, invariances, order_search, truth  # noqa: F401 (each registers its attacks)
from tieproof.audit.attacks import ATTACKS, Attack
from tieproof.audit.driver import audit
from tieproof.audit.report import AuditReport
from tieproof.audit.targets import Command
from tieproof.audit.verdicts import Finding, Verdict

__all__ = ["ATTACKS", "Attack", "AuditReport", "Command", "Finding", "Verdict", "audit"]
