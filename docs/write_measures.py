"""The page on all measures, from their registry. Writes measures.md beside this script."""

import re
from collections.abc import Iterator
from pathlib import Path

from tieproof.cli.measures import LEGEND, LEGEND_OF_NAMES, explained, names_elsewhere, spelling
from tieproof.measures import REGISTRY, Definition
from tieproof.measures.libraries import LIBRARIES

PAGE = Path(__file__).with_name("measures.md")

OTHERS = "Other names that libraries list"

INTRODUCTION = """<!-- Written by docs/write_measures.py from the registry of measures. -->

# Measures

Every measure has its lowest, expected and highest value over all orderings of tied items, and their standard
deviation (`std`, "tie std" in tables), which does not describe how much the queries differ.
"""

NAMES = """If you name no measures, `tieproof.DEFAULT_MEASURES` are computed. `tieproof.measures.parse` and
`parse_list` turn names into measures, and `aliases` lists the names of other libraries. `tieproof measures` prints
this page.
"""

REFUSED = """A name that tieproof does not compute, such as `gm_map`, raises an error that says what it means, and the
command `tieproof measures` ends with all of them. These sources list the names of each library:
"""


def render() -> str:
    """The page."""
    sections = ["\n".join(section(definition)) for definition in REGISTRY.values()]
    return "\n".join([INTRODUCTION, *overview(), NAMES, LEGEND, "", LEGEND_OF_NAMES, "", *sections, *others()])


def overview() -> Iterator[str]:
    """The lines of the table of all measures."""
    yield from ("| measure | what it is |", "|---|---|")
    for name, definition in REGISTRY.items():
        beginning = re.split(r"[:;.] |[:;.]$", definition.meaning)[0]
        yield f"| [{name}](#{re.sub('[^a-z0-9]', '', name.lower())}) | {beginning} |"
    yield ""


def section(definition: Definition) -> Iterator[str]:
    """The lines on one measure."""
    yield from (f"## {definition.name}", "", f"`{spelling(definition)}`", "", definition.meaning, "")
    yield f"- formula: `{definition.formula}`"
    for parameter in definition.parameters:
        yield f"- {parameter.name}: {explained(parameter)}"
    yield from (f"- source: {definition.source}", "")
    names = names_elsewhere(definition)
    if names:
        yield from ("| here | elsewhere |", "|---|---|")
        for ours in dict.fromkeys(ours for spellings in names.values() for ours in spellings.values()):
            same = {library: [each for each in found if found[each] == ours] for library, found in names.items()}
            elsewhere = [f"{library}: `{'`, `'.join(each)}`" for library, each in same.items() if each]
            yield f"| `{ours}` | {'; '.join(elsewhere)} |"
        yield ""


def others() -> Iterator[str]:
    """The lines on names that are refused, and on where all names are listed."""
    yield from (f"## {OTHERS}", "", REFUSED)
    yield from (f"- {library.name}: {library.source}" for library in LIBRARIES)
    yield ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
