"""`tieproof fnmr`, `open-set`, `collisions`, `noise`, `pcf` and `confidence`: what else is asked of embeddings."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import tieproof
from tieproof.analyses.collisions.pictures import COLLISIONS, COLLISIONS_BY_RANK
from tieproof.cli import options
from tieproof.cli.files import as_sides, evaluated, naming
from tieproof.cli.options import FILE, Option, Text, argument, check_options, command, repeated, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.errors import InputError
from tieproof.inputs.readers import only_labels, read_confidences, read_embeddings, read_labels
from tieproof.inputs.readers.location import split
from tieproof.show.parts import WIDTH, fixed, table


@command(
    tieproof.fnmr_at_fmr,
    "Compute the false non-match rate (FNMR) at given false match rates (FMR), pooled over all pairs.\n\n"
    "The threshold is the FMR-quantile of the distances of pairs that are not relevant; FNMR is the share of "
    "relevant pairs whose distance is at least the threshold. Without --gallery every item is compared with all the "
    "others. The files are those that tieproof evaluate reads. In tables, tie std is the standard deviation over the "
    "orderings of pairs at exactly the same distance.",
    (
        "tieproof fnmr embeddings.npy labels.npy --fmr 0.1",
        "tieproof fnmr queries.npz --gallery gallery.npz --fmr 0.01 --fmr 0.001 --method exact",
        "tieproof fnmr data.npz --eer --json rates.json",
        "tieproof fnmr data.npz --curve",
    ),
    **shared("embeddings labels"),
    fmr=repeated("A false match rate; repeat it for more.", options.SHARE),
    method="How quantiles are taken. linear interpolates between two distances; exact takes one of the distances, "
    "and reports the interval that ties leave open.",
    eer="Find the equal error rate, too, with its bounds over all orderings of tied pairs.",
    curve="Count both rates at every threshold, too, for minDCF and TAR at FAR with their bounds.",
    **shared("gallery gallery_labels distance groups gallery_groups bits memory threads explain json"),
)
def fnmr(outputs: Outputs, **settings: Any) -> None:
    """Read the files, count the pairs, write and show the rates."""
    sides = as_sides(settings)
    answer(outputs, evaluated(tieproof.fnmr_at_fmr, sides, outputs, **settings))


@command(
    tieproof.open_set_identification,
    "Compute how often the first answer is right and accepted by a threshold, if some queries have no match: TPIR at "
    "FPIR, the best F1 and the recall at full precision.\n\n"
    "The files are those that tieproof evaluate reads. A label that the gallery lacks is that of a query without a "
    "match. In tables, tie std is the standard deviation over the items that are as near as the first answer.",
    ("tieproof open-set probes.npz --gallery gallery.npz", "tieproof open-set frames.npy places.npy --fpir 0.01"),
    **shared("embeddings labels"),
    fpir=repeated("A false positive identification rate; repeat it for more.", options.SHARE),
    **shared("gallery gallery_labels distance groups gallery_groups bits memory threads explain json latex markdown"),
)
def open_set(outputs: Outputs, **settings: Any) -> None:
    """Read the files, find the first answers, write and show the rates."""
    sides = as_sides(settings)
    answer(outputs, evaluated(tieproof.open_set_identification, sides, outputs, **settings))


@command(
    tieproof.collisions,
    "Find the ties in all rankings: neighbors at exactly the same distance, or closer than --epsilon.\n\n"
    "Without --gallery every item queries all the others. With labels the report also tells which ties are "
    "ambiguous, and how much of the interval of AP they cause. Labels are optional; the "
    "files are those of tieproof evaluate.",
    (
        "tieproof collisions embeddings.npy",
        "tieproof collisions embeddings.npy labels.npy -d euclidean --epsilon 1e-10",
        "tieproof collisions queries.npz --gallery gallery.npz --json collisions.json",
        "tieproof collisions data.npz --plot collisions.png --plot-ranks ranks.svg",
    ),
    **shared("embeddings labels gallery gallery_labels distance"),
    epsilon=Option(
        "The difference of distances below which neighbors collide; with 0 only equal distances collide.",
        options.RADIUS,
    ),
    **shared("groups gallery_groups bits memory threads explain json per_query"),
    plot=Option(f"Draw the collisions by query and rank ({', '.join(COLLISIONS)}).", formats=COLLISIONS),
    plot_ranks=Option(
        f"Draw how often items collide at each rank ({', '.join(COLLISIONS)}).", formats=COLLISIONS_BY_RANK
    ),
    **shared("report"),
)
def collisions(outputs: Outputs, **settings: Any) -> None:
    """Read the files, count the collisions, write and show the report."""
    sides = as_sides(settings, needs_labels=False)
    answer(outputs, evaluated(tieproof.collisions, sides, outputs, **settings))


@command(
    tieproof.noise,
    "Compare two computations of the same embeddings, such as on two machines or in two formats: how far rows moved, "
    "which scores that may change, and which it does change; and whether a comparison with another model survives "
    "it.\n\n"
    "EMBEDDINGS and AGAIN have the same items in the same order. Every item queries all the others.",
    (
        "tieproof noise here.npy there.npy labels.npy",
        "tieproof noise here.npy there.npy labels.npy -d euclidean -m AP -m P@1",
        "tieproof noise here.npy there.npy labels.npy --json noise.json --per-query queries.csv",
        "tieproof noise here.npy there.npy labels.npy --against other.npy --against-again other_there.npy",
    ),
    embeddings=argument("The vectors, one per row.", FILE),
    again=argument("The same items, computed again.", FILE),
    labels=argument("The labels, one per row. Default: those in the file of EMBEDDINGS.", FILE, required=False),
    against=Option("The embeddings of another model, which is compared with the first computation.", FILE),
    against_again=Option("The same items of the other model, computed again.", FILE),
    **shared("distance measures memory threads explain json per_query"),
)
def noise(
    outputs: Outputs, embeddings: str, again: str, labels: Text, against: Text, against_again: Text, **settings: Any
) -> None:
    """Read the files, compare the two computations, write and show the report."""
    check_options(**settings)
    labels = labels or str(split(embeddings).path)
    if against_again and not against:
        raise InputError("--against-again is another computation of the embeddings of --against; add that, too.")
    files = {"embeddings": embeddings, "noise": again, "labels": labels}
    others = {name: file for name, file in (("embeddings", against), ("noise", against_again)) if file}

    def compared() -> tieproof.NoiseReport:
        known = read_labels(labels)

        def read(file: Text) -> Any:
            return file and read_embeddings(file, apart=(), labels=known)

        rows, moved, other, other_moved = map(read, (embeddings, again, against, against_again))
        with naming(others | {"labels": labels}):
            compared_with = None if other is None else tieproof.evaluate(other, known, noise=other_moved, **settings)
        with naming(files):
            return tieproof.noise(rows, moved, known, against=compared_with, **settings)

    answer(outputs, written(compared, (*files.values(), *others.values()), outputs))


class _Fractions(NamedTuple):
    """The fraction for each share of the variance."""

    explained: Sequence[float]
    pcf: Sequence[float]

    def to_json(self) -> str:
        return json.dumps(self._asdict(), indent=2)

    def to_text(self, width: int | None, color: bool) -> str:
        rows = [(f"{share:g}", f"{fraction:.4f}") for share, fraction in zip(*self, strict=True)]
        return table(("explained", "PCF"), [rows], width or WIDTH, color)


@command(
    tieproof.pcf,
    "Compute the principal components fraction (PCF): the share of the principal components that is needed to "
    "explain a share of the variance.\n\n"
    "The files are those that tieproof evaluate reads; labels in them are ignored.",
    ("tieproof pcf embeddings.npy", "tieproof pcf data.npz --explained 0.5 --explained 0.99 --json -"),
    **shared("embeddings"),
    explained=repeated("A share of the variance, from 0 to 1; repeat it for more.", options.SHARE),
    **shared("json"),
)
def pcf(outputs: Outputs, embeddings: str, explained: Sequence[float]) -> None:
    """Read the embeddings, compute the fractions, write and show them."""

    def fractions_of_file() -> _Fractions:
        array = read_embeddings(embeddings)
        with naming({"embeddings": str(split(embeddings).path)}):
            return _Fractions(explained, tieproof.pcf(array, explained).tolist())

    answer(outputs, written(fractions_of_file, [embeddings], outputs))


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
    mass=repeated(
        "For --scale: the mass of the regions; repeat it for more. Default: 0.95.", options.BETWEEN_0_AND_1
    ),
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
