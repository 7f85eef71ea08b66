"""`--report`: the page of a result, with what the command has at hand, and what its items are."""

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

from tieproof.cli.options import Text, file_option
from tieproof.errors import InputError
from tieproof.inputs.readers import named_lines, read_labels
from tieproof.results.results import Result
from tieproof.views.text.files import Formats

report = file_option("--report", text="Write a page to look at and to send (.html).")
items = file_option(
    "--items", text="For --report: a text or the path of an image for each of EMBEDDINGS, such as one a line."
)
gallery_items = file_option("--gallery-items", text="Likewise for each of the gallery.")
query_texts = file_option("--items", text="For --report: a line for each query, with a text or the path of an image.")
document_texts = file_option("--gallery-items", text="Likewise for each document of the run.")


class Shown(NamedTuple):
    """What a page shows beside the result: the files of the texts or images of queries and items."""

    items: Text
    gallery_items: Text

    @property
    def locations(self) -> list[str]:
        """All that is read."""
        return [location for location in self if location]

    def check(self, wanted: Text) -> None:
        """Refuse files that nothing would be made of."""
        if wanted is None and self.locations:
            raise InputError("--items and --gallery-items say what a page shows; add --report, or leave them out.")


def read_items(location: str) -> Any:
    """Texts or paths of images, one for each item in their order."""
    return [str(item) for item in read_labels(location).tolist()]


def read_named(location: str) -> Any:
    """Texts or paths of images by name."""
    return named_lines.read(location, "name", "text")


def with_page(
    evaluate: Callable[..., Result], wanted: Text, shown: Shown, read: Callable[[str], Any] = read_items
) -> tuple[Callable[..., Result], Formats]:
    """An evaluation that keeps what it is given, and the page that shows its result with that.

    wanted : where the page is to be written; None: there is none
    read : reads the texts or images of one side
    """
    shown.check(wanted)
    if wanted is None:
        return evaluate, {}
    from tieproof.views.pages.page import pages
    from tieproof.views.pages.result import contents

    items, gallery_items = (location and read(location) for location in shown)
    given: dict[str, Any] = {}

    def keeping(*arguments: Any, **options: Any) -> Result:
        given.update(signature(evaluate).bind(*arguments, **options).arguments)
        return evaluate(*arguments, **options)

    return keeping, pages(lambda result: contents(result, items, gallery_items, given))


def page_of(wanted: Text, name: str) -> Formats:
    """The page of that name, where it is asked for: `views/pages` is not loaded for nothing."""
    if wanted is None:
        return {}
    from tieproof.views.pages.page import pages

    shown: Formats = pages(import_module(f"tieproof.views.pages.{name}").contents)
    return shown
