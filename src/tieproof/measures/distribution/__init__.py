"""The distribution of a score when the tied items of each query are ordered at random."""
