"""Predictions and judgments of MTEB that cannot be read."""

from collections.abc import Callable
from pathlib import Path

import tieproof as tp
from refusals.case import Case


def predictions(text: str) -> Callable[[Path], object]:
    """Evaluate a file of predictions."""

    def call(folder: Path) -> object:
        path = folder / "SciFact_predictions.json"
        path.write_text(text)
        return tp.evaluate_run({"q1": {"d1": 1}}, path)

    return call


def qrels(rules: str) -> Callable[[Path], object]:
    """Evaluate by judgments with these rules of the task."""

    def call(folder: Path) -> object:
        path = folder / "SciFact_qrels.json"
        path.write_text(f'{{"tieproof_conventions": {rules}, "default": {{"test": {{"q1": {{"d1": 1}}}}}}}}')
        return tp.evaluate_run(path, {"q1": {"d1": 0.5}})

    return call


CASES: dict[str, Case] = {
    "MTEB predictions that were cut short": Case(
        predictions('{"default": {"test": {"q1": {"d1": 0.5, "d2"'),
        r"SciFact_predictions\.json is no JSON \(Expecting ':' delimiter",
        in_folder=True,
    ),
    "MTEB predictions with a document twice for a query": Case(
        predictions('{"default": {"test": {"q1": {"d1": 0.5, "d1": 0.25}}}}'),
        r"has 'd1' twice in one dictionary\. Keep one of them",
        in_folder=True,
    ),
    "MTEB predictions with a score of NaN": Case(
        predictions('{"default": {"test": {"q1": {"d1": NaN}}}}'),
        r"the score of document 'd1' for query 'q1' is nan\. Every score must be a finite number",
        in_folder=True,
    ),
    "MTEB predictions of several splits": Case(
        predictions('{"default": {"dev": {"q1": {"d1": 1}}, "test": {"q1": {"d1": 1}}}}'),
        r"has the splits default/dev, default/test\. Name a split behind a colon, such as .*json:default/dev",
        in_folder=True,
    ),
    "MTEB predictions of a task other than retrieval and reranking": Case(
        predictions('{"mteb_model_meta": {}, "default": {"test": [[0, 1, 1]]}}'),
        r"does not contain \{subset: \{split: \{query: \{document: score\}\}\}\}",
        in_folder=True,
    ),
    "MTEB qrels with incomplete tieproof_conventions": Case(
        qrels('{"longest": "all"}'),
        r"tieproof_conventions must have ignore_identical_ids and skip_first_result, but is",
        in_folder=True,
    ),
    "MTEB qrels of a task that leaves out the first document of each list": Case(
        qrels('{"ignore_identical_ids": false, "skip_first_result": true}'),
        r"the task leaves out the first document of every list, which may be any of several tied ones",
        in_folder=True,
    ),
}
