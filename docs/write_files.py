"""The page on files, from the tables of the readers. Writes files.md beside this script."""

from pathlib import Path

from tieproof.inputs.readers import FILE_FORMATS
from tieproof.inputs.readers.entries import NAMES

PAGE = Path(__file__).with_name("files.md")

EXTRAS = {
    ".h5": "h5",
    ".hdf5": "h5",
    ".safetensors": "safetensors",
    ".pt": "torch",
    ".pth": "torch",
    ".parquet": "parquet",
}
"""The extra of `pip install` that a format needs."""

HOLDS = {
    ".npy": "one array, which is memory-mapped",
    ".npz": "named arrays",
    ".h5": "named arrays, also in groups",
    ".hdf5": "named arrays, also in groups",
    ".safetensors": "named tensors",
    ".pt": "tensors, which are loaded as weights only",
    ".pth": "tensors, which are loaded as weights only",
    ".parquet": "columns; one of them may hold lists, which are the vectors",
    ".csv": "columns, with or without a line of names",
    ".tsv": "columns, with or without a line of names",
    ".fbin": "float32 vectors of big-ann-benchmarks, which are memory-mapped",
    ".u8bin": "uint8 vectors of big-ann-benchmarks, which are memory-mapped",
    ".i8bin": "int8 vectors of big-ann-benchmarks, which are memory-mapped",
    ".ibin": "neighbours of big-ann-benchmarks",
    ".txt": "labels only, one on each line",
    ".json": "labels only, one list",
}

PAGE_TEXT = """<!-- Written by docs/write_files.py from the tables of the readers. -->

# Files

The command line reads embeddings, labels and confidences from files. Nothing in a file is ever unpickled or executed,
and a file that is damaged, cut short or of another kind than its name says is refused in one line.

## Formats

| extension | holds | install |
|---|---|---|
{formats}

One of several arrays in a file, or one column of a table, is named behind a colon: `data.npz:features` or
`table.parquet:species`. Vectors have the shape (n, d); labels have the shape (n,), or (n, c) of 0 and 1 where an item
may have several.

## Names that are recognised

Where no name is given, the array or column with one of these names is taken, in this order; capital letters make no
difference, and in a group of an HDF5 file the last part of the name counts:

| read as | names |
|---|---|
{names}

A name that ends in one of them, such as `phocnet_features`, counts, too, unless the ending is a single letter or an
id. Where no name is known, the only array of the right shape is taken. Where several could be meant, tieproof does
not guess: it lists what the file holds, and says how to choose.

## Tables with a column for each dimension

In a table without a column of lists, every column of numbers is a dimension, except for those that the second table
calls labels, confidences or ids, and those that an option of the command line names. Where the names of the
dimensions do not count upwards (`f0`, `f1`, …), a warning says which columns were taken. A table in which the labels
themselves are one of the dimensions is refused.

## Runs and judgments

`tieproof run` and `tp.evaluate_run` read TREC files, also packed by gzip, and the qrels of BEIR with their header.
A file of predictions of sentence-transformers ends in `.jsonl`. Data frames have these columns:

| what | names of the column |
|---|---|
| the query | `query_id`, `qid`, `q_id`, `query-id` |
| the document | `doc_id`, `docno`, `docid`, `corpus-id` |
| the score, in a run | `score` |
| the grade, in qrels | `relevance`, `label`, `grade`, `rel`, `score` |

## Many files

A folder, a pattern in quotes (`'gallery/*.parquet'`) or a URL (`s3://…`) names several files that are one data set.
[Data sets in shards](shards.md) says how they are ordered, where their labels lie, and what is checked.

## Results

`--json`, `--per-query`, `--plot`, `--report` and `--save` write files, each whole or not at all.
[Exports](exports.md), [pictures](plots.md), [reports](reports.md) and [records](records.md) describe them.
"""


def render() -> str:
    """The page."""
    formats = (
        f"| `{extension}` | {HOLDS[extension]} | {install(extension)} |"
        for extension in sorted(FILE_FORMATS, key=order)
    )
    names = (f"| {what} | {', '.join(f'`{name}`' for name in known)} |" for what, known in NAMES.items())
    return PAGE_TEXT.format(formats="\n".join(formats), names="\n".join(names))


def order(extension: str) -> int:
    """The place of a format in the table; one that the table lacks is an error."""
    return [*HOLDS].index(extension)


def install(extension: str) -> str:
    """What the format needs."""
    return f"`pip install 'tieproof[{EXTRAS[extension]}]'`" if extension in EXTRAS else "nothing more"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
