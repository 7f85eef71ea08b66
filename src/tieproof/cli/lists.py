"""`tieproof scores`, `det`, `diversity` and `agree`: documents, pairs and runs that have scores already."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tieproof
from tieproof.cli import options
from tieproof.cli.options import Option, OptionKind, Text, argument, command, shared
from tieproof.cli.output import Outputs, answer, measures_of, showing, written
from tieproof.inputs.readers.location import split, with_pipes_read


@command(
    tieproof.evaluate_scores,
    "Score a table that has the score and the relevance of each document, with the whole interval that tied scores "
    f"leave open. {options.TIE_STD}\n\n"
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
    distances=options.flag(
        "Rank by distances, of which the smallest is nearest; in a column distance, dist or score."
    ),
    **shared("measures"),
    categories="The file with a line of query and category; the result of each category is shown, too.",
    **shared("average empty"),
    n_relevant=Option(
        "For lists that were cut off: the number of relevant documents of every query, in its list or not.",
        options.NUMBER,
    ),
    n_items=Option("The number of documents that every query ranks; with --n-relevant.", options.COUNT),
    complete=options.flag(
        "Lists are complete, not cut off: relevant documents of --n-relevant that a list lacks were never found."
    ),
    **shared("noise"),
    precision="Round the numbers first.",
    **shared("ci distribution json latex markdown per_query plot plot_precision_recall report"),
    save=options.save("tieproof.verify checks in Python"),
)
def scores(
    outputs: Outputs, file: str, distances: bool, ci: float | None, distribution: Text, **settings: Any
) -> None:
    """Read the table, evaluate its lists, write and show the result."""
    settings["measures"] = measures_of(outputs, settings["measures"])
    options.check_options(measures=settings["measures"])
    function = showing(tieproof.evaluate_distances if distances else tieproof.evaluate_scores, ci)
    [table] = with_pipes_read(file)
    result = written(lambda: function(table, **settings), [file, settings["categories"]], outputs)
    answer(outputs, result.distribution(distribution) if distribution else result)


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
    folds=Option(
        "The number of folds of consecutive trials, each with a threshold chosen on the others.", options.COUNT
    ),
    **shared("explain json latex markdown"),
)
def det(outputs: Outputs, labels: str, scores: Text, folds: int | None) -> None:
    """Read the files, write and show the rates."""
    make = lambda: tieproof.det_curve_of_pairs(labels, scores, folds=folds)  # noqa: E731
    answer(outputs, written(make, [labels, scores], outputs))


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
    measures=options.repeated(
        "alpha_nDCG@20, alpha_DCG@20, ERR_IA@20 or nERR_IA@20, with any cutoff up to 100, or several with commas "
        "between them; repeat it for more.",
        OptionKind("NAME"),
        "--measure",
        "-m",
    ),
    alpha=Option(
        "How much of the gain of a subtopic each document with it takes away, from 0 to below 1.",
        OptionKind("NUMBER", options.ANY_NUMBER),
    ),
    **shared("explain json latex markdown per_query"),
)
def diversity(outputs: Outputs, qrels: str, run: str, measures: Sequence[str], alpha: float) -> None:
    """Read the files, evaluate the run, write and show the scores."""
    files = with_pipes_read(qrels, run)
    make = lambda: tieproof.evaluate_diversity(*files, measures=measures, alpha=alpha)  # noqa: E731
    answer(outputs, written(make, [Path(qrels), Path(run)], outputs))


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
        options.BETWEEN_0_AND_1,
    ),
    **shared("explain json latex markdown per_query"),
)
def agree(outputs: Outputs, first: str, second: str, p: float) -> None:
    """Read the runs, compare them, write and show the overlap."""
    runs = with_pipes_read(first, second)
    answer(outputs, written(lambda: tieproof.agreement(*runs, p=p), [split(first).path, split(second).path], outputs))
