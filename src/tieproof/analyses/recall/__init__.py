"""The recall of an index of nearest neighbors, over all choices of tied neighbors."""
