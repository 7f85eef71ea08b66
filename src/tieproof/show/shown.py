"""What results share: a result says once what its numbers and its table are, and each form of them is made from that.

A result inherits `AsJson` if it has numbers to write, `AsFrame` if it has a value for every query or system, `AsPage`
if it has a page, and `Shown` if it has a `Table`, which is written as text, Markdown, LaTeX or HTML. Its short form,
if it has one, is its own `__repr__`.
"""

import os
import re
import unicodedata
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from itertools import accumulate
from typing import Any, NamedTuple

from tieproof.errors import InputError, import_extra
from tieproof.show.files import PAGE, output, storable
from tieproof.show.parts import NARROWEST, WIDTH, paragraph
from tieproof.show.parts import table as grid
from tieproof.show.printable import in_one_line
from tieproof.ties import Array

MOST_LINES = 3  # the most lines below a table in plain text, unless everything is to be explained
EXPLAINED = "--explain, or to_text(explain=True)"  # what shows the other lines


class Cell(NamedTuple):
    """A text, optionally in bold, and with marks after it that are written as superscripts."""

    text: str
    bold: bool = False
    marks: str = ""


Row = Sequence[str | Cell]


class Table(NamedTuple):
    """A table with sentences below it; all texts are plain, and each format escapes them.

    header : the names of the columns
    sections : groups of rows; each row has one cell for each column
    notes : whole sentences, each a paragraph, the most urgent first: what was left out, ties, warnings, explanations
    numbers : the columns that are aligned to the right
    """

    header: Sequence[str]
    sections: Sequence[Sequence[Row]]
    notes: Sequence[str] = ()
    numbers: Sequence[str] = ()

    def is_number(self, column: int) -> bool:
        """Whether a column is aligned to the right."""
        return self.header[column] in self.numbers


def _as_cell(cell: str | Cell) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell


def text(table: Table, width: int | None = None, color: bool = False, explain: bool = False) -> str:
    """The table in plain text, and the notes as paragraphs; see `Shown.to_text`."""
    width = max(width or WIDTH, NARROWEST)
    sections = [[[_as_cell(cell).text for cell in row] for row in section] for section in table.sections]
    rows = grid(table.header, sections, width, color, table.numbers)
    return "\n".join([rows, "", *below(table.notes, width, explain)])


def below(notes: Iterable[str], width: int, explain: bool) -> Sequence[str]:
    """The notes as paragraphs: all of them, or the first that fit into three lines, and how many more there are."""
    paragraphs = [paragraph(note, width) for note in notes]
    ends = [*accumulate(each.count("\n") + 1 for each in paragraphs)]
    if explain or not ends or ends[-1] <= MOST_LINES:
        return paragraphs
    fit = max(1, bisect_right(ends, MOST_LINES - 1))  # the first is shown even on a screen too narrow for it
    return [*paragraphs[:fit], f"{len(paragraphs) - fit} more: {EXPLAINED}"]


def html(*tables: Table) -> str:
    """The tables, one below the other, each with its notes."""
    parts = []
    for table in tables:
        head = _html_line(table, table.header, 'th scope="col"')
        bodies = "".join(
            f"<tbody>{''.join(_html_line(table, row, 'td') for row in section)}</tbody>"
            for section in table.sections
            if section
        )
        notes = f"<p>{'<br>'.join(map(_html_escaped, table.notes))}</p>" if table.notes else ""
        parts.append(f"<table><thead>{head}</thead>{bodies}</table>{notes}")
    return f'<div class="tieproof">{"".join(parts)}</div>'


def _cells(row: Row, escaped: Callable[[str], str], bold: str, above: str) -> list[str]:
    """The cells of a row in a format, which writes bold texts and superscripts as `bold` and `above` show."""
    cells = []
    for content, is_bold, marks in map(_as_cell, row):
        shown = bold.format(escaped(content)) if is_bold and content else escaped(content)
        cells.append(shown + (above.format(escaped(marks)) if marks else ""))
    return cells


