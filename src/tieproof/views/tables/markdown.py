r"""A table as Markdown, of the kind that GitHub, GitLab and notebooks show.

>>> from tieproof.views.tables.table import Cell, Table
>>> rows = [[["a|b", Cell("0.5", bold=True, marks="c")]]]
>>> print(markdown(Table("Scores", ["name", "AP"], rows, ["Of <3> queries."], ["AP"])))
**Scores**
<BLANKLINE>
| name | AP |
|---|--:|
| a\|b | **0.5**<sup>c</sup> |
<BLANKLINE>
Of \<3\> queries.
"""

from tieproof.views.printable import in_one_line
from tieproof.views.tables.table import Cell, Row, Table, as_cell

SPECIAL = r"\`*_{}[]<>|&~$#"
"""Characters with a meaning in Markdown, in a cell or in a line of text."""


def markdown(table: Table) -> str:
    """The title, the table, and the notes, each as a paragraph."""
    rules = ["--:" if table.is_number(column) else "---" for column in range(len(table.header))]
    rows = [row for section in table.sections for row in section]
    grid = [line(table.header), f"|{'|'.join(rules)}|", *map(line, rows)]
    title = [f"**{escaped(table.title)}**"] if table.title else []
    return "\n\n".join([*title, "\n".join(grid), *map(escaped, table.notes)])


def line(row: Row) -> str:
    """A row of the table."""
    return f"| {' | '.join(map(written, map(as_cell, row)))} |"


def written(cell: Cell) -> str:
    """A cell, with its marks."""
    text = escaped(cell.text)
    marks = f"<sup>{escaped(cell.marks)}</sup>" if cell.marks else ""
    return f"{f'**{text}**' if cell.bold and text else text}{marks}"


def escaped(text: str) -> str:
    """A text escaped for Markdown, in one line."""
    return "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in in_one_line(text))
