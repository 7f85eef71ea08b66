"""`tieproof run`."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.exits import say
from tieproof.cli.options import Option, OptionKind, Text, argument, command, flag, shared
from tieproof.cli.output import Answer, Outputs, answer, check_lines, measures_of, showing, with_page, written
from tieproof.errors import InputError
from tieproof.evaluation.evaluated import NOT_JUDGED
from tieproof.evaluation.one_order import RULES
from tieproof.evaluation.result import Result
from tieproof.evaluation.runs import as_in_runs, evaluate_runs
from tieproof.evaluation.text import about_run
from tieproof.inputs import system_names
from tieproof.inputs.readers import text
from tieproof.inputs.readers.location import Piped, split, with_pipes_read
from tieproof.measures.base import Measure, parse
from tieproof.measures.trec_eval import SETS, members, parts_of
from tieproof.show.parts import HEADLINE, count
from tieproof.show.printable import printable


def _deepest(text: str) -> None:
    raise click.BadParameter(
        f"trec_eval -M {text} cuts lists off within ties, by the names of documents. Name measures with a cutoff "
        f"instead: map of trec_eval -M {text} is AP@{text}, and so on"
    )


@command(
    tieproof.evaluate_run,
    "Score a run against relevance judgments, with the whole interval that tied scores leave open. "
    f"{options.TIE_STD}\n\n"
    "QRELS has lines of query, iteration, document and grade, as for trec_eval, or is a file of BEIR with its "
    "header, or ir_datasets:NAME or mteb:TASK, whose judgments that library downloads unless it has them. RUN has "
    "lines of query, Q0, document, rank, score and tag, as for trec_eval, or has the ranked ids or the hits of each "
    "query in JSON (.json, .jsonl), such as predictions of sentence-transformers, rank_llm or MTEB "
    "(TASK_predictions.json; a split is named as FILE:SUBSET/SPLIT). Both "
    "may be packed by gzip, xz, bzip2 or zstd. One of them may be -, which is standard input, "
    "and both may be pipes, such as <(ssh host cat run.gz). Documents are ranked by their scores alone: the ranks in "
    "the file, the order of the lines and the names of documents change nothing. Means are over the queries of "
    "QRELS; with -c they are those of trec_eval -c. Names of trec_eval 10 mean what they mean there: -m official, "
    "-m set and -m all_trec are its sets, -m P has its default cutoffs, and with -q, lines have the names that it "
    "prints for those that were asked for. recall@100 is R@100.",
    (
        "tieproof run qrels.txt run.txt",
        "tieproof run qrels.txt run.txt -m AP,nDCG@10 -q",
        "tieproof run qrels.txt run.txt -m map -m P.5,10 -m ndcg_cut.10",
        "tieproof run qrels.txt run.txt -m official -q",
        "tieproof run qrels.txt run.txt -l 2 -m map -m ndcg_cut.10",
        "tieproof run qrels.txt run.txt --categories categories.txt --average macro",
        "tieproof run qrels.txt run.txt --truncated --n-items 100000 --json result.json",
        "tieproof run qrels.txt predictions.jsonl --truncated -m nDCG@10",
        "tieproof run SciFact_qrels.json SciFact_predictions.json --longest 1000",
        "tieproof run qrels.txt run.txt --noise 0.001",
        "tieproof run qrels.json reranked.json --own drop",
        "tieproof run qrels.txt chunks.run --documents documents.txt --duplicates first",
        "tieproof run qrels.txt run.txt -m ndcg_cut.10 --as trec_eval",
        "tieproof run qrels.txt run.txt --save run.tieproof",
        "tieproof run qrels.txt base.run ours.run -m nDCG@10,AP --latex table.tex",
    ),
    qrels="The judgments; a grade above 0 is relevant.",
    run=argument(
        "The documents of a system and their scores; several are ranked, as by tieproof leaderboard, or shown as by "
        "tp.table if several measures are named.",
        nargs=-1,
        required=False,
        metavar="RUN...",
    ),
    **shared("measures"),
    level=Option(
        "The smallest grade that is relevant, as -l of trec_eval; nDCG, ERR and RBP(gain=linear) read all grades. "
        "Default: all grades above 0 are.",
        OptionKind("GRADE", options.ANY_NUMBER),
        ("--level", "-l"),
    ),
    lines=options.lines(
        "measure, query (all for the mean) and lower bound, as trec_eval -q does; --per-query writes the whole "
        "interval"
    ),
    categories="The file with a line of query and category, or - for standard input; the result of each category is "
    "shown, too.",
    **shared("average"),
    missing="How a query scores that has relevant documents but is missing from RUN.",
    **shared("empty"),
    complete=flag(
        "Means are over all queries of QRELS, as with -c of trec_eval: the same as --missing zero --empty zero.",
        "--complete",
        "-c",
    ),
    deepest=Option("Refused, with the reason.", OptionKind("NUMBER", _deepest), ("-M",), more={"hidden": True}),
    truncated=flag(
        "Treat each list as cut off at its length: its last tie may continue beyond the end, and the bounds cover "
        "every possible continuation.",
        "--truncated",
    ),
    longest=Option("--truncated for lists of so many documents, or more; shorter ones are complete.", options.COUNT),
    n_items=Option(
        "The number of documents in the collection, which limits how far the last tie can continue.", options.COUNT
    ),
    **shared("noise"),
    precision="Round the scores first, as trec_eval before version 10 does to float32.",
    **shared("own duplicates documents"),
    rule=Option(
        "Also show the value that a library prints, which breaks ties by this rule, to see where a published number "
        "lies in the interval.",
        options.choice(RULES),
        ("--as",),
    ),
    **shared("ci distribution explain json latex markdown per_query plot plot_precision_recall save"),
    report="Write the result as a page (.html).",
    items="For --report: a line for each query, with its name and a text or the path of an image.",
    gallery_items="For --report: the same for each document of the run.",
)
def run(
    outputs: Outputs,
    qrels: str,
    run: Sequence[str],
    lines: bool,
    rule: Text,
    complete: bool,
    longest: int | None,
    deepest: None,
    ci: float | None,
    distribution: Text,
    report: Text,
    items: Text,
    gallery_items: Text,
    **settings: Any,
) -> None:
    """Read the files, evaluate the run, write and show the result."""
    if not run:
        raise InputError(
            f"{qrels} was given alone, but QRELS and RUN are two files. For a table with the scores and the "
            f"relevance of documents, use tieproof scores {qrels}."
        )
    if len(run) > 1:
        named, _ = _as_in_trec_eval(as_in_runs(settings["measures"]))
        if "measures" in options.given_options() and len(named) > 1:
            _tabulate(outputs, [qrels, *run], settings | {"measures": named})
        else:
            _rank([qrels, *run])
        return
    if rule is not None and (lines or distribution):
        raise InputError(
            f"--as adds a column to the table, which {'--lines (-q)' if lines else '--distribution'} replaces; leave "
            "one of them out."
        )
    if longest is not None:
        settings["truncated"] = longest
    if settings["n_items"] is not None and not settings["truncated"]:
        raise InputError("--n-items applies only to lists that were cut off; add --truncated, or leave it out.")
    check_lines(lines, outputs)
    if settings["average"] == "macro" and settings["categories"] is None:
        raise InputError("--average macro is the mean over categories of queries; add --categories.")
    if complete and (settings["missing"], settings["empty"]) not in (("zero", "skip"), ("zero", "zero")):
        raise InputError("-c is --missing zero --empty zero; leave out -c, or the other options.")
    settings["empty"] = "zero" if complete else settings["empty"]
    named, names = _as_in_trec_eval(as_in_runs(settings["measures"]))
    settings["measures"] = measures_of(outputs, named)
    options.check_options(measures=settings["measures"])
    function, page = with_page(
        tieproof.evaluate_run, report, items, gallery_items, lambda location: text.read(location, "name", "text")
    )

    def evaluated(qrels: str, run: str, **options: Any) -> Result:
        result = showing(function, ci)(qrels, run, **options)
        given = {"qrels": qrels, "run": run, "documents": options["documents"]}
        return result if rule is None else result.as_printed(rule, **given)

    given = [qrels, *run, items, gallery_items, *map(settings.get, PAIRS)]
    read = [split(path).path for path in given if path]
    make = lambda: evaluated_files(evaluated, *read_files((qrels, *run), settings), **settings)  # noqa: E731
    result = written(make, read, [*outputs, (report, page)])
    if lines:
        say(_lines_of(result, names))
        for sentence in _left_out(result):
            print(sentence, file=sys.stderr)
    else:
        answer(outputs, result.distribution(distribution) if distribution else result)


def _rank(files: Sequence[str]) -> None:
    context = click.get_current_context()
    group = context.find_root().command
    assert isinstance(group, click.Group)
    leaderboard = group.get_command(context, "leaderboard")
    assert leaderboard is not None
    given = _given_of_several(files, [str(option.name) for option in leaderboard.params])
    context.invoke(leaderboard, files=files, **{name: context.params[name] for name in given})


def _tabulate(outputs: Outputs, files: Sequence[str], settings: Mapping[str, Any]) -> None:
    _given_of_several(files, [*signature(tieproof.evaluate_run).parameters, "explain", "json", "latex", "markdown"])
    systems = system_names.named(files[1:], {})

    def scored() -> tieproof.ScoreTable:
        (judged_by, *runs), pairs = read_files((files[0], *systems.values()), settings)
        options = {**settings, **{name: values for name, (_, values) in pairs.items()}}
        return tieproof.table(dict(zip(systems, evaluate_runs(judged_by, runs, **options), strict=True)))

    answer(outputs, written(scored, [*files, *filter(None, map(settings.get, PAIRS))], outputs))


def _given_of_several(files: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the options that were given; InputError for one that is not known for several runs."""
    given = [name for name in options.given_options() if name not in ("qrels", "run")]
    for name in given:
        if name not in known:
            raise InputError(f"--{name} applies to a single run, but {len(files) - 1} were given; leave it out.")
    return given


