"""`tieproof confidence`."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import tieproof
from tieproof.cli.files import naming
from tieproof.cli.options import BETWEEN_0_AND_1, Option, Text, argument, check_options, command, repeated, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.errors import InputError
from tieproof.inputs.readers import only_labels, read_confidences, read_embeddings, read_labels
from tieproof.show.parts import WIDTH, fixed, table


class _Confidences(NamedTuple):
    """The result of the evaluation, and the scores of the confidences: names and texts, and as JSON."""

    result: tieproof.Result
    scores: dict[str, Any]

    def to_json(self) -> str:
        scores = {name: found.to_dict() for name, found in self.scores.items()}
        return json.dumps(self.result.to_dict() | scores, indent=2)

    def to_text(self, width: int | None, color: bool, explain: bool = False) -> str:
        accuracy = self.scores["confidence_vs_recall_at_1"]
        values = {"confidence vs recall@1, mean": accuracy.mean, "confidence vs recall@1, best": accuracy.best}
        if correlation := self.scores.get("rank_correlation"):
            values["rank correlation"] = correlation.coefficient
            values["  lowest in any order of ties"] = correlation.orders.lower
            values["  highest in any order of ties"] = correlation.orders.upper
        tables: list[tuple[tuple[str, ...], list[tuple[str, ...]]]] = [
            (("score", "value"), [(name, fixed(value)) for name, value in values.items()])
        ]
        if retrieval := self.scores.get("credible_retrieval"):
            rows = [(f"{point.mass:g}", *(fixed(getattr(point, of)) for of in _HELD)) for point in retrieval.points]
            tables.append((("mass of the regions", *_HELD), rows))
        shown = [table(header, [rows], width or WIDTH, color, header[1:]) for header, rows in tables]
        return "\n\n".join(text.rstrip("\n") for text in (self.result.to_text(width, color, explain), *shown)) + "\n"


_HELD = ("precision", "recall", "coverage")


@command(
    tieproof.evaluate,
    "Measure whether the confidences of a model tell its right answers from its wrong ones: by the error of the most "
    "confident queries, and by thresholds (confidence vs recall@1); with more files also by their rank correlation "
    "with what the items deserve, and by the items inside credible regions.\n\n"
    "Every item queries all the others. The files are those that tieproof evaluate reads.",
    (
        "tieproof confidence embeddings.npy labels.npy confidences.npy",
        "tieproof confidence embeddings.npy labels.npy confidences.npy --truth deserved.npy",
        "tieproof confidence embeddings.npy labels.npy confidences.npy --scale sigmas.npy --mass 0.5 --mass 0.95",
    ),
    embeddings=argument("The vectors, one per row; the means of posteriors, for --scale."),
    labels=argument("The labels, one per row.", required=True),
    confidence=argument("The confidences, one per row; a larger number is more confident.", required=True),
    truth=Option("The confidences that the items deserve: adds Spearman's rank correlation with them."),
    scale=Option(
        "The standard deviations of the posteriors: adds how many items of a query's class are inside the region of "
        "highest density of its posterior (HPDI)."
    ),
    mass=repeated("For --scale: the mass of the regions; repeat it for more. Default: 0.95.", BETWEEN_0_AND_1),
    **shared("distance measures memory threads explain json"),
)
def confidence(
    outputs: Outputs,
    embeddings: str,
    labels: str,
    confidence: str,
    truth: Text,
    scale: Text,
    mass: Sequence[float],
    **settings: Any,
) -> None:
    """Read the files, evaluate the embeddings and the confidences, write and show the scores."""
    check_options(**settings)
    if mass and not scale:
        raise InputError("--mass is for regions; it needs --scale.")
    settings["measures"] = [*settings["measures"], "P@1"]
    files = {"embeddings": embeddings, "labels": labels, "confidence": confidence}

    def scored() -> _Confidences:
        known, sure = read_labels(labels), read_confidences(confidence)
        rows = read_embeddings(embeddings, apart=(), labels=known)
        with naming(files):
            result = tieproof.evaluate(rows, known, confidence=sure, **settings)
        hits = result.per_query("P@1").lower
        accuracy = tieproof.confidence.confidence_vs_recall_at_1(hits, sure[result.query_ids])
        scores: dict[str, Any] = {"confidence_vs_recall_at_1": accuracy}
        if truth:
            deserved = read_confidences(truth)
            with naming({"confidence": confidence, "truth": truth}):
                scores["rank_correlation"] = tieproof.confidence.rank_correlation(sure, deserved)
        if scale:
            scales = read_confidences(scale) if only_labels(scale) else read_embeddings(scale)
            with naming({"scale": scale}):
                found = tieproof.confidence.credible_retrieval(rows, scales, known, mass or 0.95)
            scores["credible_retrieval"] = found
        return _Confidences(result, scores)

    answer(outputs, written(scored, (*files.values(), truth, scale), outputs))
