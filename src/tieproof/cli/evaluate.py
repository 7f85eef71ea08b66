"""`tieproof evaluate`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import tieproof
from tieproof.calls.scoring import parse_measures
from tieproof.cli.options import (
    MEASURES,
    TIE_STD,
    Average,
    Embeddings,
    Empty,
    Json,
    Labels,
    Measures,
    PerQuery,
    Plot,
    Text,
    check_options,
    choice_option,
    file_option,
    number_option,
    one_of,
    option,
)
from tieproof.cli.output import answer, is_terminal, outputs
from tieproof.distances import DISTANCES, our_name
from tieproof.errors import InputError
from tieproof.inputs.formats import FORMATS as PRECISIONS
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.inputs.readers import (
    CONFIDENCES,
    FORMATS,
    LABELS,
    column_of,
    holds_labels,
    is_single,
    read_confidences,
    read_embeddings,
    read_labels,
)
from tieproof.inputs.readers.location import split
from tieproof.views.text.text import render

Answer = TypeVar("Answer")

HELP = (
    f"Score embeddings exactly, with the whole interval that ties leave open. {TIE_STD}\n\n"
    "Without --gallery every item queries all the others (leave-one-out); with it, EMBEDDINGS are the queries.\n\n"
    f"Files end in {', '.join(FORMATS)}. One of several arrays in a file, or one column of a table, is named behind "
    "a colon: data.npz:features."
)

EXAMPLES = """Examples:

tieproof evaluate embeddings.npy labels.npy

tieproof evaluate queries.npz --gallery gallery.npz -d euclidean -m P@10

tieproof evaluate embeddings.npy labels.npy --categories labels.npy -m AP

tieproof evaluate embeddings.npy labels.npy --confidence confidences.npy

tieproof evaluate data.npz --json result.json --per-query queries.csv --plot result.svg

