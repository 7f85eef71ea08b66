r"""A table as LaTeX, with the rules of the package `booktabs`.

>>> from tieproof.views.tables.table import Cell, Table
>>> rows = [[["50% & more", Cell("0.5", bold=True, marks="c")]]]
>>> print(latex(Table("Scores", ["name", "AP"], rows, ["Of 3 queries."], ["AP"])))
% \usepackage{booktabs}
\begin{table}
\centering
\caption{Scores. Of 3 queries.}
\begin{tabular}{lr}
\toprule
name & AP \\
\midrule
50\% \& more & \textbf{0.5}$^{\mathrm{c}}$ \\
\bottomrule
\end{tabular}
\end{table}
"""

from tieproof.views.printable import in_one_line
from tieproof.views.tables.table import Cell, Row, Table, as_cell

SPECIAL = {
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
    sections = ["\n".join(map(line, section)) for section in table.sections if section]
    caption = " ".join(escaped(text) for text in [f"{table.title}." if table.title else "", *table.notes] if text)
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            *([f"\\caption{{{caption}}}"] if caption else []),
            f"\\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            line(table.header),
            r"\midrule",
            "\n\\midrule\n".join(sections),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def line(row: Row) -> str:
    """A row of the table."""
    return f"{' & '.join(map(written, map(as_cell, row)))} \\\\"


def written(cell: Cell) -> str:
    """A cell, with its marks."""
    text = escaped(cell.text)
    if cell.bold:
        text = f"\\textbf{{{text}}}"
    return f"{text}$^{{\\mathrm{{{escaped(cell.marks)}}}}}$" if cell.marks else text


def escaped(text: str) -> str:
    """A text escaped for LaTeX, in one line; two hyphens do not become a dash."""
    return "".join(SPECIAL.get(letter, letter) for letter in in_one_line(text)).replace("--", "-{}-{}")
