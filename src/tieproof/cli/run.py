"""`tieproof run`."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

import tieproof
from tieproof.calls.runs import MISSING
from tieproof.cli.options import (
    MEASURES,
    TIE_STD,
    Average,
    Ci,
    Empty,
    Json,
    Measures,
    PerQuery,
    Plot,
    Save,
    Text,
    check_options,
    choice_option,
    count_option,
    file_argument,
    file_option,
)
from tieproof.cli.output import STANDARD_OUTPUT, answer, say, showing, written
from tieproof.cli.report import DocumentTexts, QueryTexts, Report, Shown, read_named, with_page
from tieproof.errors import InputError
from tieproof.inputs.readers import query_categories
from tieproof.results.evaluated import NOT_JUDGED
from tieproof.views.text import lines
from tieproof.views.text.files import MEANS, PER_QUERY, PICTURES, RECORDS
from tieproof.views.text.parts import count
from tieproof.views.text.runs import about_run
from tieproof.views.text.text import render

Answer = TypeVar("Answer")

HELP = (
    f"Score a run against relevance judgments, with the whole interval that tied scores leave open. {TIE_STD}\n\n"
    "QRELS has lines of query, iteration, document, grade, or is that of BEIR with its header; RUN of query, Q0, "
    "document, rank, score, tag, as for trec_eval; both may be packed by gzip. The score alone decides: ranks, the "
    "order of the lines and the names of documents change nothing. Means are over the queries of QRELS; with --empty "
    "zero they are those of trec_eval -c."
)

EXAMPLES = """Examples:

tieproof run qrels.txt run.txt

tieproof run qrels.txt run.txt -m AP,nDCG@10 -q

tieproof run qrels.txt run.txt -m map -m P.5,10 -m ndcg_cut.10

tieproof run qrels.txt run.txt --categories categories.txt --average macro

tieproof run qrels.txt run.txt --truncated --n-items 100000 --json result.json

tieproof run qrels.txt run.txt --save run.tieproof
"""


def command(
    qrels: Annotated[str, file_argument("QRELS", text="The judgments; a grade above 0 is relevant.")],
    run: Annotated[str, file_argument("RUN", text="The documents of a system and their scores.")],
    measures: Measures = MEASURES,
    per_query_lines: Annotated[
        bool,
        typer.Option(
            "--per-query-lines",
            "-q",
            help="Print the lines of trec_eval -q instead of the table: measure, query (all for the mean), value, "
            "which is the lower bound. --per-query writes the whole interval.",
        ),
    ] = False,
    categories: Annotated[
        Text,
        file_option(
            "--categories", text="A line for each query, with its category; the result is shown for each, too."
        ),
    ] = None,
    average: Average = "micro",
    missing: Annotated[
        str,
        choice_option(
            "--missing",
            text="What becomes of a query that has relevant documents and none in RUN.",
            choices=MISSING,
        ),
    ] = "zero",
    empty: Empty = "skip",
    truncated: Annotated[
        bool,
        typer.Option(
            "--truncated",
            help="The list of each query was cut off by its length: its last tie may go on beyond the end, and the "
            "bounds cover every way of going on.",
        ),
    ] = False,
    n_items: Annotated[
        int | None,
        count_option(
            "--n-items",
            text="Documents in the collection, where a last tie that goes on ends at the latest.",
        ),
    ] = None,
    ci: Ci = None,
    json: Json = None,
    per_query: PerQuery = None,
    plot: Plot = None,
    save: Save = None,
    report: Report = None,
    items: QueryTexts = None,
    gallery_items: DocumentTexts = None,
) -> None:
    """Read, evaluate, write, show."""
    if n_items is not None and not truncated:
        raise InputError(
            "--n-items says how far lists that were cut off may go on; add --truncated, or leave it out."
        )
    if per_query_lines and json == STANDARD_OUTPUT:
        raise InputError("-q and --json - both print on standard output; give the JSON a file.")
    if average == "macro" and categories is None:
        raise InputError("--average macro is the mean over categories of queries; give them with --categories.")
    check_options(measures=measures)
    options: dict[str, Any] = {
        "measures": measures,
        "average": average,
        "missing": missing,
        "empty": empty,
        "truncated": truncated,
        "n_items": n_items,
    }
    function, page = with_page(tieproof.evaluate_run, report, Shown(items, gallery_items), read_named)
    result = written(
        lambda: evaluated_files(showing(function, ci), qrels, run, categories, **options),
        [Path(path) for path in (qrels, run, categories, items, gallery_items) if path],
        [(json, MEANS), (per_query, PER_QUERY), (plot, PICTURES), (save, RECORDS), (report, page)],
    )
    if per_query_lines:
        say(lines.render(result))
        for sentence in left_out(result):
            print(sentence, file=sys.stderr)
    else:
        answer(json, render, result)


def left_out(result: tieproof.Result) -> Iterator[str]:
    """What the table says of queries that the qrels or the run lack, for those who see no table."""
    yield from about_run(result)
    strangers = len(result.skipped.get(NOT_JUDGED, ()))
    if strangers:
        yield f"Left out: {count(strangers, 'query')}, with {NOT_JUDGED}."


def evaluated_files(
    function: Callable[..., Answer], qrels: str, run: str, categories: Text, **options: Any
) -> Answer:
    """What a function of runs makes of the files.

    An error that comes from reading one of them names it, any other names what it is about.
    """
    if categories is not None:
        options["categories"] = query_categories.read(categories)
    try:
        return function(qrels, run, **options)
    except InputError as error:
        if error.argument in ("qrels", "run"):
            raise
        meant = categories if error.argument == "categories" else f"{qrels}, {run}"
        said = str(error).replace("n_items", "--n-items", 1) if error.argument == "n_items" else str(error)
        raise InputError(f"{meant}: {said}", error.argument) from error
