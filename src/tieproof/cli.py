"""The command line: read files, evaluate, show a table; one line on standard error where something is wrong."""

import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Annotated, Any, NamedTuple, NoReturn, TextIO, cast

import typer
from typer.main import get_command

import tieproof
from tieproof.distances import DISTANCES, find_distance
from tieproof.errors import InputError, TieproofError
from tieproof.readers import FORMATS, read_embeddings, read_labels
from tieproof.readers.location import split
from tieproof.reports.files import MEANS, PER_QUERY, Formats, output
from tieproof.reports.text import render as render_result
from tieproof.scoring import EMPTY, check_empty, parse_measures
from tieproof.settings import parse_memory, parse_threads

OK, DEFECT, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK = "TIEPROOF_TRACEBACK"
WIDEST = 100

# What the argument parser raises for wrong usage; its class has no public name of its own.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__base__)

app = typer.Typer(
    name="tieproof",
    help="Score embeddings so that ties never pay: every measure with its lowest, expected and highest value over "
    "all orderings of items at exactly the same distance. The same data gives the same number, to the last bit, "
    "whatever its order and whatever the machine.",
    epilog="Example: tieproof demo",
    add_completion=False,
    pretty_exceptions_enable=False,
)

EVALUATE = (
    "Score embeddings exactly, with the whole interval that ties leave open.\n\n"
    "Without --gallery every item queries all the others (leave-one-out); with it, EMBEDDINGS are the queries.\n\n"
    f"Files end in {', '.join(FORMATS)}. One of several arrays in a file, or one column of a table, is named behind "
    "a colon: data.npz:features."
)

EXAMPLES = """Examples:

tieproof evaluate embeddings.npy labels.npy

tieproof evaluate queries.npz --gallery gallery.npz -d euclidean -m P@10

tieproof evaluate data.npz --json result.json --per-query queries.csv
"""

DEMO = "Show what ties do to scores, on 1,797 handwritten digits that come with the package."

MEASURES = [*tieproof.DEFAULT_MEASURES]

Text = str | None


def one_of(names: Mapping[str, Any]) -> str:
    """Names as help texts list them."""
    return f"One of {', '.join(names)}."


