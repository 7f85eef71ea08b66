"""What looks right and is not: it is evaluated, with a warning."""

from pathlib import Path

from refusals.case import Case
from tieproof.readers import read_embeddings


def table(folder: Path) -> object:
    """Read embeddings from a table in which further columns lie beside them."""
    (folder / "data.csv").write_text("id,f0,f1,split,label\n1,0.5,2,0,7\n2,1.5,4,1,8\n")
    return read_embeddings(folder / "data.csv")


CASES: dict[str, Case] = {
    "columns whose names do not count": Case(
        table,
        r"data.csv: 'split' is a dimension, beside 2 whose names count. Left out: 'id', 'label'.",
        in_folder=True,
        warns=True,
    ),
}
