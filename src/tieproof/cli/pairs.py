"""`tieproof fnmr`, `tieproof det` and `tieproof open-set`."""

from typing import Any

import tieproof
from tieproof.cli.files import as_sides, evaluated
from tieproof.cli.options import COUNT, SHARE, Option, Text, argument, command, repeated, shared
from tieproof.cli.output import Outputs, answer, written


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
    fmr=repeated("A false match rate; repeat it for more.", SHARE),
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
    tieproof.det_curve_of_pairs,
    "Compute error rates and decisions of trials: EER, minDCF, TAR at FAR, best accuracy and F1, AUC.\n\n"
    "A trial is a line such as '1 a.wav b.wav' or 'a.wav b.wav target', and a score is a line such as 'a.wav b.wav "
    "0.83', larger for pairs that are more alike. The two files may be exchanged, and packed. Or give one table with "
    "the columns label and score, as tieproof scores takes it.",
    (
        "tieproof det trials.txt scores.txt",
        "tieproof det pairs.csv",
        "tieproof det trials.csv trial_scores.csv --folds 10 --json -",
    ),
    labels="The trials: pairs with their labels.",
    scores=argument("The same pairs with their scores.", required=False),
    folds=Option("The number of folds of consecutive trials, each with a threshold chosen on the others.", COUNT),
    **shared("explain json latex markdown"),
)
def det(outputs: Outputs, labels: str, scores: Text, folds: int | None) -> None:
    """Read the files, write and show the rates."""
    make = lambda: tieproof.det_curve_of_pairs(labels, scores, folds=folds)  # noqa: E731
    answer(outputs, written(make, [labels, scores], outputs))


@command(
    tieproof.open_set_identification,
    "Compute how often the first answer is right and accepted by a threshold, if some queries have no match: TPIR at "
    "FPIR, the best F1 and the recall at full precision.\n\n"
    "The files are those that tieproof evaluate reads. A label that the gallery lacks is that of a query without a "
    "match. In tables, tie std is the standard deviation over the items that are as near as the first answer.",
    ("tieproof open-set probes.npz --gallery gallery.npz", "tieproof open-set frames.npy places.npy --fpir 0.01"),
    **shared("embeddings labels"),
    fpir=repeated("A false positive identification rate; repeat it for more.", SHARE),
    **shared("gallery gallery_labels distance groups gallery_groups bits memory threads explain json latex markdown"),
)
def open_set(outputs: Outputs, **settings: Any) -> None:
    """Read the files, find the first answers, write and show the rates."""
    sides = as_sides(settings)
    answer(outputs, evaluated(tieproof.open_set_identification, sides, outputs, **settings))
