"""A table as HTML for a notebook, without scripts or colours, and with all names escaped.

>>> from tieproof.views.tables.table import Table
>>> print(html(Table("", ["name", "AP"], [[["<b>", "0.5"]]], [], ["AP"])))
<div class="tieproof"><table><thead><tr><th scope="col" style="text-align: left">name</th>\
<th scope="col" style="text-align: right; white-space: nowrap">AP</th></tr></thead><tbody><tr>\
<td style="text-align: left">&lt;b&gt;</td><td style="text-align: right; white-space: nowrap">0.5</td></tr></tbody>\
</table></div>
"""

from html import escape

from tieproof.views.printable import in_one_line
from tieproof.views.tables.table import Cell, Row, Table, as_cell


def html(*tables: Table) -> str:
    """The tables, one below the other, each with its title and its notes."""
    return f'<div class="tieproof">{"".join(map(one, tables))}</div>'


def one(table: Table) -> str:
    """A table with its title and its notes."""
    caption = f"<caption>{escaped(table.title)}</caption>" if table.title else ""
    head = line(table, table.header, 'th scope="col"')
    bodies = "".join(
        f"<tbody>{''.join(line(table, row, 'td') for row in section)}</tbody>"
        for section in table.sections
        if section
    )
    notes = f"<p>{'<br>'.join(map(escaped, table.notes))}</p>" if table.notes else ""
    return f"<table>{caption}<thead>{head}</thead>{bodies}</table>{notes}"


def line(table: Table, row: Row, tag: str) -> str:
    """A row of the table."""
    cells = (
        f'<{tag} style="text-align: {"right; white-space: nowrap" if table.is_number(column) else "left"}">'
        f"{written(as_cell(cell))}"
        f"</{tag.partition(' ')[0]}>"
        for column, cell in enumerate(row)
    )
    return f"<tr>{''.join(cells)}</tr>"


def written(cell: Cell) -> str:
    """A cell, with its marks."""
    text = escaped(cell.text)
    marks = f"<sup>{escaped(cell.marks)}</sup>" if cell.marks else ""
    return f"{f'<strong>{text}</strong>' if cell.bold else text}{marks}"


def escaped(text: str) -> str:
    """A text escaped for HTML."""
    return escape(in_one_line(text))
