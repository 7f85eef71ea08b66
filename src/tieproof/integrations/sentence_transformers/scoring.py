"""How a task is scored: distances of score functions, and metrics with their CSV table."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import torch
from sentence_transformers import SimilarityFunction

from tieproof import Result
from tieproof.errors import InputError
from tieproof.integrations.sentence_transformers.encoding import BINARY, Precision
from tieproof.kit import Array, DistanceFunction, atomic_write, check_choice, check_whole

try:
    from sentence_transformers.sentence_transformer import evaluation
except ModuleNotFoundError:  # before version 5.4
    from sentence_transformers import evaluation

BaseEvaluator: Any = evaluation.SentenceEvaluator
NanoBEIREvaluator: Any = evaluation.NanoBEIREvaluator

ScoreFunction = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_DISTANCES = {
    "cosine": "cosine",
    "dot": "dot",
    "euclidean": "euclidean",
    "manhattan": "cityblock",
    "maxsim": "maxsim",
    "meanmaxsim": "meanmaxsim",
}
"""The distance of tieproof with the same ranking as each similarity; the last two are of several vectors per text."""

_HAMMING = "hamming"
"""The name of the score function of binary codes, whose distance is the number of bits that differ."""


def check_precision(precision: str | None, score_functions: Mapping[str, ScoreFunction] | None) -> None:
    """Refuse an unknown precision, all but a non-empty dictionary of functions, and functions for binary codes."""
    if score_functions is not None and not (isinstance(score_functions, Mapping) and score_functions):
        given = "an empty one" if isinstance(score_functions, Mapping) else type(score_functions).__name__
        raise InputError(
            f'score_functions must be a dictionary such as {{"cosine": cos_sim}}, not {given}. Leave it out to use '
            "the similarity of the model.",
            "score_functions",
        )
    for name, function in (score_functions or {}).items():
        if not isinstance(name, str) or not callable(function):
            raise InputError(
                f"score_functions must map names to functions of two tensors, but contains {name!r}: {function!r}.",
                "score_functions",
            )
    if precision is not None:
        check_choice("precision", precision, get_args(Precision))
    if precision in BINARY and score_functions is not None:
        raise InputError(
            f"score_functions cannot be used with precision='{precision}', whose codes are compared by Hamming "
            "distance. Leave score_functions out.",
            "score_functions",
        )


def distances_for(
    model: Any, score_functions: Mapping[str, ScoreFunction] | None, precision: str | None
) -> dict[str, str | DistanceFunction]:
    """The distances by the names of the score functions, sorted."""
    if precision in BINARY:
        return {_HAMMING: _HAMMING}
    if score_functions is not None:
        return {name: distance_of(score_functions[name]) for name in sorted(score_functions)}
    name = model.similarity_fn_name
    if name not in _DISTANCES:
        raise InputError(
            f"The similarity of the model is '{name}', which is not one of {', '.join(_DISTANCES)}. Choose one of "
            "them, or pass score_functions."
        )
    return {name: _DISTANCES[name]}


def distance_of(function: ScoreFunction) -> str | DistanceFunction:
    """The distance that ranks as a score function does: exact for the library's functions, else by its floats."""
    known = SimilarityFunction.possible_values()  # before version 6, none of several vectors
    for name, distance in _DISTANCES.items():
        if name in known and function is SimilarityFunction.to_similarity_fn(name):
            return distance

    def negative(queries: Array, items: Array) -> Array:
        scores = torch.as_tensor(function(_as_tensor(queries), _as_tensor(items))).detach().cpu()
        distances: Array = scores.double().neg().numpy()
        return distances

    negative.__name__ = getattr(function, "__name__", type(function).__name__)
    return negative


def _as_tensor(embeddings: Array) -> torch.Tensor:
    """Embeddings as floats, because score functions divide and square them."""
    floats = embeddings if embeddings.dtype.kind == "f" else embeddings.astype(np.float32)
    return torch.tensor(floats)