# The options that name a file with a pair on each line, and the words for both of a pair.
PAIRS = {"categories": ("query", "category"), "documents": ("chunk", "document")}
Pairs = Mapping[str, tuple[str | Piped, Mapping[str, str]]]  # the file of such an option, and what it has


def read_files(files: Sequence[str], options: Mapping[str, Any]) -> tuple[list[str | Piped], Pairs]:
    """Return the files, where those that are pipes or standard input have been read, and the pairs of the options."""
    paths = {name: options[name] for name in PAIRS if options.get(name) is not None}
    read = with_pipes_read(*files, *paths.values())
    named = zip(paths, read[len(files) :], strict=True)
    return read[: len(files)], {name: (path, text.read(path, *PAIRS[name])) for name, path in named}


def evaluated_files(
    function: Callable[..., Answer], files: Sequence[str | Piped], pairs: Pairs, **options: Any
) -> Answer:
    """Apply a function of runs to the files of the qrels and of the run; errors name the files they are about."""
    options |= {name: values for name, (_, values) in pairs.items()}
    try:
        return function(*files, **options)
    except InputError as error:
        if error.argument in ("qrels", "run"):
            raise
        about = [str(path) for name, (path, _) in pairs.items() if name == error.argument] or map(str, files)
        said = str(error).replace("n_items", "--n-items", 1) if error.argument == "n_items" else str(error)
        raise InputError(f"{', '.join(about)}: {said}", error.argument) from error


