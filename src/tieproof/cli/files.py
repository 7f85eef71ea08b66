"""The files of the commands that evaluate embeddings: what is read from them, and which of them an error is about."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import tieproof
from tieproof.cli.options import Text, check_options
from tieproof.cli.output import Outputs, written
from tieproof.cli.streams import is_terminal
from tieproof.errors import InputError
from tieproof.inputs.readers import (
    CONFIDENCES,
    LABELS,
    column_of,
    holds_labels,
    is_single,
    read_confidences,
    read_embeddings,
    read_labels,
)
from tieproof.inputs.readers.location import split
from tieproof.inputs.shards.places import are_shards

Answer = TypeVar("Answer")


class Files(NamedTuple):
    """Where one side of an evaluation, the queries or the gallery, is read from."""

    embeddings: str
    labels: Text
    groups: Text
    categories: Text = None
    confidence: Text = None
    needs_labels: bool = True

    @property
    def in_shards(self) -> bool:
        """Whether the embeddings lie in several files, or elsewhere."""
        return are_shards(self.embeddings)

    @property
    def unlabelled(self) -> bool:
        """Whether there are no labels in any file, and none are needed."""
        return self.labels is None and not self.needs_labels and not holds_labels(self.embeddings)

    @property
    def labels_read(self) -> str:
        """The location of the labels: without one, the file of the embeddings."""
        if self.in_shards:
            return self.labels or self.embeddings
        return self.labels or str(split(self.embeddings).path)

    @property
    def locations(self) -> list[str]:
        """All that is read."""
        wanted = (self.embeddings, self.labels_read, self.groups, self.categories, self.confidence)
        return [location for location in wanted if location]

    @property
    def columns(self) -> list[str]:
        """The columns of tables that are read as something else than embeddings."""
        if self.in_shards:
            return []
        labels = None if self.unlabelled else self.labels_read
        found = [column_of(location, LABELS) for location in (labels, self.groups, self.categories) if location]
        found += [column_of(self.confidence, CONFIDENCES)] if self.confidence else []
        return [column for column in found if column]

    def read(self, apart: Sequence[str]) -> dict[str, Any]:
        """Embeddings, labels, groups, categories and confidences, by the names of the arguments.

        apart : the columns of this and of the other side that are no embeddings
        """
        if self.in_shards:
            return self.opened()
        labels = None if self.unlabelled else read_labels(self.labels_read)
        return {
            "embeddings": read_embeddings(self.embeddings, apart=apart, labels=labels),
            "labels": labels,
            "groups": self.groups and read_labels(self.groups),
            "categories": self.categories and read_labels(self.categories),
            "confidence": self.confidence and read_confidences(self.confidence),
        }

    def opened(self) -> dict[str, Any]:
        """What `read` returns, of embeddings in shards; labels and the like are columns, words of files, or files."""
        shards = tieproof.open(self.embeddings, self.labels, groups=self.groups)
        if shards.labels is None and self.needs_labels:
            raise InputError(
                f"{self.embeddings} has no labels: no column, and no file beside each, goes by a usual name; name "
                "the column or the files as LABELS or --gallery-labels."
            )
        return {
            "embeddings": shards,
            "labels": shards.labels,
            "groups": shards.groups,
            "categories": self.categories and shards.column(self.categories),
            "confidence": self.confidence and read_confidences(self.confidence),
        }

    def check_labels(self) -> None:
        """Refuse embeddings that are alone in their file, and would be read as their own labels."""
        if self.in_shards:
            return
        if self.labels is None and self.needs_labels and is_single(self.embeddings):
            raise InputError(
                f"{split(self.embeddings).path} holds a single array and no labels; give them in a file of their "
                "own, as LABELS or --gallery-labels."
            )


def as_sides(queries: Files, gallery: Text, labels: Text, groups: Text) -> list[Files]:
    """The queries and, where its file is given, the gallery with its labels and groups."""
    if gallery is not None:
        return [queries, Files(gallery, labels, groups, needs_labels=queries.needs_labels)]
    if labels or groups:
        raise InputError("--gallery-labels and --gallery-groups belong to a gallery; give its file with --gallery.")
    return [queries]


def evaluated(function: Callable[..., Answer], sides: Sequence[Files], outputs: Outputs, **options: Any) -> Answer:
    """What a function of embeddings makes of the files, written to the outputs."""
    check_options(**options)
    read = [split(location).path for side in sides for location in side.locations]
    watched = is_terminal(sys.stderr)
    return written(lambda: from_files(function, sides, progress=watched, **options), read, outputs)


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
