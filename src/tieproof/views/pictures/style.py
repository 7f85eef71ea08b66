"""What all pictures share: colours that colour-blind readers tell apart, marks that print in grey, and figures.

The colours are those of Okabe and Ito (Color Universal Design, 2008, https://jfly.uni-koeln.de/color/). Colour never
says something alone: each comes with a marker and a hatch.
"""

from pathlib import Path
from typing import Any, NamedTuple

from tieproof.errors import InputError, MissingExtraError
from tieproof.views.whole_files import atomic_write

BLACK = "#000000"
ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#999999"


class Look(NamedTuple):
    """How one of several things is drawn."""

    color: str
    marker: str
    hatch: str


LOOKS = (
    Look(BLUE, "o", ""),
    Look(ORANGE, "s", "///"),
    Look(GREEN, "^", "..."),
    Look(PURPLE, "D", "xxx"),
    Look(SKY_BLUE, "v", "\\\\\\"),
    Look(VERMILION, "P", "+++"),
    Look(YELLOW, "X", "ooo"),
    Look(BLACK, "*", "---"),
)
"""For the first, second, … of several things; more than eight belong into several pictures."""

METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
"""What to leave out of a file, by its extension, so that the same picture gives the same bytes."""


def matplotlib(what: str) -> Any:
    """The library, or an error that says how `what` gets it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise MissingExtraError(what, "plot") from None
    return matplotlib


def figure(what: str, width: float = 7.0, height: float = 3.5, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """A figure of so many inches that no window knows of, and its axes; `what` needs it.

    >>> drawn, axes = figure("This example", columns=2)
    >>> len(axes), drawn.get_size_inches().tolist()
    (2, [7.0, 3.5])
    """
    drawn = matplotlib(what).figure.Figure(figsize=(width, height), layout="constrained")
    return drawn, drawn.subplots(rows, columns)


def axes_or_new(ax: Any, what: str, width: float = 7.0, height: float = 3.5) -> Any:
    """The axes that were given, or those of a new figure of pyplot, which a notebook or `plt.show()` shows."""
    matplotlib(what)
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Any) -> None:
    """Take away the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def save(drawn: Any, path: str | Path) -> None:
    """Write a figure as .svg, .pdf or .png, whole or not at all; the same figure gives the same bytes.

    Raises InputError for another extension, or where the place cannot be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(figure("This example")[0], f"{folder}/picture.svg")
    ...     "<svg" in Path(folder, "picture.svg").read_text()
    True
    """
    extension = Path(path).suffix.lower()
    if extension not in METADATA:
        raise InputError(
            f"{path} has the extension '{extension}', which is none of a picture. Known: {', '.join(METADATA)}."
        )
    with atomic_write(path) as file:
        write(drawn, file)


def write(drawn: Any, path: Path) -> None:
    """Write a figure to a path with one of the extensions of `METADATA`."""
    repeatable = {"svg.hashsalt": "tieproof", "svg.fonttype": "none"}
    with matplotlib("A picture").rc_context(repeatable):
        drawn.savefig(path, dpi=150, metadata=METADATA[path.suffix.lower()])
