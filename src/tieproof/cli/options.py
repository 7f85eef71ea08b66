"""Options that several commands share, with the parsers that read and check their values."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import click
from click.shell_completion import CompletionItem

from tieproof.cli.documented import Argument
from tieproof.distances import DISTANCES, our_name
from tieproof.errors import InputError
from tieproof.evaluation.evaluated import EMPTY
from tieproof.evaluation.scoring import parse_measures
from tieproof.inputs.categories import AVERAGES
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.measures import DEFAULT_MEASURES, REGISTRY, parse
from tieproof.records.writing import RECORDS
from tieproof.show.files import PER_QUERY, PICTURES

Text = str | None

TIE_STD = "In tables, tie std is the standard deviation over the orderings of tied items, not over the queries."


def one_of(names: Iterable[str]) -> str:
    """Return the sentence in which help texts list names."""
    return f"One of {', '.join(names)}."


def whole_number(text: str) -> int:
    """Parse a whole number; the message of an error is ours, the same in all versions of click."""
    try:
        return int(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a whole number") from None


def count(text: str) -> int:
    """Parse a whole number of at least 1."""
    number = whole_number(text)
    if number < 1:
        raise click.BadParameter(f"{text!r} is not a number of at least 1")
    return number


def share(text: str) -> float:
    """Parse a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None
    if not 0 <= number <= 1:
        raise click.BadParameter(f"{text!r} is not a number from 0 to 1")
    return number


def between_0_and_1(text: str) -> float:
    """Parse a number between 0 and 1; 0, 1 and the largest float64 below 1 are refused."""
    number = share(text)
    if number == 0 or (1 + number) / 2 == 1:
        raise click.BadParameter(f"{text!r} is not a number between 0 and 1")
    return number


def file_path(text: str) -> str:
    """Return the path or location; an empty text, such as an unset variable of the shell, is refused."""
    if not text:
        raise click.BadParameter("an empty text is not a path")
    return text


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(*names: str, text: str, metavar: str, parser: Callable[[str], Any] = str, **more: Any) -> Decorator:
    """Make an option with its help text."""
    return click.option(*names, help=text, metavar=metavar, type=parser, **more)


def argument(name: str, **more: Any) -> Decorator:
    """Make an argument with its explanation."""

    def add(function: Callable[..., Any]) -> Any:
        return click.argument(name, cls=Argument, **more)(function)  # click 8.1.0 takes cls away at the first use

    return add


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


file_option = partial(option, metavar="FILE", parser=file_path, shell_complete=complete_file)
number_option = partial(option, metavar="NUMBER", parser=whole_number)
count_option = partial(option, metavar="NUMBER", parser=count)
share_option = partial(option, metavar="SHARE", parser=share)
measures_option = partial(
    option, "--measure", "-m", "measures", metavar="NAME", multiple=True, shell_complete=complete_measure
)

file_argument = partial(argument, type=file_path, shell_complete=complete_file)


def choice_option(*names: str, text: str, choices: Iterable[str], **more: Any) -> Decorator:
    """Make an option whose value is one of several words."""
    words = tuple(choices)

    def known(word: str) -> str:
        if word not in words:
            raise click.BadParameter(f"{word!r} is not one of {', '.join(words)}")
        return word

    text = f"{text} {one_of(words)}"
    return option(*names, text=text, metavar="NAME", parser=known, shell_complete=among(words), **more)


EARLIER = {"quiet": "lines", "per-query-lines": "lines"}
"""Names that `--lines` had, which still work."""

EARLIER_NAMES = {"token_normalize_func": lambda name: EARLIER.get(name, name)}
"""The settings of a command that takes `lines_option`."""


def lines_option(contents: str) -> Decorator:
    """Make the option that replaces the table by lines for scripts."""
    return click.option("--lines", "-q", is_flag=True, help=f"Print plain lines instead of the table: {contents}.")


CHECKED: dict[str, tuple[str, Callable[[Any], object]]] = {
    "distance": ("--distance", our_name),
    "measure": ("--measure", parse),
    "measures": ("--measure", parse_measures),
    "memory": ("--memory", parse_memory),
    "threads": ("--threads", parse_threads),
}
"""For each argument: its option, and the function that refuses wrong values."""


def check_options(**given: Any) -> None:
    """Refuse wrong values before any file is read; the message names the option."""
    for argument, (name, check) in CHECKED.items():
        try:
            if given.get(argument) is not None:
                check(given[argument])
        except InputError as error:
            raise InputError(f"{name}: {error}") from error


embeddings = file_argument("embeddings", meaning="The vectors, one per row.")
labels = file_argument(
    "labels", required=False, meaning="The labels, one per row. Default: the labels in the file of EMBEDDINGS."
)

gallery = file_option("--gallery", text="The gallery: the vectors that are ranked for each query.")
gallery_labels = file_option("--gallery-labels", text="The labels of the gallery. Default: those in its file.")
groups = file_option(
    "--groups", text="The groups; items with both the label and the group of the query are excluded."
)
gallery_groups = file_option("--gallery-groups", text="The groups of the gallery.")
distance_option = partial(option, "--distance", "-d", metavar="NAME", shell_complete=among(DISTANCES))
distance = distance_option(default="cosine", text=one_of(DISTANCES))
bits = number_option("--bits", text="The number of bits of a packed code (hamming).")
memory = option("--memory", metavar="SIZE", default="1GiB", text="The memory to use in addition to the embeddings.")
cluster = option(
    "--cluster",
    metavar="ADDRESS",
    text="Count on the workers of a Ray cluster: auto, local, or host:port. --memory and --threads (default: 1) are "
    "then those of each worker.",
    shell_complete=among(["auto", "local"]),
)
checkpoint = option(
    "--checkpoint",
    metavar="FOLDER",
    text="Save the counts of each finished part in this folder, so that the same command resumes where it stopped.",
    parser=file_path,
    shell_complete=complete_file,
)
threads = number_option("--threads", text="The number of threads. Default: one per processor.")

measures = measures_option(
    default=DEFAULT_MEASURES,
    text="A measure such as P@10 or nDCG(gain=exp)@10, or several with commas between them; repeat it for more. "
    "tieproof measures shows all.",
)
empty = choice_option("--empty", default="skip", text="How a query scores that has nothing relevant.", choices=EMPTY)
categories = file_option(
    "--categories", text="The file with a category for each query; the result of each category is shown, too."
)
confidence = file_option(
    "--confidence",
    text="The file with a confidence for each query; the error of the most confident queries is shown, too.",
)
average = choice_option(
    "--average",
    default="micro",
    text="micro: the mean over all queries; macro: the mean of the means of the categories.",
    choices=AVERAGES,
)
ci = option(
    "--ci",
    metavar="SHARE",
    text="Also show confidence intervals over the queries, with this confidence, such as 0.95: what the choice of "
    "queries leaves open, in addition to what ties leave open.",
    parser=between_0_and_1,
)
json = file_option("--json", text="Write the result as JSON; - is standard output.")
per_query = file_option(
    "--per-query",
    text=f"Write a table with a row for each query ({', '.join(PER_QUERY)}). In .csv, an apostrophe stands before "
    "names that a spreadsheet would evaluate, such as =1+1.",
)
save = file_option(
    "--save",
    text=f"Write the whole result as a record ({', '.join(RECORDS)}), which tieproof verify checks. With the "
    "embeddings, its scores of every query reveal what is relevant.",
)
plot = file_option("--plot", text=f"Draw the interval of each measure ({', '.join(PICTURES)}).")
