"""Options that several commands have, how their values are read, and how they are refused."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import click

from tieproof.calls.scoring import parse_measures
from tieproof.cli.documented import Argument
from tieproof.distances import DISTANCES, our_name
from tieproof.errors import InputError
from tieproof.inputs.categories import AVERAGES
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.measures import DEFAULT_MEASURES, parse
from tieproof.results.evaluated import EMPTY
from tieproof.views.text.files import PER_QUERY, PICTURES, RECORDS

Text = str | None

TIE_STD = "In tables, tie std is the standard deviation over the orderings of tied items, not over the queries."


def one_of(names: Iterable[str]) -> str:
    """Names as help texts list them."""
    return f"One of {', '.join(names)}."


def whole_number(text: str) -> int:
    """A whole number, refused in the same words by all versions of the parser."""
    try:
        return int(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a whole number") from None


def count(text: str) -> int:
    """A whole number of at least 1."""
    number = whole_number(text)
    if number < 1:
        raise click.BadParameter(f"{text!r} is not a number of at least 1")
    return number


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None
    if not 0 <= number <= 1:
        raise click.BadParameter(f"{text!r} is not a number from 0 to 1")
    return number


def between_0_and_1(text: str) -> float:
    """A number between 0 and 1, and neither, nor so near to 1 that float64 has nothing between the two."""
    number = share(text)
    if number == 0 or (1 + number) / 2 == 1:
        raise click.BadParameter(f"{text!r} is not a number between 0 and 1")
    return number


def file_path(text: str) -> str:
    """A path or location; the empty text, such as a variable of a shell that is not set, is none."""
    if not text:
        raise click.BadParameter("an empty text is not the path of a file")
    return text


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(*names: str, text: str, metavar: str, parser: Callable[[str], Any] = str, **more: Any) -> Decorator:
    """An option with its help text."""
    return click.option(*names, help=text, metavar=metavar, type=parser, **more)


def argument(name: str, **more: Any) -> Decorator:
    """An argument with its meaning."""
    return click.argument(name, cls=Argument, **more)


file_option = partial(option, metavar="FILE", parser=file_path)
number_option = partial(option, metavar="NUMBER", parser=whole_number)
count_option = partial(option, metavar="NUMBER", parser=count)
share_option = partial(option, metavar="SHARE", parser=share)
measures_option = partial(option, "--measure", "-m", "measures", metavar="NAME", multiple=True)

file_argument = partial(argument, type=file_path)


def choice_option(*names: str, text: str, choices: Iterable[str], **more: Any) -> Decorator:
    """An option that is one of several words."""
    words = tuple(choices)

    def known(word: str) -> str:
        if word not in words:
            raise click.BadParameter(f"{word!r} is not one of {', '.join(words)}")
        return word

    return option(*names, text=f"{text} {one_of(words)}", metavar="NAME", parser=known, **more)


CHECKED: dict[str, tuple[str, Callable[[Any], object]]] = {
    "distance": ("--distance", our_name),
    "measure": ("--measure", parse),
    "measures": ("--measure", parse_measures),
    "memory": ("--memory", parse_memory),
    "threads": ("--threads", parse_threads),
}
"""The option behind an argument, and what refuses a value that it does not take."""


def check_options(**given: Any) -> None:
    """Refuse a value by the name of its option, before any file is read."""
    for argument, (name, check) in CHECKED.items():
        try:
            if given.get(argument) is not None:
                check(given[argument])
        except InputError as error:
            raise InputError(f"{name}: {error}") from error


embeddings = file_argument("embeddings", meaning="Vectors, one a row.")
labels = file_argument("labels", required=False, meaning="One label a row. Default: those in the file of EMBEDDINGS.")

gallery = file_option("--gallery", text="The retrieval database.")
gallery_labels = file_option("--gallery-labels", text="Its labels. Default: those in its file.")
groups = file_option("--groups", text="Items with the query's label and group are excluded.")
gallery_groups = file_option("--gallery-groups", text="The groups of the gallery.")
distance = option("--distance", "-d", metavar="NAME", default="cosine", text=one_of(DISTANCES))
bits = number_option("--bits", text="Bits of packed codes (hamming).")
memory = option("--memory", metavar="SIZE", default="1GiB", text="Memory to use beside the embeddings.")
cluster = option(
    "--cluster",
    metavar="ADDRESS",
    text="Count on the workers of a Ray cluster: auto, local, or host:port; memory and threads (one) are each "
    "worker's.",
)
checkpoint = option(
    "--checkpoint",
    metavar="FOLDER",
    text="Write down what is counted, part by part; the same command goes on where it was.",
    parser=file_path,
)
threads = number_option("--threads", text="Default: one for each processor.")

measures = measures_option(
    default=DEFAULT_MEASURES,
    text="A measure such as P@10 or nDCG(gain=exp)@10, or several with commas between them; repeat it for more. "
    "tieproof measures shows all.",
)
empty = choice_option("--empty", default="skip", text="What a query with nothing relevant scores.", choices=EMPTY)
categories = file_option("--categories", text="A category for each query; the result is shown for each, too.")
confidence = file_option(
    "--confidence", text="A number for each query; shows the error of the most confident ones, too."
)
average = choice_option(
    "--average",
    default="micro",
    text="The mean over all queries, or over the categories of the means over their queries.",
    choices=AVERAGES,
)
ci = option(
    "--ci",
    metavar="SHARE",
    text="Show the confidence interval over the queries, too, such as 0.95: what their choice leaves open, beside "
    "what ties leave open.",
    parser=between_0_and_1,
)
json = file_option("--json", text="Write the result as JSON; - is standard output.")
per_query = file_option("--per-query", text=f"Write a table of every query ({', '.join(PER_QUERY)}).")
save = file_option(
    "--save", text=f"Write all of the result as a record ({', '.join(RECORDS)}), which tieproof verify checks."
)
plot = file_option("--plot", text=f"Draw the interval of each measure ({', '.join(PICTURES)}).")
