"""The parts of all texts, in ASCII for any terminal and file: tables, paragraphs, numbers and words for distances."""

import textwrap
from collections.abc import Sequence
from io import StringIO

from tieproof.distances import DISTANCES
from tieproof.show.printable import printable
from tieproof.ties import Estimate

WIDTH = 80  # the default width of a text, in columns
NARROWEST = 44  # the smallest width, in columns, which the numbers need; a narrower terminal wraps the lines itself

NUMBERS = ("lower", "expected", "upper", "tie std")  # of an `Estimate`; its std is over the orderings of tied items
HEADLINE = "lower"

# Which number serves; docs/ties.md gives the reasons.
REPORT = "Report 'expected' with its interval, 'lower' for claims, and 'upper' never."
# The lines of a table, in the notation of rich.box: one under the header, and blank lines between sections.
RULES = "\n".join(["    ", "    ", " -- ", "    ", "    ", "    ", "    ", "    "]) + "\n"

Row = Sequence[str]


def fixed(value: float) -> str:
    """A score with the four decimals that it has in all tables, pictures and pages."""
    return f"{value:.4f}"


def numbers(estimate: Estimate[float]) -> Row:
    """The four values of an estimate, with four decimals, and its bounds under noise if it has any."""
    values = (estimate.lower, estimate.expected, estimate.upper, estimate.std)
    noise = [] if estimate.noise is None else [f"{estimate.noise:.4f}"]
    return [*map(fixed, values), *noise]


def signed(value: float) -> str:
    """A difference with four decimals and its sign.

    >>> signed(0.25), signed(-0.00001), signed(0.0)
    ('+0.2500', '0.0000', '0.0000')
    """
    text = f"{value:+.4f}"
    return "0.0000" if text in ("+0.0000", "-0.0000") else text


def table(
    header: Row, sections: Sequence[Sequence[Row]], width: int, color: bool, right: Sequence[str] = NUMBERS
) -> str:
    """A table of sections separated by blank lines; the columns named in `right` are aligned to the right."""
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table

    grid = Table(
        box=Box(RULES, ascii=True), show_edge=False, pad_edge=False, header_style="bold", padding=(0, 0, 0, 1)
    )
    for name in header:
        style = "bold" if name == HEADLINE else None
        if name in right:
            grid.add_column(name, justify="right", no_wrap=True, style=style, min_width=len(name))
        else:
            grid.add_column(name, overflow="fold", style=style)
    for section in sections:
        for row in section:
            grid.add_row(*map(printable, row))
        grid.add_section()
    page = StringIO()
    console = Console(
        file=page,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        force_jupyter=False,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
    )
    console.print(grid)
    return "\n".join(line.rstrip() for line in page.getvalue().rstrip("\n").split("\n"))


def paragraph(text: str, width: int) -> str:
    """A text wrapped to a width, with control characters escaped."""
    return textwrap.fill(printable(text), width, break_on_hyphens=False)


def place(leave_one_out: bool, gallery: int, dimensions: int, distance: str) -> str:
    """The end of a sentence on queries: in which gallery, and by which distance, they were ranked."""
    known = DISTANCES.get(distance)
    items, size = count(gallery, "item"), count(dimensions, "bit" if known and known.bits else "dimension")
    among = f", leave-one-out among {items}" if leave_one_out else f" against a gallery of {items}"
    return f"{among} of {size}, under {distance_meant(distance)}"


def distance_meant(distance: str) -> str:
    """The name of a known distance, or of a function's distance, which may have the same name."""
    return f"{distance} distance" if distance in DISTANCES else f"the distance of the {distance}"


def apart(one: float, other: float) -> tuple[str, str]:
    """Return two numbers with six digits, or with as many as they differ in.

    >>> apart(1.0, 0.5), apart(1.0, 1.0 + 2.0**-40)
    (('1', '0.5'), ('1', '1.000000000001'))
    """
    texts = [(f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in range(6, 18)]
    return next((both for both in texts if both[0] != both[1]), texts[-1 if one != other else 0])


def chance(value: float, exact: str = "", below: str = "<") -> str:
    """A p-value with four decimals, never shown as 0.

    >>> chance(0.25), chance(0.00001), chance(0.25, "p = ", "p < ")
    ('0.2500', '<0.0001', 'p = 0.2500')
    """
    return f"{exact}{value:.4f}" if value >= 0.0001 else f"{below}0.0001"


def percent(confidence: float) -> str:
    """A share as a percentage."""
    return f"{100 * confidence:.6g}%"


def count(number: int, noun: str) -> str:
    """A number with a noun in the singular or plural.

    >>> count(1, "query"), count(1797, "query"), count(2, "tie")
    ('1 query', '1,797 queries', '2 ties')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def first_of(texts: Sequence[object], most: int = 3) -> str:
    """The first of some texts, and how many more there are.

    >>> first_of(["P@1", "P@5", "AP", "RR", "ERR"]), first_of([7, 8])
    ('P@1, P@5, AP and 2 more', '7, 8')
    """
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(map(str, texts[:most])) + more