def _html_line(table: Table, row: Row, tag: str) -> str:
    cells = []
    for column, cell in enumerate(_cells(row, _html_escaped, "<strong>{}</strong>", "<sup>{}</sup>")):
        align = "right; white-space: nowrap" if table.is_number(column) else "left"
        cells.append(f'<{tag} style="text-align: {align}">{cell}</{tag.partition(" ")[0]}>')
    return f"<tr>{''.join(cells)}</tr>"


def _html_escaped(text: str) -> str:
    return escape(in_one_line(text))


_GREEK = {
    letter: unicodedata.name(letter).split()[-1].replace("MD", "MBD")  # Unicode spells lambda without b
    for letter in "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"  # LaTeX names no others
}

_SPECIAL_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\texttt{\symbol{34}}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after the end of a row, LaTeX would read it as an argument, like the star
    "]": "{]}",
    "*": "{*}",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≠": r"$\ne$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "−": "$-$",
    "±": r"$\pm$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    **{letter: f"$\\{name.capitalize() if letter.isupper() else name.lower()}$" for letter, name in _GREEK.items()},
}
"""Characters with a meaning in LaTeX, or that pdfLaTeX lacks or shows as something else, with their replacements."""


def latex(
    table: Table, caption: str | None = None, label: str | None = None, columns: Sequence[str] | None = None
) -> str:
    """A floating table whose caption contains the notes, unless another one is given; see `Shown.to_latex`."""
    if columns is not None:
        table = _only(table, columns)
    if label is not None and not re.fullmatch(r"[^\s{}\\%#~]+", label):
        raise InputError(f"label must be a name such as 'tab:scores', not {label!r}.", "label")
    aligned = "".join("r" if table.is_number(column) else "l" for column in range(len(table.header)))
    sections = ["\n".join(map(_latex_line, section)) for section in table.sections if section]
    if caption is None:
        caption = " ".join(map(_latex_escaped, table.notes))
    lines = [
        r"\begin{table}",
        r"\centering",
        *([f"\\caption{{{caption}}}"] if caption else []),
        *([f"\\label{{{label}}}"] if label else []),
        f"\\begin{{tabular}}{{{aligned}}}",
        r"\toprule",
        _latex_line(table.header),
        r"\midrule",
        "\n\\midrule\n".join(sections),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    packages = [r"% \usepackage{booktabs}"]
    if not "".join(lines).isascii():
        packages.append(r"% \usepackage[T1]{fontenc}  % letters of other scripts than Latin need LuaLaTeX or XeLaTeX")
    return "\n".join(packages + lines)


def _only(table: Table, columns: Sequence[str]) -> Table:
    """The table with only these columns of numbers, in this order, after all columns of words."""
    wanted, known = list(columns), [name for name in table.header if name in table.numbers]
    strange = [name for name in wanted if name not in known]
    if strange or isinstance(columns, str) or not wanted:
        raise InputError(
            f"columns must be a list of columns of numbers of this table, which are {', '.join(known)}; not "
            f"{columns!r}.",
            "columns",
        )
    places = [at for at, name in enumerate(table.header) if name not in known]
    places += [list(table.header).index(name) for name in wanted]
    sections = [[[row[at] for at in places] for row in section] for section in table.sections]
    return table._replace(header=[table.header[at] for at in places], sections=sections)


def _latex_line(row: Row) -> str:
    cells = _cells(row, _latex_escaped, r"\textbf{{{}}}", r"$^{{\mathrm{{{}}}}}$")
    return f"{' & '.join(cells)} \\\\"


def _latex_escaped(text: str) -> str:
    """A text escaped for LaTeX, in one line; two hyphens do not become a dash, nor two commas a quote."""
    composed = unicodedata.normalize("NFC", in_one_line(text))
    escaped = "".join(_SPECIAL_IN_LATEX.get(letter, letter) for letter in composed)
    return escaped.replace("--", "-{}-{}").replace(",,", ",{},{}")


_SPECIAL_IN_MARKDOWN = r"\`*_{}[]<>|&~$#"  # characters with a meaning in a cell or in a line of text


def markdown(table: Table) -> str:
    """The table, and the notes, each as a paragraph."""
    rules = ["--:" if table.is_number(column) else "---" for column in range(len(table.header))]
    rows = [row for section in table.sections for row in section]
    lines = [_markdown_line(table.header), f"|{'|'.join(rules)}|", *map(_markdown_line, rows)]
    return "\n\n".join(["\n".join(lines), *map(_markdown_escaped, table.notes)])


def _markdown_line(row: Row) -> str:
    return f"| {' | '.join(_cells(row, _markdown_escaped, '**{}**', '<sup>{}</sup>'))} |"


def _markdown_escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in _SPECIAL_IN_MARKDOWN else letter for letter in in_one_line(text))


