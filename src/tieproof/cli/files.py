"""The files of the commands that evaluate embeddings: reading them, and naming the one that an error is about."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import tieproof
from tieproof.cli.exits import shows_progress
from tieproof.cli.options import Text, check_options
from tieproof.cli.output import Answer, Outputs, written
from tieproof.errors import InputError
from tieproof.inputs import readers
from tieproof.inputs.readers.location import Location, split
from tieproof.inputs.shards.files import are_shards

# The arguments for the side of the gallery, by those for the queries.
OF_GALLERY = {"embeddings": "gallery", "labels": "gallery_labels", "groups": "gallery_groups"}


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
    def unlabeled(self) -> bool:
        """Whether no file has labels, and none are needed."""
        return self.labels is None and not self.needs_labels and not readers.holds_labels(self.embeddings)

    @property
    def labels_read(self) -> str:
        """The location of the labels; by default the file of the embeddings."""
        if self.in_shards:
            return self.labels or self.embeddings
        return self.labels or str(split(self.embeddings).path)

    @property
    def locations(self) -> dict[str, Text]:
        """The locations of everything that is read, by the names of the arguments."""
        names = ("embeddings", "labels_read", "groups", "categories", "confidence")
        return {name.removesuffix("_read"): getattr(self, name) for name in names}

    @property
    def columns(self) -> list[str]:
        """The columns of tables that are not read as embeddings."""
        if self.in_shards:
            return []
        labels = None if self.unlabeled else self.labels_read
        columns = [
            readers.column_of(location, "labels") for location in (labels, self.groups, self.categories) if location
        ]
        columns += [readers.column_of(self.confidence, "confidences")] if self.confidence else []
        return [column for column in columns if column]

    def read(self, apart: Sequence[str]) -> dict[str, Any]:
        """Return what the files hold, by the names of the arguments; columns `apart` are no embeddings."""
        data: Any
        if self.in_shards:
            data = tieproof.open(self.embeddings, self.labels, groups=self.groups)
            labels, groups, read = data.labels, data.groups, data.column
            if labels is None and self.needs_labels:
                raise InputError(
                    f"{self.embeddings} has no labels: no column, and no file next to each shard, has a usual name "
                    "for labels; name the column or the files as LABELS or --gallery-labels."
                )
        else:
            labels, read = None if self.unlabeled else readers.read_labels(self.labels_read), readers.read_labels
            data = readers.read_embeddings(self.embeddings, apart=apart, labels=labels)
            groups = self.groups and readers.read_labels(self.groups)
        return {
            "embeddings": data,
            "labels": labels,
            "groups": groups,
            "categories": self.categories and read(self.categories),
            "confidence": self.confidence and readers.read_confidences(self.confidence),
        }

    def check_labels(self) -> None:
        """Refuse a single array without labels, which would be read as its own labels, and labels given first."""
        if self.in_shards:
            return
        if self.labels is not None and readers.only_labels(self.embeddings) and not readers.only_labels(self.labels):
            raise InputError(
                f"{self.embeddings} contains labels only, but {self.labels} contains more; give the embeddings "
                "first, then the labels."
            )
        path = split(self.embeddings).path
        if self.labels is None and self.needs_labels and len(readers.entries_of(Location(path))) == 1:
            readers.refuse_other_files(path)
            raise InputError(
                f"{path} contains a single array and no labels; give the labels in another "
                "file, as LABELS or --gallery-labels."
            )


def as_sides(given: dict[str, Any], needs_labels: bool = True) -> list[Files]:
    """Take the files out of what was given; return those of the queries and, if it has one, those of the gallery."""
    embeddings, labels, groups = (given.pop(name) for name in ("embeddings", "labels", "groups"))
    categories, confidence = (given.pop(name, None) for name in ("categories", "confidence"))
    queries = Files(embeddings, labels, groups, categories, confidence, needs_labels)
    gallery, labels, groups = (given.pop(name) for name in ("gallery", "gallery_labels", "gallery_groups"))
    if gallery is not None:
        return [queries, Files(gallery, labels, groups, needs_labels=needs_labels)]
    if labels or groups:
        raise InputError("--gallery-labels and --gallery-groups need a gallery; give its file with --gallery.")
    return [queries]


def evaluated(function: Callable[..., Answer], sides: Sequence[Files], outputs: Outputs, **options: Any) -> Answer:
    """Apply a function of embeddings to the files, and write what it returns to the outputs."""
    check_options(**options)
    read = [location for side in sides for location in side.locations.values()]
    return written(lambda: from_files(function, sides, progress=shows_progress(), **options), read, outputs)


def from_files(function: Callable[..., Answer], sides: Sequence[Files], **options: Any) -> Answer:
    """Read the files and apply an evaluation to them; an error names the files that it is about."""
    for side in sides:
        side.check_labels()
    apart = [column for side in sides for column in side.columns]
    arrays = [side.read(apart) for side in sides]
    _check_both_labeled(sides, arrays)
    files: dict[str, Text] = {}
    for side, values, names in zip(sides, arrays, ({}, OF_GALLERY), strict=False):
        options |= {names.get(name, name): each for name, each in values.items() if each is not None}
        files |= {names.get(name, name): location for name, location in side.locations.items() if location}
    with naming(files):
        return function(**options)


def _check_both_labeled(sides: Sequence[Files], arrays: Sequence[Mapping[str, Any]]) -> None:
    """Refuse labels of one side only: labels in the file of a gallery may be there by accident."""
    labeled = [side["labels"] is not None for side in arrays]
    if labeled in ([True, False], [False, True]):
        holds, lacks = sides[labeled.index(True)], sides[labeled.index(False)]
        option = "LABELS" if lacks is sides[0] else "--gallery-labels"
        raise InputError(
            f"{holds.labels_read} contains labels, but {lacks.embeddings} contains none. Give the missing labels as "
            f"{option}, or give a file that contains only the vectors."
        )


@contextmanager
def naming(files: Mapping[str, Text]) -> Iterator[None]:
    """Name the files of the arguments that an error in the block is about; all files if it names no argument."""
    try:
        yield
    except InputError as error:
        arguments = (error.argument,) if isinstance(error.argument, str) else error.argument or ()
        named = [file for argument in arguments if (file := files.get(argument))]
        meant = dict.fromkeys(named or [file for file in files.values() if file])
        raise InputError(f"{', '.join(meant)}: {error}", error.argument) from error
