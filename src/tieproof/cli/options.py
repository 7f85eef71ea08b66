"""Options of commands, made from the signature of the call that a command stands for.

A command lists its arguments and options by the names of their parameters, in the order of its help, each with its
text. The signature tells the rest: a parameter that is passed by position is an argument, required without a default;
one that takes some words is a choice, a bool a flag, an integer a number, and anything else the file of an array.
Where the command line differs, an `Option` says so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple, get_args, get_origin

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from tieproof.cli.commands import Argument, CommandWithExamples
from tieproof.cli.output import Outputs
from tieproof.cli.output import Text as Text
from tieproof.distances import DISTANCES, OF_SEVERAL, our_name
from tieproof.errors import InputError
from tieproof.evaluation.pictures import CURVES, PICTURES
from tieproof.evaluation.saving import RECORDS
from tieproof.evaluation.scoring import parse_measures
from tieproof.inputs.list_rules import OWN
from tieproof.inputs.lists import DUPLICATES
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.measures import DEFAULT_MEASURES, REGISTRY, parse
from tieproof.show.files import LATEX, MARKDOWN, MEANS, PAGE, PER_QUERY, Formats

TIE_STD = "In tables, tie std is the standard deviation over the orderings of tied items, not over the queries."


def number(
    meant: str, fits: Callable[[Any], bool] = lambda value: True, kind: Callable[[str], Any] = float
) -> Callable[[str], Any]:
    """Return a parser of what is meant, in words; its message of an error is the same in all versions of click."""

    def parsed(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not fits(value):
            raise click.BadParameter(f"{text!r} is not {meant}")
        return value

    return parsed


def file_path(text: str) -> str:
    """Return the path or location; an empty text, such as an unset variable of the shell, is refused."""
    if not text:
        raise click.BadParameter("an empty text is not a path")
    return text


def among(words: Iterable[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes the beginning of one of the words."""
    return lambda ctx, param, incomplete: [word for word in words if word.startswith(incomplete)]


def complete_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the path of a file."""
    return [CompletionItem(incomplete, type="file")]


def complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the last of several measures with commas between them; names with brackets need quotes in a shell."""
    before, comma, begun = incomplete.rpartition(",")
    usual = (
        f"{name}@10" if each.cutoff == "required" else name for name, each in REGISTRY.items() if "(" not in name
    )
    names = dict.fromkeys([*DEFAULT_MEASURES, *usual])
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


class OptionKind(NamedTuple):
    """What an option takes: its name in the help, its parser, and what a shell completes."""

    metavar: str
    parser: Callable[[str], Any] = str
    complete: Callable[[click.Context, click.Parameter, str], Any] | None = None
    words: tuple[str, ...] = ()


FILE, FOLDER = (OptionKind(metavar, file_path, complete_file) for metavar in ("FILE", "FOLDER"))
NAME = OptionKind("NAME")
ANY_NUMBER, WHOLE = number("a number"), number("a whole number", kind=int)
NUMBER, SECONDS = OptionKind("NUMBER", WHOLE), OptionKind("SECONDS", ANY_NUMBER)
COUNT = OptionKind("NUMBER", number("a whole number of at least 1", lambda value: value >= 1, int))
SHARE = OptionKind("SHARE", number("a number from 0 to 1", lambda value: 0 <= value <= 1))
RADIUS = OptionKind("NUMBER", number("a finite number of at least 0", lambda value: 0 <= value < float("inf")))
BETWEEN_0_AND_1 = OptionKind(  # without 0, 1, and the largest float64 below 1
    "SHARE", number("a number between 0 and 1", lambda value: value > 0 and (1 + value) / 2 < 1)
)


def choice(words: Iterable[str]) -> OptionKind:
    """Return the kind of an option that takes one of some words."""
    words = tuple(words)

    def known(word: str) -> str:
        if word not in words:
            raise click.BadParameter(f"{word!r} is not one of {', '.join(words)}")
        return word

    return OptionKind("NAME", known, among(words), words)


@dataclass(frozen=True)
class Option:
    """An option where the command line differs from the signature of the call."""

    text: str  # its help
    kind: OptionKind | None = None  # what it takes; None: as the signature tells
    spelled: tuple[str, ...] = ()  # how it is written, such as ("--measure", "-m"); by default as its parameter
    formats: Formats | None = None  # what is written to the file that it names, one of the command's `Outputs`
    more: Mapping[str, Any] = field(default_factory=dict)  # further settings of click