tieproof evaluate embeddings.npy labels.npy --precision float16
"""


def command(
    embeddings: Embeddings,
    labels: Labels = None,
    gallery: Annotated[Text, file_option("--gallery", text="The retrieval database.")] = None,
    gallery_labels: Annotated[
        Text, file_option("--gallery-labels", text="Its labels. Default: those in its file.")
    ] = None,
    distance: Annotated[str, option("--distance", "-d", metavar="NAME", text=one_of(DISTANCES))] = "cosine",
    measures: Measures = MEASURES,
    groups: Annotated[
        Text, file_option("--groups", text="Items with the query's label and group are excluded.")
    ] = None,
    gallery_groups: Annotated[Text, file_option("--gallery-groups", text="The groups of the gallery.")] = None,
    categories: Annotated[
        Text, file_option("--categories", text="A category for each query; the result is shown for each, too.")
    ] = None,
    average: Average = "micro",
    confidence: Annotated[
        Text,
        file_option("--confidence", text="A number for each query; shows the error of the most confident ones, too."),
    ] = None,
    bits: Annotated[int | None, number_option("--bits", text="Bits of packed codes (hamming).")] = None,
    precision: Annotated[
        Text,
        choice_option(
            "--precision", text="Round every distance to this format, then rank. Default: exact.", choices=PRECISIONS
        ),
    ] = None,
    empty: Empty = "skip",
    memory: Annotated[str, option("--memory", metavar="SIZE", text="Memory to use beside the embeddings.")] = "1GiB",
    threads: Annotated[int | None, number_option("--threads", text="Default: one for each processor.")] = None,
    json: Json = None,
    per_query: PerQuery = None,
    plot: Plot = None,
) -> None:
    """Read, evaluate, write, show."""
    check_options(
        {
            "--distance": lambda: our_name(distance),
            "--measure": lambda: parse_measures(measures),
            "--memory": lambda: parse_memory(memory),
            "--threads": lambda: parse_threads(threads),
        }
    )
    if gallery is None and (gallery_labels or gallery_groups):
        raise InputError("--gallery-labels and --gallery-groups belong to a gallery; give its file with --gallery.")
    sides = [Files(embeddings, labels, groups, categories, confidence)]
    if gallery is not None:
        sides.append(Files(gallery, gallery_labels, gallery_groups))
    read = [split(location).path for side in sides for location in side.locations]
    with outputs(json, per_query, read, plot) as write:
        result = from_files(
            tieproof.evaluate,
            sides,
            distance=distance,
            measures=measures,
            average=average,
            empty=empty,
            memory=memory,
            threads=threads,
            bits=bits,
            precision=precision,
            progress=is_terminal(sys.stderr),
        )
        write(result)
    answer(json, render, result)


class Files(NamedTuple):
    """Where one side of an evaluation, the queries or the gallery, is read from."""

    embeddings: str
    labels: Text
    groups: Text
    categories: Text = None
    confidence: Text = None
    needs_labels: bool = True

    @property
    def unlabelled(self) -> bool:
        """Whether there are no labels in any file, and none are needed."""
        return self.labels is None and not self.needs_labels and not holds_labels(self.embeddings)

    @property
    def labels_read(self) -> str:
        """The location of the labels: without one, the file of the embeddings."""
        return self.labels or str(split(self.embeddings).path)

    @property
    def locations(self) -> list[str]:
        """All that is read."""
        wanted = (self.embeddings, self.labels_read, self.groups, self.categories, self.confidence)
        return [location for location in wanted if location]

    @property
    def columns(self) -> list[str]:
        """The columns of tables that are read as something else than embeddings."""
        labels = None if self.unlabelled else self.labels_read
        found = [column_of(location, LABELS) for location in (labels, self.groups, self.categories) if location]
        found += [column_of(self.confidence, CONFIDENCES)] if self.confidence else []
        return [column for column in found if column]

    def read(self, apart: Sequence[str]) -> dict[str, Any]:
        """Embeddings, labels, groups, categories and confidences, by the names of the arguments.

        apart : the columns of this and of the other side that are no embeddings
        """
        labels = None if self.unlabelled else read_labels(self.labels_read)
        return {
            "embeddings": read_embeddings(self.embeddings, apart=apart, labels=labels),
            "labels": labels,
            "groups": self.groups and read_labels(self.groups),
            "categories": self.categories and read_labels(self.categories),
            "confidence": self.confidence and read_confidences(self.confidence),
        }

    def check_labels(self) -> None:
        """Refuse embeddings that are alone in their file, and would be read as their own labels."""
        if self.labels is None and self.needs_labels and is_single(self.embeddings):
            raise InputError(
                f"{split(self.embeddings).path} holds a single array and no labels; give them in a file of their "
                "own, as LABELS or --gallery-labels."
            )


def from_files(function: Callable[..., Answer], sides: Sequence[Files], **options: Any) -> Answer:
    """Apply an evaluation to what is read; an error names the files that it speaks of."""
    for side in sides:
        side.check_labels()
    apart = [column for side in sides for column in side.columns]
    arrays = [side.read(apart) for side in sides]
    check_both_labelled(sides, arrays)
    options |= {name: values for name, values in arrays[0].items() if values is not None}
    for found in arrays[1:]:
        options |= {
            "gallery": found["embeddings"],
            "gallery_labels": found["labels"],
            "gallery_groups": found["groups"],
        }
    try:
        return function(**options)
    except InputError as error:
        raise InputError(f"{files_meant(error, sides)}: {error}", error.argument) from error


def check_both_labelled(sides: Sequence[Files], arrays: Sequence[Mapping[str, Any]]) -> None:
    """Refuse labels of one side only: those that lie in the file of a gallery were perhaps not meant."""
    labelled = [found["labels"] is not None for found in arrays]
    if labelled in ([True, False], [False, True]):
        holds, lacks = sides[labelled.index(True)], sides[labelled.index(False)]
        option = "LABELS" if lacks is sides[0] else "--gallery-labels"
        raise InputError(
            f"{holds.labels_read} holds labels and {lacks.embeddings} none. Give those, too, as {option}, or take a "
            "file with the vectors alone."
        )


def files_meant(error: InputError, sides: Sequence[Files]) -> str:
    """The files of the arguments that an error is about; all of them where it carries none."""
    queries, items = sides[0], sides[-1]
    files = {
        "embeddings": queries.embeddings,
        "labels": queries.labels_read,
        "groups": queries.groups,
        "categories": queries.categories,
        "confidence": queries.confidence,
        "gallery": items.embeddings,
        "gallery_labels": items.labels_read,
        "gallery_groups": items.groups,
    }
    arguments = (error.argument,) if isinstance(error.argument, str) else error.argument or ()
    named = [files.get(argument) for argument in arguments]
    everything = [name for side in sides for name in side.locations]
    return ", ".join(dict.fromkeys(name for name in named if name) or dict.fromkeys(everything))
