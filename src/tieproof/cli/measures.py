"""`tieproof measures`, and the registry of measures as text, from which the page of measures is written, too."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence

from tieproof.cli.options import OptionKind, argument, command, complete_measure
from tieproof.cli.output import show
from tieproof.measures import REGISTRY, Definition, Parameter, libraries, parse
from tieproof.measures.libraries import by_spelling, is_settled, meanings, plain
from tieproof.show.parts import NARROWEST, WIDTH

LEGEND = (
    "In the formulas, k is the cutoff, r a rank, N the number of items ranked for the query, and R the number of its "
    "relevant items; hits are the relevant items at ranks up to k, or all relevant items without a cutoff. Text in "
    "square brackets is optional; parameters are shown with their defaults. A cutoff beyond the end of a ranking "
    "changes no formula: there are no further hits, and P@10 of five items still divides by 10. All measures but "
    "nDCG, ERR, NumQ, NumRet, Judged, Unjudged and RBPResidual also have rel, the smallest grade that is relevant, "
    "as in AP(rel=2)@100; by default all grades above 0 are. rel=1 leaves out grades such as 0.5."
)

LEGEND_OF_NAMES = (
    "Names of other libraries are accepted wherever a measure is named. Names marked with * mean different measures "
    "in different libraries: use the names of tieproof instead. One text may name several measures, separated by "
    "commas or spaces, and several cutoffs: 'AP, nDCG@5,10'. official, set and all_trec are the sets of trec_eval."
)

LEGEND_OF_OTHERS = "Measures of other libraries that tieproof does not compute, and what each of them is:"

CUTOFFS = {"required": "@{}", "optional": "[@{}]", "none": ""}
INDENT, LABELS = 4, 10


def find(names: Sequence[str]) -> list[Definition]:
    """The definitions of these measures, each once; without a name, all of them."""
    ours = {name.casefold(): name for name in REGISTRY}
    wanted = [ours.get(name.casefold()) or parse(name).name for name in names]
    return [REGISTRY[name] for name in dict.fromkeys(wanted or REGISTRY)]


def spelling(definition: Definition) -> str:
    """How a measure is written: its parameters with their defaults, and its cutoff."""
    parameters = ",".join(f"{parameter.name}={parameter.default}" for parameter in definition.parameters)
    cutoff = CUTOFFS[definition.cutoff].format("k or @R" if definition.rank_r else "k")
    return f"{definition.name}{f'({parameters})' if parameters else ''}{cutoff}"


def explained(parameter: Parameter) -> str:
    """The values of a parameter, its default and its meaning, in words."""
    low, high = parameter.limits
    *first, last = parameter.choices or (f"a number between {low:g} and {high:g}",)
    values = f"{', '.join(first)} or {last}" if first else last
    return f"{values}, {parameter.default} by default: {parameter.meaning}"


def names_elsewhere(definition: Definition) -> dict[str, dict[str, str]]:
    """The names of a measure in each library, with the name here; k is a cutoff, and * marks an ambiguous name."""
    table = by_spelling(libraries.LIBRARIES)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for library, theirs, ours, _ in meanings():
        if re.split("[@(]", ours)[0] == definition.name and plain(theirs) != plain(ours):
            own = theirs.casefold() == definition.name.casefold()  # which is read as the measure here
            star = "*" if own or not is_settled(table[plain(theirs)], theirs) else ""
            names[library][theirs.format(k="k") + star] = ours.format(k="k")
    return dict(names)


def not_offered() -> Iterator[tuple[str, str, str]]:
    """The measures that tieproof does not compute: the library, its names for them, and what they are."""
    for library in libraries.LIBRARIES:
        for reason, names in library.refused.items():
            yield library.name, ", ".join(name.format(k="k") for name in names.split()), reason


def render(definitions: Sequence[Definition], width: int | None = None, color: bool = False) -> str:
    """Sections on measures: meaning, formula, parameters, source, and names in other libraries."""
    width = max(width or WIDTH, NARROWEST)
    sections = ["\n".join(section(definition, width, color)) for definition in definitions]
    parts = [*sections, *(textwrap.fill(legend, width) for legend in (LEGEND, LEGEND_OF_NAMES))]
    if len(definitions) == len(REGISTRY):
        lines = [f"{library}: {names}: {reason}" for library, names, reason in not_offered()]
        others = [filled(line, width, " " * INDENT) for line in lines]
        parts.append("\n".join([textwrap.fill(LEGEND_OF_OTHERS, width), *others]))
    return "\n\n".join(parts)


def section(definition: Definition, width: int, color: bool) -> Iterator[str]:
    """The lines of the section on one measure."""
    heading = spelling(definition)
    yield f"\x1b[1m{heading}\x1b[0m" if color else heading
    yield filled(definition.meaning, width, " " * INDENT)
    for label, text in facts(definition):
        yield filled(text, width, f"{'':{INDENT}}{label:{LABELS}}")


def facts(definition: Definition) -> Iterator[tuple[str, str]]:
    """The facts about a measure, each with its label; a repeated label is empty."""
    yield "formula", definition.formula
    for parameter in definition.parameters:
        yield parameter.name, explained(parameter)
    yield "source", definition.source
    label = "names"
    for library, names in names_elsewhere(definition).items():
        yield label, f"{library}: {', '.join(f'{theirs} is {ours}' for theirs, ours in names.items())}"
        label = ""


def filled(text: str, width: int, start: str) -> str:
    """A wrapped text that begins with `start`, and whose further lines are indented by its length."""
    return textwrap.fill(
        text, width, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False
    )


@command(
    None,
    "Show the measures: meaning, formula, parameters, source, and their names in other libraries.\n\n"
    "With NAMEs only these measures are shown; the names of other libraries are understood, too.",
    ("tieproof measures", "tieproof measures nDCG", "tieproof measures map_cut_10"),
    names=argument(
        "The measures to show. Default: all.",
        OptionKind("NAME", complete=complete_measure),
        nargs=-1,
        required=False,
        metavar="[NAME]...",
    ),
)
def measures(names: Sequence[str]) -> None:
    """Show the measures of the registry."""
    show(render, find(names))
