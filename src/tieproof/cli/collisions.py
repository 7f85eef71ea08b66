"""`tieproof collisions`."""

from typing import Any

import tieproof
from tieproof.analyses.collisions.pictures import COLLISIONS, COLLISIONS_BY_RANK
from tieproof.cli.files import as_sides, evaluated
from tieproof.cli.options import RADIUS, Option, command, shared
from tieproof.cli.output import Outputs, answer


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
        "The difference of distances below which neighbors collide; with 0 only equal distances collide.", RADIUS
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
