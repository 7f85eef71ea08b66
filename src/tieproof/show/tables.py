"""A table as Markdown, LaTeX or HTML; a `Table` does not depend on the format."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from tieproof.show.printable import in_one_line


class Cell(NamedTuple):
    """A text, optionally in bold, and with marks after it that are written as superscripts."""

    text: str
    bold: bool = False
    marks: str = ""


Row = Sequence[str | Cell]


class Table(NamedTuple):
    """A table with a title above it and sentences below it; all texts are plain, and each format escapes them.

    header : the names of the columns
    sections : groups of rows; each row has one cell for each column
    numbers : the columns that are aligned to the right
    """

    title: str
    header: Sequence[str]
    sections: Sequence[Sequence[Row]]
    notes: Sequence[str] = ()
    numbers: Sequence[str] = ()

    def is_number(self, column: int) -> bool:
        """Whether a column is aligned to the right."""
        return self.header[column] in self.numbers


def as_cell(cell: str | Cell) -> Cell:
    """A cell; a text becomes a cell without bold or marks."""
    return Cell(cell) if isinstance(cell, str) else cell


def html(*tables: Table) -> str:
    """The tables, one below the other, each with its title and its notes."""
    return f'<div class="tieproof">{"".join(map(one, tables))}</div>'


def one(table: Table) -> str:
    """A table with its title and its notes."""
    caption = f"<caption>{html_escaped(table.title)}</caption>" if table.title else ""
    head = html_line(table, table.header, 'th scope="col"')
    bodies = "".join(
        f"<tbody>{''.join(html_line(table, row, 'td') for row in section)}</tbody>"
        for section in table.sections
        if section
    )
    notes = f"<p>{'<br>'.join(map(html_escaped, table.notes))}</p>" if table.notes else ""
    return f"<table>{caption}<thead>{head}</thead>{bodies}</table>{notes}"


def html_line(table: Table, row: Row, tag: str) -> str:
    """A row of the table."""
    cells = (
        f'<{tag} style="text-align: {"right; white-space: nowrap" if table.is_number(column) else "left"}">'
        f"{html_text(as_cell(cell))}"
        f"</{tag.partition(' ')[0]}>"
        for column, cell in enumerate(row)
    )
    return f"<tr>{''.join(cells)}</tr>"


def html_text(cell: Cell) -> str:
    """A cell, with its marks."""
    text = html_escaped(cell.text)
    marks = f"<sup>{html_escaped(cell.marks)}</sup>" if cell.marks else ""
    return f"{f'<strong>{text}</strong>' if cell.bold else text}{marks}"


def html_escaped(text: str) -> str:
    """A text escaped for HTML."""
    return escape(in_one_line(text))


SPECIAL_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "`": r"\symbol{96}",
    "[": "{[}",  # after the end of a row, LaTeX would read it as an argument, like the star
    "]": "{]}",
    "*": "{*}",
    "≤": r"$\le$",
    "±": r"$\pm$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}
"""Characters with a meaning in LaTeX, or that old fonts show as something else, with their replacements."""


def latex(table: Table) -> str:
    """A floating table whose caption contains the title and the notes."""
    columns = "".join("r" if table.is_number(column) else "l" for column in range(len(table.header)))
    sections = ["\n".join(map(latex_line, section)) for section in table.sections if section]
    caption = " ".join(
        latex_escaped(text) for text in [f"{table.title}." if table.title else "", *table.notes] if text
    )
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            *([f"\\caption{{{caption}}}"] if caption else []),
            f"\\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            latex_line(table.header),
            r"\midrule",
            "\n\\midrule\n".join(sections),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def latex_line(row: Row) -> str:
    """A row of the table."""
    return f"{' & '.join(map(latex_text, map(as_cell, row)))} \\\\"


def latex_text(cell: Cell) -> str:
    """A cell, with its marks."""
    text = latex_escaped(cell.text)
    if cell.bold:
        text = f"\\textbf{{{text}}}"
    return f"{text}$^{{\\mathrm{{{latex_escaped(cell.marks)}}}}}$" if cell.marks else text


def latex_escaped(text: str) -> str:
    """A text escaped for LaTeX, in one line; two hyphens do not become a dash."""
    return "".join(SPECIAL_IN_LATEX.get(letter, letter) for letter in in_one_line(text)).replace("--", "-{}-{}")


SPECIAL_IN_MARKDOWN = r"\`*_{}[]<>|&~$#"
"""Characters with a meaning in Markdown, in a cell or in a line of text."""


def markdown(table: Table) -> str:
    """The title, the table, and the notes, each as a paragraph."""
    rules = ["--:" if table.is_number(column) else "---" for column in range(len(table.header))]
    rows = [row for section in table.sections for row in section]
    grid = [markdown_line(table.header), f"|{'|'.join(rules)}|", *map(markdown_line, rows)]
    title = [f"**{markdown_escaped(table.title)}**"] if table.title else []
    return "\n\n".join([*title, "\n".join(grid), *map(markdown_escaped, table.notes)])


def markdown_line(row: Row) -> str:
    """A row of the table."""
    return f"| {' | '.join(map(markdown_text, map(as_cell, row)))} |"


def markdown_text(cell: Cell) -> str:
    """A cell, with its marks."""
    text = markdown_escaped(cell.text)
    marks = f"<sup>{markdown_escaped(cell.marks)}</sup>" if cell.marks else ""
    return f"{f'**{text}**' if cell.bold and text else text}{marks}"


def markdown_escaped(text: str) -> str:
    """A text escaped for Markdown, in one line."""
    return "".join(f"\\{letter}" if letter in SPECIAL_IN_MARKDOWN else letter for letter in in_one_line(text))
