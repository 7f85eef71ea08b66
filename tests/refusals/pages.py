"""Pages that cannot be written, or would show other data than that of the result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp
from refusals.case import GOOD, LABELS, Case

QRELS, SCORES = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}}


def page(
    name: str = "page.html", result: Callable[[], tp.Result] | None = None, **options: Any
) -> Callable[[Path], None]:
    """Write the page of a result into a folder."""

    def call(folder: Path) -> None:
        (result or (lambda: tp.evaluate(GOOD, LABELS)))().report(folder / name, **options)

    return call


def of_function() -> tp.Result:
    """A result under a distance function."""
    return tp.evaluate(GOOD, LABELS, distance=manhattan)


def manhattan(queries: Any, items: Any) -> Any:
    """A distance function."""
    return np.abs(queries[:, None] - items[None]).sum(axis=-1)


def of_run() -> tp.Result:
    """The result of a run."""
    return tp.evaluate_run(QRELS, SCORES)


def of_scores() -> tp.Result:
    """The result of given scores."""
    return tp.evaluate_scores([[2, 1, 1]], [[1, 0, 1]])


def of_evaluator() -> tp.Result:
    """A result whose queries have the indices 100, 101, …."""
    evaluator = tp.Evaluator()
    evaluator.update(GOOD, LABELS, indices=np.arange(100, 106))
    return evaluator.compute()


def of_category() -> tp.Result:
    """The result of the queries of one category."""
    return tp.evaluate(GOOD, LABELS, categories=LABELS).category(1)


CASES: dict[str, Case] = {
    "a report with the extension .pdf": Case(page("page.pdf"), r"has the extension '\.pdf'", in_folder=True),
    "None as the path of a report": Case(
        lambda: tp.evaluate(GOOD, LABELS).report(None),  # type: ignore[arg-type]
        "must be the path of a file, as text or Path, not NoneType",
    ),
    "fewer items than were evaluated": Case(
        page(items=["a", "b"]), "items has 2 entries, but 6 were evaluated", in_folder=True
    ),
    "a single text as items=": Case(
        page(items="texts.txt"), "must be a list of texts or paths, .* not str", in_folder=True
    ),
    "gallery_items= in leave-one-out": Case(
        page(gallery_items=["a"] * 6), "the queries are the gallery. Pass only items", in_folder=True
    ),
    "a list of items for the result of a run": Case(
        page(result=of_run, items=["a"]), "Pass items as a dictionary", in_folder=True
    ),
    "a list of items for the result of one category": Case(
        page(result=of_category, items=["a", "b"]), "Pass items as a dictionary", in_folder=True
    ),
    "a list of items for queries that have their own indices": Case(
        page(result=of_evaluator, items=["a"] * 6), "Pass items as a dictionary", in_folder=True
    ),
    "labels without embeddings": Case(page(labels=LABELS), "but labels was passed", in_folder=True),
    "an argument that the evaluation does not have": Case(
        page(embeddings=GOOD, labels=LABELS, ranks=3), "evaluate has no argument ranks", in_folder=True
    ),
    "embeddings that differ from those evaluated": Case(
        page(embeddings=2 * GOOD + 1, labels=LABELS), "its fingerprint is .*, but that of the result", in_folder=True
    ),
    "labels that differ from those evaluated": Case(
        page(embeddings=GOOD, labels=[0, 1, 0, 1, 2, 2]), "its fingerprint is", in_folder=True
    ),
    "the evaluated embeddings and labels in another order": Case(
        page(embeddings=GOOD[::-1], labels=LABELS[::-1]), "in another order", in_folder=True
    ),
    "fewer queries than were evaluated": Case(
        page(embeddings=GOOD[:4], labels=LABELS[:4]),
        "its number of queries is 4, but that of the result is 6",
        in_folder=True,
    ),
    "a distance that differs from that of the result": Case(
        page(embeddings=GOOD, labels=LABELS, distance="dot"),
        "its distance is dot, but that of the result is cosine",
        in_folder=True,
    ),
    "a precision that differs from that of the result": Case(
        page(embeddings=GOOD, labels=LABELS, precision="float16"),
        "its precision is float16, but that .* None",
        in_folder=True,
    ),
    "embeddings without the distance function of the result": Case(
        page(result=of_function, embeddings=GOOD, labels=LABELS),
        "function manhattan, which a result does not store",
        in_folder=True,
    ),
    "scores for a result of embeddings": Case(
        page(scores=[[1, 2]], relevance=[[1, 0]]),
        "its distance is scores, but that of the result is cosine",
        in_folder=True,
    ),
    "scores that differ from those evaluated": Case(
        page(result=of_scores, scores=[[3, 1, 2]], relevance=[[1, 0, 1]]), "its fingerprint is", in_folder=True
    ),
    "a run that differs from the one evaluated": Case(
        page(result=of_run, qrels=QRELS, run={"q1": {"d1": 0.5, "d2": 0.25}}), "its fingerprint is", in_folder=True
    ),
    "embeddings for the result of one category": Case(
        page(result=of_category, embeddings=GOOD, labels=LABELS), "the result of one category", in_folder=True
    ),
    "embeddings for a result whose queries have their own indices": Case(
        page(result=of_evaluator, embeddings=GOOD, labels=LABELS), "have names, such as 100", in_folder=True
    ),
}