def _left_out(result: tieproof.Result) -> Iterator[str]:
    """Yield what the table says about queries missing from the qrels or the run; -q prints no table."""
    yield from about_run(result)
    if unjudged := len(result.skipped.get(NOT_JUDGED, ())):
        yield f"Left out: {count(unjudged, 'query')} with {NOT_JUDGED}."


def _as_in_trec_eval(measures: Sequence[str]) -> tuple[list[str], dict[Measure, str]]:
    """The measures, in our spelling except for the sets of trec_eval, and the names that it prints for its own."""
    asked: list[str] = []
    names: dict[Measure, str] = {}
    for part in (part for listed in measures for part in parts_of(listed) or [listed]):
        found = members(part).measures
        asked += [part] if part in SETS or not found else found.values()
        names |= {parse(ours): name for name, ours in found.items()}
    return asked, names


def _lines_of(result: Result, names: Mapping[Measure, str]) -> str:
    """A line for each query and measure, then one for each mean.

    A line has only the three columns of trec_eval, separated by tabs, so that programs which read its output can read
    these lines: the measure, the query, and the value with four decimals, or without any for a count. The value is
    the lower bound, from which ties never gain. As in trec_eval, the number of queries is that of all alone.
    """
    columns = []
    for measure in map(parse, result.measures):
        name = f"{names.get(measure.without_rel, str(measure)):<22}"
        written = "%.0f" if measure.definition.total else "%6.4f"
        of_queries = [] if measure.name == "NumQ" else getattr(result.per_query(measure), HEADLINE).tolist()
        columns.append((name, written, of_queries, getattr(result[measure], HEADLINE)))
    lines = [
        f"{name}\t{query}\t{written % of_queries[at]}"
        for at, query in enumerate(map(printable, result.query_ids.tolist()))
        for name, written, of_queries, _ in columns
        if of_queries
    ]
    return "\n".join([*lines, *(f"{name}\tall\t{written % mean}" for name, written, _, mean in columns)])
