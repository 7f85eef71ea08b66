"""The evaluators that are audited, each called as its documentation says.

A function is one evaluator, and imports its library when it is called; `tieproof.audit` finds it by its name.
"""