def argument(text: str, kind: OptionKind = FILE, **more: Any) -> Option:
    """Return an argument, which is given without a name."""
    return Option(text, kind, more={"nargs": 1, **more})


def repeated(text: str, kind: OptionKind, *spelled: str, **more: Any) -> Option:
    """Return an option that may be given several times."""
    return Option(text, kind, spelled, more={"multiple": True, **more})


def measures(text: str, **more: Any) -> Option:
    """Return the option that names measures."""
    return repeated(text, OptionKind("NAME", complete=complete_measure), "--measure", "-m", **more)


def distance(text: str = "", several: bool = False) -> Option:
    """Return the option that names the distance; `several`: also one of items of several vectors."""
    known = [name for name in DISTANCES if several or name not in OF_SEVERAL]
    kind = OptionKind("NAME", complete=among(known))
    return Option(f"{text} One of {', '.join(known)}.".lstrip(), kind, ("--distance", "-d"))


def flag(text: str, *spelled: str) -> Option:
    """Return an option that takes nothing."""
    return Option(text, spelled=spelled, more={"is_flag": True})


def command(
    call: Callable[..., Any] | None, about: str, examples: Sequence[str], /, **options: Option | str
) -> Callable[[Callable[..., None]], CommandWithExamples]:
    """Make a command, which stands for `call` of the API, of the function that carries it out with these options.

    If options name files to write, these come as `Outputs`, before the other ones.
    """
    parameters = signature(call).parameters if call else {}
    given = {name: option if isinstance(option, Option) else Option(option) for name, option in options.items()}
    formats = {name: option.formats for name, option in given.items() if option.formats is not None}

    def made(function: Callable[..., None]) -> CommandWithExamples:
        def run(**values: Any) -> None:
            outputs: Outputs = []
            for name, kinds in formats.items():
                path = values.pop(name)
                outputs.append((path, kinds))
            values.pop("explain", None)  # which `answer` reads
            function(outputs, **values) if formats else function(**values)

        params = [_parameter(name, option, parameters.get(name)) for name, option in given.items()]
        return CommandWithExamples(None, params=params, callback=run, help=about, examples=examples)

    return made


def _parameter(name: str, option: Option, parameter: Parameter | None) -> click.Parameter:
    default = None if parameter is None or parameter.default is parameter.empty else parameter.default
    settings: dict[str, Any] = {**option.more}
    by_position = parameter is not None and parameter.kind is parameter.POSITIONAL_OR_KEYWORD and option.kind is None
    if by_position or "nargs" in settings:
        kind = option.kind or FILE
        settings = {"required": parameter is None or parameter.default is parameter.empty, **settings}
        return Argument([name], option.text, type=kind.parser, shell_complete=kind.complete, **settings)
    spelled = [name, *(option.spelled or [f"--{name.replace('_', '-')}"])]
    if "is_flag" in settings or (parameter is not None and parameter.annotation is bool):
        return click.Option(spelled, help=option.text, is_flag=True)
    kind = option.kind or _kind(parameter)
    if default is not None and default != ():
        settings = {"default": default, **settings}
    text = f"{option.text} One of {', '.join(kind.words)}." if kind.words else option.text
    settings = {"help": text, "metavar": kind.metavar, **settings}
    return click.Option(spelled, type=kind.parser, shell_complete=kind.complete, **settings)


def _kind(parameter: Parameter | None) -> OptionKind:
    """What an option takes by the type of its parameter."""
    kinds = () if parameter is None else (parameter.annotation, *get_args(parameter.annotation))
    for kind in kinds:
        if get_origin(kind) is Literal:
            return choice(get_args(kind))
        if kind is int:
            return NUMBER
    return FILE


def lines(contents: str) -> Option:
    """Return the option that replaces the table by lines for scripts."""
    return flag(f"Print plain lines instead of the table: {contents}.", "--lines", "-q")


def save(checked: str) -> Option:
    """Return the option that writes a record; `checked` says what checks it."""
    return Option(
        f"Write the whole result as a record ({', '.join(RECORDS)}), which {checked}. With the embeddings, its "
        "scores of every query reveal what is relevant.",
        formats=RECORDS,
    )


