"""The content of queries and items on a page: texts, or images that are embedded as thumbnails, up to a budget."""

import io
import struct
import warnings
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.show.printable import in_one_line, printable

# Extensions of images that browsers show, and their media types.
_MIME = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
_EXTENSIONS = (*_MIME, ".bmp", ".tif", ".tiff")  # by which a text is recognized as the name of an image
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")  # for some others, Pillow starts another program
CHARACTERS = 320_000  # the most characters of all embedded images, so that a page of 10,000 queries stays below 1 MB
_SMALL = 24_000  # the most bytes of a file that is embedded unchanged
SIDE = 96  # the longer side of a thumbnail, in pixels
_LETTERS = 240  # the most characters of a text that are shown


class Content(NamedTuple):
    """What is shown of a query or an item: its name, and a text or an image as a `data:` URL."""

    name: str
    text: str = ""
    image: str = ""


class Contents:
    """The contents of the queries or of the gallery.

    items : texts or paths of images, in the order of the data or by name; None if they are unknown
    count : the required number of items if they are identified by their order
    folder : the folder of the items: texts never name images elsewhere, because strangers may have written them
    """

    def __init__(
        self, items: Any, count: int | None, argument: str, budget: "EmbeddedImages", folder: Path | None = None
    ) -> None:
        self.items, self.budget = _checked(items, count, argument), budget
        self.folder = (folder or Path()).resolve()
        given = self.items.values() if isinstance(self.items, Mapping) else self.items
        self.are_images = all(isinstance(item, Path) or _ends_as_image(item) for item in given or ())

    def of(self, item: Any, what: str) -> Content:
        """The content of one item; `what`, such as "query", precedes its number if it has no name."""
        name = printable(item) if isinstance(item, str) else f"{what} {item}"
        if self.items is None:
            return Content(name)
        if isinstance(self.items, Mapping):
            given = self.items.get(item, self.items.get(str(item)))
        else:
            given = self.items[int(item)]
        if given is None:
            return Content(name)
        path = given if isinstance(given, Path) else self._named(given)
        if path is None:
            text = in_one_line(given)
            return Content(name, text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…")
        return Content(name, printable(path.name), self.budget.embedded(path))

    def _named(self, given: Any) -> Path | None:
        """The image that a text names: if no item is any other text, and the image is in the folder of the items."""
        if not _ends_as_image(given):
            return None
        path = Path(given)
        try:
            if not path.is_file():
                self.budget.missing[given] = None
            elif self.are_images and path.resolve().is_relative_to(self.folder):
                return path
            else:
                self.budget.elsewhere[given] = None
        except OSError:
            self.budget.missing[given] = None
        return None


class EmbeddedImages:
    """Embeds images while there is room, reads each file only once, and counts those that are not shown."""

    def __init__(self, characters: int = CHARACTERS) -> None:
        self.room = characters
        self.made: dict[Path, str] = {}
        self.missing: dict[str, None] = {}
        self.elsewhere: dict[str, None] = {}
        self.unreadable = self.no_room = 0

    def embedded(self, path: Path) -> str:
        """The `data:` URL of an image; empty if it cannot be embedded."""
        if path not in self.made:
            self.made[path] = _thumbnail(path)
            self.unreadable += not self.made[path]
        image = self.made[path]
        if len(image) > self.room:
            self.no_room += 1
            return ""
        self.room -= len(image)
        return image


def _checked(items: Any, count: int | None, argument: str) -> Sequence[Any] | Mapping[Any, Any] | None:
    """Texts or paths, in order or by name; InputError unless there are as many as required."""
    if items is None or isinstance(items, Mapping):
        return items
    given = items.tolist() if isinstance(items, np.ndarray) else items
    if isinstance(given, str | bytes) or not hasattr(given, "__len__") or not hasattr(given, "__getitem__"):
        raise InputError(
            f"{argument} must be a list of texts or paths, or a dictionary {{name: text or path}}, not "
            f"{type(items).__name__}.",
            argument,
        )
    if count is None:
        raise InputError(
            "The queries of this result have names, or belong to one category, so that items cannot be matched by "
            f"their order. Pass {argument} as a dictionary {{name: text or path}}.",
            argument,
        )
    given = list(given)  # for a data frame, the names of its columns
    if len(given) != count:
        raise InputError(
            f"{argument} has {len(given):,} entries, but {count:,} were evaluated. Pass exactly one for each.",
            argument,
        )
    return given


def _ends_as_image(given: Any) -> bool:
    """Whether a text may be the name of an image."""
    return isinstance(given, str) and len(given) < 4096 and "\0" not in given and given.lower().endswith(_EXTENSIONS)


def _thumbnail(path: Path) -> str:
    """A small copy by Pillow or, without Pillow, the file itself if it is small; empty if it is not an image."""
    try:
        from PIL import Image
    except ImportError:
        return _as_it_is(path)
    try:
        if not path.is_file():  # such as a pipe, which would block
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns about large or unusual images
            return _small_copy(path)
    except (OSError, ValueError, SyntaxError, TypeError, LookupError, struct.error, Image.DecompressionBombError):
        return ""


def _small_copy(path: Path) -> str:
    """An image as a thumbnail, rotated as its EXIF orientation says."""
    from PIL import Image, ImageOps

    with Image.open(path, formats=_FORMATS) as opened:
        opened.thumbnail((SIDE, SIDE))
        image = ImageOps.exif_transpose(opened)
        if image.mode.startswith("I"):  # 16 bits per pixel
            image = image.point(lambda value: value / 256).convert("L")
        file = io.BytesIO()
        if max(image.size) <= SIDE // 2 or image.mode not in ("RGB", "L", "CMYK", "YCbCr"):
            if image.mode not in ("L", "RGB"):
                image = image.convert("RGBA")
                paper = Image.new("RGBA", image.size, "white")  # so that a dark drawing is visible on a dark page
                image = Image.alpha_composite(paper, image).convert("RGB")
            image.save(file, "PNG")
            return _address("image/png", file.getvalue())
        image.convert("RGB").save(file, "JPEG", quality=72)
        return _address("image/jpeg", file.getvalue())


def _as_it_is(path: Path) -> str:
    """The unchanged file as a `data:` URL; empty if it is large or not an image."""
    try:
        small = path.suffix.lower() in _MIME and path.stat().st_size <= _SMALL
        return _address(_MIME[path.suffix.lower()], path.read_bytes()) if small else ""
    except OSError:
        return ""


def _address(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{b64encode(data).decode()}"
