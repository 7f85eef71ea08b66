"""The metrics of `InformationRetrievalEvaluator`: their names, their columns, and tieproof's measure for each."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.errors import InputError
from tieproof.evaluation.result import Result
from tieproof.inputs.options import check_whole
from tieproof.whole_files import atomic_write

BOUNDS = ("lower", "expected", "upper")

FAMILIES = {
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
    """A metric at a cutoff: its name in dictionaries, its name in columns, and the measure of tieproof.

    >>> Metric.of("map", 100)
    Metric(name='map@100', column='MAP@100', measure='AP(norm=min)@100')
    """

    name: str
    column: str
    measure: str

    @classmethod
    def of(cls, family: str, k: int) -> "Metric":
        """The metric of a family at a cutoff."""
        column, measure = FAMILIES[family]
        return cls(f"{family}@{k}", f"{column}@{k}", f"{measure}@{k}")


def metrics_at(cutoffs: Mapping[str, Sequence[int]]) -> list[Metric]:
    """The metrics at their cutoffs, in the order of the columns.

    >>> cutoffs = {"accuracy_at_k": [1], "precision_recall_at_k": [1, 3], "mrr_at_k": [10]}
    >>> [metric.column for metric in metrics_at(cutoffs)]
    ['Accuracy@1', 'Precision@1', 'Recall@1', 'Precision@3', 'Recall@3', 'MRR@10']
    """
    return [
        Metric.of(family, int(k))
        for name, values in cutoffs.items()
        for k in checked_cutoffs(name, values)
        for family in name.removesuffix("_at_k").split("_")
    ]


def checked_cutoffs(name: str, values: Any) -> list[int]:
    """Check a list of cutoffs, and return it without repetitions; an empty list is refused."""
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise InputError(f"{name} must be a list of cutoffs such as [10], not {values!r}.", name)
    for k in values:
        check_whole(name, k, 1)
    return list(dict.fromkeys(values))


def measures_of(metrics: Sequence[Metric]) -> list[str]:
    """The measures of metrics, and Success@k for every R@k.

    If Success@k is missing, tieproof warns that papers on metric learning mean it by R@k; here the names are
    distinct.

    >>> measures_of([Metric.of("recall", 3), Metric.of("mrr", 10)])
    ['R@3', 'RR@10', 'Success@3']
    """
    measures = [metric.measure for metric in metrics]
    return measures + [f"Success{name[1:]}" for name in measures if name.startswith("R@")]


def columns(metrics: Sequence[Metric], names: Sequence[str]) -> list[str]:
    """The columns of a table: each metric of each score function, with its bounds.

    >>> columns([Metric.of("ndcg", 10)], ["cosine"])
    ['cosine-NDCG@10', 'cosine-NDCG@10_lower', 'cosine-NDCG@10_expected', 'cosine-NDCG@10_upper']
    """
    return [f"{name}-{metric.column}{end}" for name in names for metric in metrics for end in ends()]


def values(metrics: Sequence[Metric], results: Mapping[str, Result]) -> dict[str, float]:
    """The values in the order of the columns, by their names in dictionaries; the plain name is the lower bound."""
    return {
        f"{name}_{metric.name}{end}": getattr(result[metric.measure], end.lstrip("_") or "lower")
        for name, result in results.items()
        for metric in metrics
        for end in ends()
    }


def ends() -> Iterator[str]:
    """The suffixes of the name of a metric: none, and then each bound."""
    yield ""
    yield from (f"_{bound}" for bound in BOUNDS)


def check_columns(path: Path, columns: Sequence[str]) -> None:
    """Refuse a table with other columns, and a path that cannot be written.

    A missing folder is created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            there = next(csv.reader(file), [])
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}). Pass another output_path, or write_csv=False to the "
            "evaluator.",
            "output_path",
        ) from error
    if there and there != list(columns):
        raise InputError(
            f"{path} has other columns than this evaluation: {difference(there, columns)}. Move the file away, or "
            "pass another name= to the evaluator."
        )


def difference(there: Sequence[str], expected: Sequence[str]) -> str:
    """The first column that differs, in words.

    >>> difference(["epoch", "steps"], ["epoch", "steps", "cosine-NDCG@10"])
    "column 3 is missing, but 'cosine-NDCG@10' is expected"
    """
    for number, name in enumerate(expected, 1):
        if number > len(there):
            return f"column {number} is missing, but '{name}' is expected"
        if there[number - 1] != name:
            return f"column {number} is '{there[number - 1]}', but '{name}' is expected"
    return f"column {len(expected) + 1} is '{there[len(expected)]}', but no more columns are expected"


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
