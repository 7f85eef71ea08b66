"""Ties in whole rankings: neighbours at the same distance or closer than epsilon, computed in batches of queries."""
