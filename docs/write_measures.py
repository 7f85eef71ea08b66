"""The page on all measures, from their registry. Writes measures.md beside this script."""

from collections.abc import Iterator
from pathlib import Path

from tieproof.measures import REGISTRY, Definition
from tieproof.views.text.measures import (
    LEGEND,
    LEGEND_OF_NAMES,
    explained,
    names_elsewhere,
    spelling,
)

PAGE = Path(__file__).with_name("measures.md")

INTRODUCTION = f"""<!-- Written by docs/write_measures.py from the registry of measures. -->

# Measures

Every measure comes with its lowest, expected and highest value and its standard deviation over all orderings of tied
items. This deviation, `std` in Python, JSON and files and "tie std" in tables, is what ties leave open; it says
nothing of how much queries differ. `tieproof measures` shows this page. `tieproof.DEFAULT_MEASURES` are computed
where none is named; `tieproof.measures.parse` and `parse_list` make measures of their names.

{LEGEND}

{LEGEND_OF_NAMES}
"""


def render() -> str:
    """The page."""
    sections = ["\n".join(section(definition)) for definition in REGISTRY.values()]
    return "\n".join([INTRODUCTION, *sections])


def section(definition: Definition) -> Iterator[str]:
    """The lines on one measure."""
    yield from (f"## {definition.name}", "", f"`{spelling(definition)}`", "", definition.meaning, "")
    yield f"- formula: `{definition.formula}`"
    for parameter in definition.parameters:
        yield f"- {parameter.name}: {explained(parameter)}"
    yield from (f"- source: {definition.source}", "")
    names = names_elsewhere(definition)
    if names:
        yield from ("| library | its name | here |", "|---|---|---|")
        for library, spellings in names.items():
            for theirs, ours in spellings.items():
                yield f"| {library} | `{theirs}` | `{ours}` |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
