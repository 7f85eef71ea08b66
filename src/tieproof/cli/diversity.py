"""`tieproof diversity`."""

from collections.abc import Sequence
from pathlib import Path

import tieproof
from tieproof.cli.options import ANY_NUMBER, Option, OptionKind, command, repeated, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.inputs.readers.location import with_pipes_read


@command(
    tieproof.evaluate_diversity,
    "Score a run whose documents are judged for subtopics of each query, by alpha-nDCG and ERR-IA.\n\n"
    "QRELS has lines of query, subtopic, document and grade, as for ndeval, and RUN is as tieproof run reads it. One "
    "of them may be -, which is standard input. The "
    "table has the means over the queries of QRELS, as ndeval -c does: lower, expected and upper over all orders of "
    "documents with equal scores.",
    (
        "tieproof diversity qrels.diversity run.txt",
        "tieproof diversity qrels.diversity run.txt -m ERR_IA@10,alpha_nDCG@10 --alpha 0.9 --per-query scores.csv",
    ),
    qrels="The judgments; a grade above 0 is relevant.",
    run="The documents of a system and their scores.",
    measures=repeated(
        "alpha_nDCG@20, alpha_DCG@20, ERR_IA@20 or nERR_IA@20, with any cutoff up to 100, or several with commas "
        "between them; repeat it for more.",
        OptionKind("NAME"),
        "--measure",
        "-m",
    ),
    alpha=Option(
        "How much of the gain of a subtopic each document with it takes away, from 0 to below 1.",
        OptionKind("NUMBER", ANY_NUMBER),
    ),
    **shared("explain json latex markdown per_query"),
)
def diversity(outputs: Outputs, qrels: str, run: str, measures: Sequence[str], alpha: float) -> None:
    """Read the files, evaluate the run, write and show the scores."""
    files = with_pipes_read(qrels, run)
    paths = [Path(qrels), Path(run)]
    answer(
        outputs, written(lambda: tieproof.evaluate_diversity(*files, measures=measures, alpha=alpha), paths, outputs)
    )