def whole_number(text: str) -> int:
    """A whole number, refused in the same words by all versions of the parser."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None


def option(*names: str, text: str, metavar: str, parser: Callable[[str], Any] | None = None) -> Any:
    """An option with its help text."""
    return typer.Option(*names, help=text, metavar=metavar, parser=parser)


file_option = partial(option, metavar="FILE")
number_option = partial(option, metavar="NUMBER", parser=whole_number)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        print(f"tieproof {tieproof.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
    show_traceback: Annotated[
        bool, typer.Option("--traceback", help=f"Show where a defect of tieproof is; so does {TRACEBACK}=1.")
    ] = False,
) -> None:
    """Without a command, show what there is."""
    if context.invoked_subcommand is None:
        print(context.get_help())


class Files(NamedTuple):
    """Where one side of an evaluation, the queries or the gallery, is read from."""

    embeddings: str
    labels: Text
    groups: Text

    @property
    def labels_read(self) -> str:
        """The location of the labels: without one, the file of the embeddings."""
        return self.labels or str(split(self.embeddings).path)

    @property
    def locations(self) -> list[str]:
        """All that is read."""
        return [location for location in (self.embeddings, self.labels_read, self.groups) if location]

    def read(self) -> tuple[Any, Any, Any]:
        """Embeddings, labels and groups."""
        embeddings = read_embeddings(self.embeddings, labels=self.labels)
        self.check_apart(embeddings)
        return embeddings, read_labels(self.labels_read), self.groups and read_labels(self.groups)

    def check_apart(self, embeddings: Any) -> None:
        """Refuse labels that would be read from the embeddings, and groups that were taken for a dimension."""
        path = split(self.embeddings).path
        if self.labels is None and len(FORMATS[path.suffix.lower()].entries(path, None)) == 1:
            raise InputError(
                f"{path} holds a single array and no labels; give them in a file of their own, "
                "as LABELS or --gallery-labels."
            )
        if self.groups and split(self.groups).path == path:
            without = read_embeddings(self.embeddings, labels=self.groups)
            if without.shape != embeddings.shape:
                raise InputError(
                    f"{self.groups} would be one of the dimensions of {path}; put the groups in a file of their own."
                )


@app.command(help=EVALUATE, epilog=EXAMPLES)
def evaluate(
    embeddings: Annotated[str, typer.Argument(metavar="EMBEDDINGS", help="Vectors, one a row.")],
    labels: Annotated[
        Text, typer.Argument(metavar="LABELS", help="One label a row. Default: those in the file of EMBEDDINGS.")
    ] = None,
    gallery: Annotated[Text, file_option("--gallery", text="The retrieval database.")] = None,
    gallery_labels: Annotated[
        Text, file_option("--gallery-labels", text="Its labels. Default: those in its file.")
    ] = None,
    distance: Annotated[str, option("--distance", "-d", metavar="NAME", text=one_of(DISTANCES))] = "cosine",
    measures: Annotated[
        list[str],
        option(
            "--measure", "-m", metavar="NAME", text="A measure such as P@10 or nDCG(gain=exp)@10; repeat it for more."
        ),
    ] = MEASURES,
    groups: Annotated[
        Text, file_option("--groups", text="Items with the query's label and group are excluded.")
    ] = None,
    gallery_groups: Annotated[Text, file_option("--gallery-groups", text="The groups of the gallery.")] = None,
    bits: Annotated[int | None, number_option("--bits", text="Bits of packed codes (hamming).")] = None,
    empty: Annotated[
        str, option("--empty", metavar="NAME", text=f"What a query with nothing relevant scores. {one_of(EMPTY)}")
    ] = "skip",
    memory: Annotated[str, option("--memory", metavar="SIZE", text="Memory to use beside the embeddings.")] = "1GiB",
    threads: Annotated[int | None, number_option("--threads", text="Default: one for each processor.")] = None,
    json: Annotated[Text, file_option("--json", text="Write the result as JSON; - is standard output.")] = None,
    per_query: Annotated[
        Text, file_option("--per-query", text=f"Write a table of every query ({', '.join(PER_QUERY)}).")
    ] = None,
) -> None:
    """Read, evaluate, write, show."""
    check_options(
        {
            "--distance": lambda: find_distance(distance),
            "--measure": lambda: parse_measures(measures),
            "--empty": lambda: check_empty(empty),
            "--memory": lambda: parse_memory(memory),
            "--threads": lambda: parse_threads(threads),
        }
    )
    if gallery is None and (gallery_labels or gallery_groups):
        raise InputError("--gallery-labels and --gallery-groups belong to a gallery; give its file with --gallery.")
    sides = [Files(embeddings, labels, groups)]
    if gallery is not None:
        sides.append(Files(gallery, gallery_labels, gallery_groups))
    files = [(None if json == "-" else json, MEANS), (per_query, PER_QUERY)]
    with outputs([(path, formats) for path, formats in files if path], sides) as writers:
        result = evaluate_files(
            sides,
            distance=distance,
            measures=measures,
            empty=empty,
            memory=memory,
            threads=threads,
            bits=bits,
            progress=is_terminal(sys.stderr),
        )
        for write in writers:
            write(result)
    if json == "-":
        print(result.to_json())
    else:
        show(render_result, result)


@app.command(help=DEMO, epilog="Example: tieproof demo")
def demo() -> None:
    """Evaluate the digits."""
    from tieproof import demo as digits

    show(digits.render, digits.run())


def check_options(checks: Mapping[str, Callable[[], object]]) -> None:
    """Refuse a value by the name of its option, before any file is read."""
    for name, check in checks.items():
        try:
            check()
        except InputError as error:
            raise InputError(f"{name}: {error}") from error


@contextmanager
def outputs(
    files: Sequence[tuple[str, Formats]], sides: Sequence[Files]
) -> Iterator[list[Callable[[tieproof.Result], None]]]:
    """Yield what writes each of the files; none may be one that is read."""
    read = [split(location).path for side in sides for location in side.locations]
    for path, _ in files:
        if os.path.exists(path) and any(file.exists() and file.samefile(path) for file in read):
            raise InputError(f"{path} is read in this evaluation; give the result a file of its own.")
    with ExitStack() as stack:
        yield [stack.enter_context(output(path, formats)) for path, formats in files]


def evaluate_files(sides: Sequence[Files], **options: Any) -> tieproof.Result:
    """Evaluate what is read; an error names the files that it speaks of."""
    embeddings, labels, groups = sides[0].read()
    for side in sides[1:]:
        options |= dict(zip(("gallery", "gallery_labels", "gallery_groups"), side.read(), strict=True))
    try:
        return tieproof.evaluate(embeddings, labels, groups=groups, **options)
    except InputError as error:
        raise InputError(f"{files_meant(str(error), sides)}: {error}") from error


def files_meant(message: str, sides: Sequence[Files]) -> str:
    """The files that the first sentence of a message speaks of; all of them where it names none."""
    queries, items = sides[0], sides[-1]
    files: dict[str, list[Text]] = {
        "gallery labels": [items.labels_read],
        "gallery_groups": [items.groups],
        "gallery": [items.embeddings],
        "labels": [queries.labels_read],
        "groups": [queries.groups],
        "embeddings": [queries.embeddings],
        "relevant": [queries.labels_read, items.labels_read],
        "queries": [queries.embeddings],
    }
    words = re.findall("|".join(files), message.partition(". ")[0])
    wanted = [name for word in words for name in files[word]] or [name for side in sides for name in side.locations]
    return ", ".join(dict.fromkeys(name for name in wanted if name))


def show(render: Callable[[Any, int | None, bool], str], what: object) -> None:
    """Print a report in the width and with the colours of the terminal, if it is one."""
    terminal = is_terminal(sys.stdout)
    width = min(shutil.get_terminal_size().columns, WIDEST) if terminal else None
    print(render(what, width, terminal and not os.environ.get("NO_COLOR")))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is watching; a closed stream is None."""
    return stream is not None and stream.isatty()


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status.

    0 : all is well
    2 : bad input or usage; one line on standard error says what is wrong
    1 : a defect of tieproof
    130 : interrupted from the keyboard
    """
    sys.exit(run(sys.argv[1:] if args is None else list(args)))


def run(args: list[str]) -> int:
    """Run a command, and turn whatever it raises into a line and a status."""
    command = get_command(app)
    try:
        with command.make_context("tieproof", list(args)) as context:
            command.invoke(context)
        print(end="", flush=True)
    except typer.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return fail("Interrupted; nothing was written.", INTERRUPTED)
    except UsageError as error:
        where = error.ctx.command_path if error.ctx else "tieproof"
        message = error.format_message()
        return fail(f"{message}{'' if message.endswith(('.', '?')) else '.'} See: {where} --help")
    except TieproofError as error:
        return fail(str(error))
    except MemoryError as error:
        return fail(f"Memory ran out ({error or 'no details'}). Free some, or set a smaller --memory.")
    except BrokenPipeError:
        discard_output()  # such as `| head`, which has seen enough
    except OSError as error:
        discard_output()
        return fail(f"{error.filename or 'Standard output'}: {error.strerror or error}.")
    except Exception as error:
        if "--traceback" in args or os.environ.get(TRACEBACK, "0") != "0":
            traceback.print_exc()
        return fail(
            f"A defect of tieproof, not of your data: {type(error).__name__}: {error}. "
            f"Please report it, with what {TRACEBACK}=1 shows in the environment.",
            DEFECT,
        )
    return OK


def fail(message: str, status: int = BAD_INPUT) -> int:
    """Say in one line what is wrong."""
    print(f"Error: {' '.join(message.split())}" if status != INTERRUPTED else message, file=sys.stderr)
    return status


def discard_output() -> None:
    """Send what is still unwritten nowhere, or the interpreter would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
