"""The words of a bundle: pages and programs, whose `$names` are filled in."""

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template


def page(name: str, values: Mapping[str, str]) -> bytes:
    """A page in HTML; whatever is filled in is text, and nothing that a browser obeys."""
    return filled(f"{name}.html", {key: escape(value) for key, value in values.items()})


def filled(name: str, values: Mapping[str, str]) -> bytes:
    """A text of this folder with its names filled in."""
    text = files("tieproof.competition.texts").joinpath(name).read_text(encoding="utf-8")
    return Template(text).substitute(values).encode()