CHECKED: dict[str, tuple[str, Callable[[Any], object]]] = {  # of arguments: the option, and what refuses wrong values
    "distance": ("--distance", our_name),
    "measure": ("--measure", parse),
    "measures": ("--measure", parse_measures),
    "memory": ("--memory", parse_memory),
    "threads": ("--threads", parse_threads),
}


def check_options(**given: Any) -> None:
    """Refuse wrong values before any file is read; the message names the option."""
    for argument, (name, check) in CHECKED.items():
        try:
            if given.get(argument) is not None:
                check(given[argument])
        except InputError as error:
            raise InputError(f"{name}: {error}") from error


SHARED: dict[str, Option | str] = {
    "embeddings": "The vectors, one per row.",
    "labels": "The labels, one per row. Default: the labels in the file of EMBEDDINGS.",
    "gallery": "The gallery: the vectors that are ranked for each query.",
    "gallery_labels": "The labels of the gallery. Default: those in its file.",
    "distance": distance(),
    "measures": measures(
        "A measure such as P@10 or nDCG(gain=exp)@10, or several with commas between them; repeat it for more. "
        "tieproof measures shows all."
    ),
    "groups": "The groups; items with both the label and the group of the query are excluded.",
    "gallery_groups": "The groups of the gallery.",
    "exclude": "The pairs to leave out: rows of a query and an item (.csv, .npy), or bools of all pairs (.npy).",
    "categories": "The file with a category for each query; the result of each category is shown, too.",
    "average": "micro: the mean over all queries; macro: the mean of the means of the categories.",
    "confidence": "The file with a confidence for each query; the error of the most confident queries is shown, too.",
    "bits": "The number of bits of a packed code (hamming).",
    "empty": "How a query scores that has nothing relevant.",
    "noise": Option(
        "The most by which each score may be off: also show the range of each measure over all rankings that are "
        "then possible.",
        RADIUS,
    ),
    "own": Option("Drop documents with the id of their query, as for ArguAna and Quora of BEIR.", choice(OWN)),
    "duplicates": Option("Refuse an item that a list has twice, or count its first place.", choice(DUPLICATES)),
    "documents": "A file with a chunk and its document on each line; a document counts by its best chunk.",
    "memory": Option("The memory to use in addition to the embeddings.", OptionKind("SIZE")),
    "cluster": Option(
        "Compute on the workers of a Ray cluster: auto, local, or host:port. --memory and --threads (default: 1) are "
        "then those of each worker.",
        OptionKind("ADDRESS", complete=among(["auto", "local"])),
    ),
    "threads": "The number of threads. Default: one per processor.",
    "explain": flag("Show all sentences below the table, which explain every column, in place of three lines."),
    "ci": Option(
        "Also show confidence intervals over the queries, with this confidence, such as 0.95: what the choice of "
        "queries leaves open, in addition to what ties leave open.",
        BETWEEN_0_AND_1,
    ),
    "distribution": Option(
        "Show how likely each value of the mean of this measure is if ties are broken at random, in place of the "
        "table.",
        OptionKind("MEASURE", complete=complete_measure),
    ),
    "json": Option("Write the result as JSON; - is standard output.", formats=MEANS),
    "latex": Option("Write the table for a paper (.tex); - is standard output.", formats=LATEX),
    "markdown": Option("Write the table for an issue (.md); - is standard output.", formats=MARKDOWN),
    "per_query": Option(
        f"Write a table with a row for each query ({', '.join(PER_QUERY)}). In .csv, an apostrophe stands before "
        "names that a spreadsheet would evaluate, such as =1+1.",
        formats=PER_QUERY,
    ),
    "plot": Option(f"Draw the interval of each measure ({', '.join(PICTURES)}).", formats=PICTURES),
    "plot_precision_recall": Option(
        f"Draw precision over recall with the band that ties leave open ({', '.join(CURVES)}), and show its values.",
        formats=CURVES,
    ),
    "report": Option("Write the result as a page (.html).", formats=PAGE),
    "save": save("tieproof verify checks"),
}
"""The options that several commands have."""


def shared(names: str) -> dict[str, Option | str]:
    """Return these options, with blanks between their names."""
    return {name: SHARED[name] for name in names.split()}


def given_options() -> list[str]:
    """Return the names of the arguments and options that were given to the running command."""
    context = click.get_current_context()
    return [name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