class AsJson:
    """A result whose numbers can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain numbers, strings, lists and dictionaries: those of all fields of a data class."""
        numbers: Any = self
        return asdict(numbers)

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        import json  # here, because neither NumPy nor an evaluation imports it

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


class AsPage(ABC):
    """A result that can be written as a page of HTML."""

    @abstractmethod
    def _page(self) -> tuple[str, dict[str, Any]]:
        """The template of the page, and the values that it shows."""

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report (extra `report`) as one .html file that needs no network to be viewed."""
        with output(path, PAGE) as write:
            write(self)


class Verified(AsJson, ABC):
    """What a verification found, which is told in sentences."""

    agrees: bool
    differences: tuple[str, ...]

    @abstractmethod
    def _sentences(self) -> Iterator[str]:
        """The answer, then the differences and what else there is to say."""

    def __bool__(self) -> bool:
        """Whether everything agrees."""
        return self.agrees

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers, strings, lists and dictionaries."""
        return {**vars(self), "differences": list(self.differences)}

    def to_text(self, width: int | None = None, color: bool = False) -> str:
        """The sentences that the command line shows, in `width` columns, or 80; `color` changes nothing."""
        width = max(width or WIDTH, NARROWEST)
        return "\n".join(paragraph(sentence, width) for sentence in self._sentences())

    def __str__(self) -> str:
        """The sentences that the command line shows, in 80 columns."""
        return self.to_text()


class AsFrame(ABC):
    """A result with columns of values."""

    @abstractmethod
    def columns(self) -> dict[str, Array]:
        """The columns by their names, as arrays of equal length."""

    def to_frame(self) -> Any:
        """`columns` as a pandas data frame (extra `pandas`)."""
        return frame(f"{type(self).__name__}.to_frame", self.columns())


class Shown(AsJson, ABC):
    """A result that is shown as a table with sentences below it."""

    @abstractmethod
    def _table(self) -> Table:
        """The table, with the sentences below it."""

    def to_text(self, width: int | None = None, color: bool = False, explain: bool = False) -> str:
        """The table that the command line shows, with at most three lines below it: the most urgent sentences.

        width : the number of columns to fit into; None for 80
        color : whether to use the escape sequences of a terminal
        explain : whether to show all sentences, which explain every column
        """
        return text(self._table(), width, color, explain)

    def to_markdown(self) -> str:
        """A Markdown table to paste into an issue, with whole sentences below it."""
        return markdown(self._table())

    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, columns: Sequence[str] | None = None
    ) -> str:
        r"""A LaTeX table to paste into a paper, whose first lines name the packages that it uses.

        Before 2020, it also needs the package textcomp, which LaTeX has contained since then.

        caption : LaTeX that is taken as it is, in place of the sentences, whose special characters are escaped
        label : the name for \ref, such as "tab:scores"
        columns : the columns of numbers, by their headers in the order to be shown; by default all

        Raises InputError for an unknown column, and for a label with blanks or special characters.
        """
        return latex(self._table(), caption, label, columns)

    def _repr_html_(self) -> str:
        return html(self._table())

    def __str__(self) -> str:
        """The table that the command line shows, in 80 columns."""
        return self.to_text()


def frame(what: str, columns: Mapping[str, Array]) -> Any:
    """A frame of pandas; MissingExtraError, which names `what` needs it, if it is not installed."""
    return import_extra("pandas", what, "pandas").DataFrame(storable(columns))
