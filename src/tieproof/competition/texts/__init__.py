"""The templates of a bundle: pages and programs in which `$names` are replaced by values."""

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template


def page(name: str, values: Mapping[str, str]) -> bytes:
    """A page in HTML; all values are escaped, so that a browser shows them as text."""
    return filled(f"{name}.html", {key: escape(value) for key, value in values.items()})


def filled(name: str, values: Mapping[str, str]) -> bytes:
    """The text of a template in this folder, with its names replaced by values."""
    text = files("tieproof.competition.texts").joinpath(name).read_text(encoding="utf-8")
    return Template(text).substitute(values).encode()
