"""The distance that a search of pytorch-metric-learning approximates."""

from typing import Any

from tieproof.errors import InputError

# The distance with the same ranking as each distance of the library, and as each index that FaissKNN makes.
_EXACT = {
    "CosineSimilarity": "cosine",
    "DotProductSimilarity": "dot",
    "FlatL2": "euclidean",
    "FlatIP": "dot",
    "LpDistance of p = 1": "cityblock",
    "LpDistance of p = 2": "euclidean",
}


def distance_of(knn_func: Any) -> str:
    """The distance whose exact ranking a search of the library approximates."""
    kind, distance = type(knn_func).__name__, getattr(knn_func, "distance", None)
    found = kind
    if kind == "FaissKNN":
        found = getattr(knn_func.index_init_fn, "__name__", "").removeprefix("Index")
    elif kind == "CustomKNN" and distance is not None:
        distance = getattr(distance, "distance", distance)  # of a BatchedDistance
        found = type(distance).__name__
        if found == "LpDistance":
            found += f" of p = {distance.p:g}"
        normalized = getattr(distance, "normalize_embeddings", False)
        if normalized and found in ("DotProductSimilarity", "LpDistance of p = 2"):
            return "cosine"  # of unit vectors, all three rank alike
        if normalized and found == "LpDistance of p = 1":
            found += " of normalized embeddings"
    if found not in _EXACT:
        raise InputError(
            f"knn_func is a {kind}{'' if found == kind else f' with {found or type(distance).__name__}'}, but only "
            f"these are ranked exactly: {', '.join(_EXACT)}. Pass distance= instead, which may also be a function."
        )
    return _EXACT[found]
