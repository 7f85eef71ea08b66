"""`tieproof scores`."""

from typing import Any

import tieproof
from tieproof.cli.options import (
    COUNT,
    NUMBER,
    TIE_STD,
    Option,
    Text,
    argument,
    check_options,
    command,
    flag,
    save,
    shared,
)
from tieproof.cli.output import Outputs, answer, measures_of, showing, written
from tieproof.inputs.readers.location import with_pipes_read


@command(
    tieproof.evaluate_scores,
    "Score a table that has the score and the relevance of each document, with the whole interval that tied scores "
    f"leave open. {TIE_STD}\n\n"
    "FILE is text with a header (columns separated by commas, tabs or semicolons), JSON (a list of records, or a "
    "dictionary of columns), lines of JSON, or Parquet; it may be packed, and - is standard input. It has a row for "
    "each document of each query, and its columns are found by their usual names: query_id, qid, user_id; doc_id, "
    "docid, item_id; score, y_score, pred, similarity, prob; relevance, label, target, y_true, grade, rating. "
    "Without a query, scores and relevance are one list. Relevance above 0 is relevant, and below 0 left out of the "
    "ranking. Relevant documents that are not in the table do not count, unless --n-relevant says how many there "
    "are; for judgments and a run in two files, use tieproof run; use the command det for "
    "pairs that a system accepts or rejects.",
    (
        "tieproof scores scores.csv",
        "tieproof scores scores.jsonl -m AP,nDCG@10 --per-query queries.csv",
        "tieproof scores distances.parquet --distances --json result.json",
        "cat scores.csv | tieproof scores - -m AUC",
    ),
    file=argument("The table.", required=True),
    distances=flag("Rank by distances, of which the smallest is nearest; in a column distance, dist or score."),
    **shared("measures"),
    categories="The file with a line of query and category; the result of each category is shown, too.",
    **shared("average empty"),
    n_relevant=Option(
        "For lists that were cut off: the number of relevant documents of every query, in its list or not.", NUMBER
    ),
    n_items=Option("The number of documents that every query ranks; with --n-relevant.", COUNT),
    complete=flag(
        "Lists are complete, not cut off: relevant documents of --n-relevant that a list lacks were never found."
    ),
    **shared("noise"),
    precision="Round the numbers first.",
    **shared("ci distribution json latex markdown per_query plot plot_precision_recall report"),
    save=save("tieproof.verify checks in Python"),
)
def scores(
    outputs: Outputs, file: str, distances: bool, ci: float | None, distribution: Text, **settings: Any
) -> None:
    """Read the table, evaluate its lists, write and show the result."""
    settings["measures"] = measures_of(outputs, settings["measures"])
    check_options(measures=settings["measures"])
    function = showing(tieproof.evaluate_distances if distances else tieproof.evaluate_scores, ci)
    [table] = with_pipes_read(file)
    result = written(lambda: function(table, **settings), [file, settings["categories"]], outputs)
    answer(outputs, result.distribution(distribution) if distribution else result)