ENDS = ("", "_lower", "_expected", "_upper")
"""The suffixes of the name of a metric: none, which is the lower bound, and then each bound."""

_FAMILIES = {
    "accuracy": ("Accuracy", "Success"),
    "precision": ("Precision", "P"),
    "recall": ("Recall", "R"),
    "mrr": ("MRR", "RR"),
    "ndcg": ("NDCG", "nDCG"),
    "map": ("MAP", "AP(norm=min)"),
}
"""The metrics by their names in dictionaries: their names in columns, and the measures of tieproof.

They follow `compute_metrics` in version 6.2. Precision divides by k, and recall by the number of relevant documents.
MRR uses the first relevant document down to rank k. The gains of nDCG are 0 and 1, and its ideal ranking has all
relevant documents. MAP divides by the smaller of k and the number of relevant documents.
"""


class Metric(NamedTuple):
    """A metric at a cutoff: its name in dictionaries, its name in columns, and the measure of tieproof."""

    name: str
    column: str
    measure: str


def metrics_at(cutoffs: Mapping[str, Sequence[int]]) -> list[Metric]:
    """The metrics at their cutoffs, in the order of the columns."""
    metrics = []
    for name, values in cutoffs.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            raise InputError(f"{name} must be a list of cutoffs such as [10], not {values!r}.", name)
        for k in values:
            check_whole(name, k, 1)
        for k in map(int, dict.fromkeys(values)):
            for family in name.removesuffix("_at_k").split("_"):
                column, measure = _FAMILIES[family]
                metrics.append(Metric(f"{family}@{k}", f"{column}@{k}", f"{measure}@{k}"))
    return metrics


def measures_of(metrics: Sequence[Metric]) -> list[str]:
    """The measures of metrics, and Success@k for every R@k, without which tieproof warns that R@k may mean it."""
    measures = [metric.measure for metric in metrics]
    return measures + [f"Success{name[1:]}" for name in measures if name.startswith("R@")]


def columns(metrics: Sequence[Metric], names: Sequence[str]) -> list[str]:
    """The columns of a table: each metric of each score function, with its bounds."""
    return [f"{name}-{metric.column}{end}" for name in names for metric in metrics for end in ENDS]


def values(metrics: Sequence[Metric], results: Mapping[str, Result]) -> dict[str, float]:
    """The values in the order of the columns, by their names in dictionaries; the plain name is the lower bound."""
    return {
        f"{name}_{metric.name}{end}": getattr(result[metric.measure], end.lstrip("_") or "lower")
        for name, result in results.items()
        for metric in metrics
        for end in ENDS
    }


def file_for(output_path: str | None, name: str, columns: Sequence[str]) -> Path | None:
    """The path of the table with this name, None without an output_path; a table with other columns is refused."""
    if output_path is None:
        return None
    path = Path(output_path, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return path
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            there = next(csv.reader(file), [])
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}). Pass another output_path, or write_csv=False to the "
            "evaluator.",
            "output_path",
        ) from error
    if there and there != list(columns):
        pairs = zip_longest(there, columns, fillvalue="no column")
        had, expected = next(pair for pair in pairs if pair[0] != pair[1])
        raise InputError(
            f"{path} has other columns than this evaluation: '{had}', where '{expected}' is expected. Move the file "
            "away, or pass another name= to the evaluator."
        )
    return path


def add_row(path: Path, columns: Sequence[str], row: Sequence[Any]) -> None:
    """Add a row at the end of a table; on an error the file is left unchanged."""
    added = io.StringIO(newline="")
    writer = csv.writer(added, lineterminator="\n")
    before = path.read_bytes() if path.exists() else b""
    if not before.strip():
        before = b""
        writer.writerow(columns)
    elif not before.endswith(b"\n"):
        added.write("\n")
    writer.writerow(row)
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(before + added.getvalue().encode())
