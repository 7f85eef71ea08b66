"""`--report` writes the page of a result; it can show the data of the command and a text or image of each item."""

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

from tieproof.cli.options import Text, file_option
from tieproof.errors import InputError
from tieproof.inputs.readers import named_lines, read_labels
from tieproof.results.results import Result
from tieproof.views.text.files import Formats

report = file_option("--report", text="Write the result as a page (.html).")
items = file_option(
    "--items", text="For --report: a text or the path of an image for each row of EMBEDDINGS, such as one per line."
)
gallery_items = file_option("--gallery-items", text="For --report: the same for each item of the gallery.")
query_texts = file_option(
    "--items", text="For --report: a line for each query, with its name and a text or the path of an image."
)
document_texts = file_option("--gallery-items", text="For --report: the same for each document of the run.")


class Shown(NamedTuple):
    """The files of the texts or images of queries and items, which a page shows in addition to the result."""

    items: Text
    gallery_items: Text

    @property
    def locations(self) -> list[str]:
        """The locations of everything that is read."""
        return [location for location in self if location]

    def check(self, wanted: Text) -> None:
        """Refuse files that no page would show."""
        if wanted is None and self.locations:
            raise InputError("--items and --gallery-items are shown on a page; add --report, or leave them out.")


def read_items(location: str) -> Any:
    """Read texts or paths of images, one for each item, in the order of the items."""
    return [str(item) for item in read_labels(location).tolist()]


def read_named(location: str) -> Any:
    """Read texts or paths of images by the names of the items."""
    return named_lines.read(location, "name", "text")


def with_page(
    evaluate: Callable[..., Result], wanted: Text, shown: Shown, read: Callable[[str], Any] = read_items
) -> tuple[Callable[..., Result], Formats]:
    """Return an evaluation that keeps its arguments, and the page that shows its result with them.

    wanted : the path of the page; None: no page is wanted
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
    """Return the page of that name if one is wanted; only then is `views/pages` imported."""
    if wanted is None:
        return {}
    from tieproof.views.pages.page import pages

    shown: Formats = pages(import_module(f"tieproof.views.pages.{name}").contents)
    return shown
