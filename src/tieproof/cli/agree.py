"""`tieproof agree`."""

import tieproof
from tieproof.cli.options import BETWEEN_0_AND_1, Option, command, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.inputs.readers.location import split, with_pipes_read


@command(
    tieproof.agreement,
    "Compare the rankings of two runs by rank-biased overlap, with its bounds over all orders of tied documents.\n\n"
    "The files are runs as tieproof run reads them, and one of them may be -, which is standard input; no judgments "
    "are needed. The table has the means over the queries that both runs have: lower, expected and upper over all "
    "orders of documents with equal scores, and the treatments of ties w, a and b of Corsi and Urbano (2024).",
    (
        "tieproof agree base.run ours.run",
        "tieproof agree base.run ours.run --p 0.98 --per-query overlaps.csv --json overlaps.json",
    ),
    first="The documents of a system and their scores.",
    second="Those of another system, or of another version of it.",
    p=Option(
        "The persistence: how likely a reader goes on to the next rank. The first 10 ranks have 86% of the weight if "
        "it is 0.9, and the first 50 have 85% if it is 0.98.",
        BETWEEN_0_AND_1,
    ),
    **shared("explain json latex markdown per_query"),
)
def agree(outputs: Outputs, first: str, second: str, p: float) -> None:
    """Read the runs, compare them, write and show the overlap."""
    runs = with_pipes_read(first, second)
    answer(outputs, written(lambda: tieproof.agreement(*runs, p=p), [split(first).path, split(second).path], outputs))
