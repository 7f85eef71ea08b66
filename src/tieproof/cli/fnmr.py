"""`tieproof fnmr`."""

from typing import Any

import tieproof
from tieproof.cli.files import as_sides, evaluated
from tieproof.cli.options import SHARE, command, repeated, shared
from tieproof.cli.output import Outputs, answer


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
