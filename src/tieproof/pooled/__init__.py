"""Pairs of all queries together: quantiles of their distances and the pairs beyond them, counted and never stored.

    fnmr.py ─► pool.py: stripes of pairs ─► counting.py: order statistics, relevant pairs beyond them ─► rates.py
                  │                              │
               gauges.py: values and their errors, exact keys (functions.py: a function's floats)
                  │
               exact_pairs.py, reals.py: integers, fractions and the float64 nearest to them

The whole way costs about three times the matrix product in float64: two passes find the order statistics, and the
pairs that their errors leave open, a few of all, are decided exactly.
"""
