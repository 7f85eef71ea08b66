"""How similar two rankings with ties are: rank-biased overlap, Kendall's tau and AP correlation."""
