"""Results of every kind for tests of pages, with names and texts that look like markup."""

from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp
from tieproof.trials.judge import Leaderboard, leaderboard

SCRIPT = "<script>document.title = 'gone'</script>"
UNRULY = [
    f"a cat {SCRIPT}",
    "'\"><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}",
    "\x1b[31mred\u202e",
    "Zürich &amp; <b>",
]


def codes(count: int, seed: int = 3) -> tuple[Any, Any]:
    """Random codes of six bits with many ties, in classes of five."""
    random = np.random.default_rng(seed)
    return random.random((count, 6)) < 0.5, np.arange(count) // 5


def texts(count: int) -> list[str]:
    """A text for each item."""
    return [f"{UNRULY[at % len(UNRULY)]} number {at}" for at in range(count)]


def embeddings(path: Path, count: int = 60) -> tp.Result:
    """The page of an evaluation of embeddings, with texts and nearest items."""
    vectors, labels = codes(count)
    categories = [f"class {label} {SCRIPT}" for label in labels]
    result = tp.evaluate(vectors, labels, distance="hamming", categories=categories, confidence=np.arange(count) % 7)
    result.report(path, items=texts(count), embeddings=vectors, labels=labels)
    return result


def run(path: Path) -> tp.Result:
    """The page of an evaluation of a run, with a query that it leaves out."""
    qrels = {f"q{query}{SCRIPT}": {f"d{at}": 1 for at in range(query + 1)} for query in range(4)}
    scores = {query: {f"d{at}": float(at % 3) for at in range(9)} for query in list(qrels)[:-1]}
    result = tp.evaluate_run(qrels, scores)
    documents = {f"d{at}": text for at, text in enumerate(texts(8))}
    result.report(path, gallery_items=documents, qrels=qrels, run=scores)
    return result


def without_data(path: Path) -> tp.Result:
    """The page of given scores without ties, for which the data is not passed again."""
    result = tp.evaluate_scores([[3, 2, 1], [1, 2, 3]], [[1, 0, 0], [1, 0, 1]], measures=["RR"])
    result.report(path)
    return result


def comparison(path: Path) -> tp.Comparison:
    """The page of a comparison."""
    vectors, labels = codes(60)
    systems = {f"all bits {SCRIPT}": vectors, "half": vectors[:, :3], "as a half": vectors[:, :3]}
    results = {
        name: tp.evaluate(own, labels, distance="hamming", measures=["AP", "P@1"]) for name, own in systems.items()
    }
    found = tp.compare(results)
    found.report(path)
    return found


def collisions(path: Path) -> tp.Collisions:
    """The page of collisions."""
    vectors, labels = codes(60)
    found = tp.collisions(vectors, labels, distance="hamming")
    found.report(path)
    return found


def collisions_without_labels(path: Path) -> tp.Collisions:
    """The page of collisions of items without labels."""
    found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], distance="euclidean")
    found.report(path)
    return found


def audit(path: Path) -> tp.AuditReport:
    """The page of an audit of an evaluator that can be fooled."""

    def upper_bound(embeddings: Any, labels: Any) -> float:
        return tp.evaluate(embeddings, labels, measures=["AP"])["AP"].upper

    found = tp.audit(upper_bound, attacks=["zeros", "nan"], items=60)
    found.report(path)
    return found


def audit_of_recall(path: Path) -> tp.AuditReport:
    """The page of an audit of an evaluator of recall."""
    found = tp.audit("tieproof.trials.audit.examples:within_the_distance", takes="recall", items=60)
    found.report(path)
    return found


def rates(path: Path) -> tp.ErrorRates:
    """The page of error rates."""
    found = tp.fnmr_at_fmr_of_distances([1, 2, 2, 3], [2, 3, 4], fmr=(0.1, 0.5), method="exact")
    found.report(path)
    return found


def board(path: Path) -> Leaderboard:
    """The page of a leaderboard."""
    vectors, labels = codes(60)
    systems = {f"all bits {SCRIPT}": vectors, "half": vectors[:, :3], "as a half": vectors[:, :3]}
    found = leaderboard(
        {name: tp.evaluate(own, labels, distance="hamming", measures=["AP", "P@1"]) for name, own in systems.items()}
    )
    found.report(path)
    return found


CASES = {
    function.__name__: function
    for function in (
        embeddings,
        run,
        without_data,
        comparison,
        collisions,
        collisions_without_labels,
        audit,
        audit_of_recall,
        rates,
        board,
    )
}
"""Functions that write a page to a path, and return what it shows."""

WITH_TABLE = ["embeddings", "run", "without_data", "comparison", "collisions", "collisions_without_labels"]
"""The functions whose pages have a table of all queries."""
