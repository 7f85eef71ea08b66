"""The files of the commands that evaluate embeddings: reading them, and naming the one that an error is about."""

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
    only_labels,
    read_confidences,
    read_embeddings,
    read_labels,
)
from tieproof.inputs.readers.location import split
from tieproof.inputs.shards.places import are_shards

Answer = TypeVar("Answer")


class Files(NamedTuple):
    """The files of one side of an evaluation: of the queries, or of the gallery."""

    embeddings: str
    labels: Text
    groups: Text
    categories: Text = None
    confidence: Text = None
    needs_labels: bool = True

    @property
    def in_shards(self) -> bool:
        """Whether the embeddings are in several files, or on another machine."""
        return are_shards(self.embeddings)

    @property
    def unlabelled(self) -> bool:
        """Whether no file has labels, and none are needed."""
        return self.labels is None and not self.needs_labels and not holds_labels(self.embeddings)

    @property
    def labels_read(self) -> str:
        """The location of the labels; by default the file of the embeddings."""
        if self.in_shards:
            return self.labels or self.embeddings
        return self.labels or str(split(self.embeddings).path)

    @property
    def locations(self) -> list[str]:
        """The locations of everything that is read."""
        wanted = (self.embeddings, self.labels_read, self.groups, self.categories, self.confidence)
        return [location for location in wanted if location]

    @property
    def columns(self) -> list[str]:
        """The columns of tables that are not read as embeddings."""
        if self.in_shards:
            return []
        labels = None if self.unlabelled else self.labels_read
        found = [column_of(location, LABELS) for location in (labels, self.groups, self.categories) if location]
        found += [column_of(self.confidence, CONFIDENCES)] if self.confidence else []
        return [column for column in found if column]

    def read(self, apart: Sequence[str]) -> dict[str, Any]:
        """Return embeddings, labels, groups, categories and confidences, by the names of the arguments.

        apart : the columns of both sides that are not embeddings
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
        """Return the arguments as `read` does, for embeddings in shards.

        Labels, groups and categories are then columns, words in the names of files, or files.
        """
        shards = tieproof.open(self.embeddings, self.labels, groups=self.groups)
        if shards.labels is None and self.needs_labels:
            raise InputError(
                f"{self.embeddings} has no labels: no column, and no file next to each shard, has a usual name for "
                "labels; name the column or the files as LABELS or --gallery-labels."
            )
        return {
            "embeddings": shards,
            "labels": shards.labels,
            "groups": shards.groups,
            "categories": self.categories and shards.column(self.categories),
            "confidence": self.confidence and read_confidences(self.confidence),
        }

    def check_labels(self) -> None:
        """Refuse a single array without labels, which would be read as its own labels, and labels given first."""
        if self.in_shards:
            return
        if self.labels is not None and only_labels(self.embeddings) and not only_labels(self.labels):
            raise InputError(
                f"{self.embeddings} contains labels only, but {self.labels} contains more; give the embeddings "
                "first, then the labels."
            )
        if self.labels is None and self.needs_labels and is_single(self.embeddings):
            raise InputError(
                f"{split(self.embeddings).path} contains a single array and no labels; give the labels in another "
                "file, as LABELS or --gallery-labels."
            )


def as_sides(queries: Files, gallery: Text, labels: Text, groups: Text) -> list[Files]:
    """Return the files of the queries and, if a gallery is given, those of the gallery."""
    if gallery is not None:
        return [queries, Files(gallery, labels, groups, needs_labels=queries.needs_labels)]
    if labels or groups:
        raise InputError("--gallery-labels and --gallery-groups need a gallery; give its file with --gallery.")
    return [queries]


def evaluated(function: Callable[..., Answer], sides: Sequence[Files], outputs: Outputs, **options: Any) -> Answer:
    """Apply a function of embeddings to the files, and write what it returns to the outputs."""
    check_options(**options)
    read = [split(location).path for side in sides for location in side.locations]
    watched = is_terminal(sys.stderr)
    return written(lambda: from_files(function, sides, progress=watched, **options), read, outputs)


def from_files(function: Callable[..., Answer], sides: Sequence[Files], **options: Any) -> Answer:
    """Read the files and apply an evaluation to them; an error names the files that it is about."""
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
    """Refuse labels of one side only: labels in the file of a gallery may be there by accident."""
    labelled = [found["labels"] is not None for found in arrays]
    if labelled in ([True, False], [False, True]):
        holds, lacks = sides[labelled.index(True)], sides[labelled.index(False)]
        option = "LABELS" if lacks is sides[0] else "--gallery-labels"
        raise InputError(
            f"{holds.labels_read} contains labels, but {lacks.embeddings} contains none. Give the missing labels as "
            f"{option}, or give a file that contains only the vectors."
        )


def files_meant(error: InputError, sides: Sequence[Files]) -> str:
    """Return the files of the arguments that an error is about; all files if it names no argument."""
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
