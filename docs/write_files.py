"""The page on files, from the tables of the readers. Writes files.md beside this script."""

from pathlib import Path

from tieproof.inputs.frames import COLUMNS
from tieproof.inputs.readers import FILE_FORMATS
from tieproof.inputs.readers.columns import NAMES

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
    ".npy": "one array",
    ".npz": "named arrays",
    ".h5": "named arrays, also within groups",
    ".hdf5": "named arrays, also within groups",
    ".safetensors": "named tensors",
    ".pt": "tensors, loaded with `weights_only=True` by torch 2.10 or later",
    ".pth": "tensors, loaded with `weights_only=True` by torch 2.10 or later",
    ".parquet": "columns, or a column of lists; maps, or `indices` and `values`, are sparse rows",
    ".csv": "columns, with or without a header",
    ".tsv": "columns, with or without a header",
    ".jsonl": "fields of dictionaries, one on each line; `vector` has the weights of terms, as Anserini writes it",
    ".csr": "sparse rows, in the format of big-ann-benchmarks",
    ".fbin": "float32 vectors, in the format of big-ann-benchmarks",
    ".u8bin": "uint8 vectors, in the format of big-ann-benchmarks",
    ".i8bin": "int8 vectors, in the format of big-ann-benchmarks",
    ".ibin": "indices of nearest neighbors, in the format of big-ann-benchmarks",
    ".fvecs": "float32 vectors, in the format of SIFT and GIST",
    ".bvecs": "uint8 vectors, in the format of SIFT and GIST",
    ".ivecs": "indices of nearest neighbors, in the format of SIFT and GIST",
    ".txt": "only labels, one per line",
    ".json": "only labels, as one list",
}

COLUMNS_OF_RUNS = "query", "document", "score", "grade"

PAGE_TEXT = """<!-- Written by docs/write_files.py from the tables of the readers. -->

# Files

The command line reads embeddings, labels and confidences from files. Nothing in a file is ever unpickled or
executed. A damaged file raises an error of one line. A file is read, never mapped: one that is cut short meanwhile
cannot end the process. A single file is read whole; for files that do not fit into memory, give a folder or a
pattern (`'embeddings*.npy'`), whose files are read [block by block](guides/large_data.md). No file can name another
one that is read with it, except for virtual HDF5 data sets, whose sources must be in the folder of their file.

## Formats

| extension | contents | install |
|---|---|---|
{formats}

To choose one of several arrays in a file, or one column of a table, add its name after a colon: `data.npz:features`
or `table.parquet:species`. Vectors have shape (n, d). Labels have shape (n,), or shape (n, c) with entries 0 and 1 if
an item can have several labels.

## Names that are recognized

If you do not choose, the first of these names that the file contains is used. Upper and lower case are the same, and
in HDF5 files only the last part of the path counts:

| read as | names |
|---|---|
{names}

A name that ends in one of these names, such as `phocnet_features`, is recognized, too, unless the ending is a
single letter or a name of ids. If the file contains none of these names, its only array of the right shape is used.
If several arrays are possible, the error lists them, and says how to choose one.

## Tables with a column for each dimension

In a table without a column of lists, every numeric column is a dimension of the embeddings, except for columns
whose names the table above lists as labels, confidences or ids, and columns that you choose by an option of the
command line. If the names of the dimensions are not numbered (`f0`, `f1`, …), a warning lists the columns that were
used.

## Runs and judgments

`tieproof run` and `tp.evaluate_run` read TREC files, also compressed by gzip, and the qrels of BEIR, which have a
header, and runs of MS MARCO, which have three columns (query, document, rank). The third column has ranks if it
goes from 0 or 1 to the length of each list without gaps, and scores otherwise. As in trec_eval 10, lines that begin
with `#` are comments, and text after the tag of a run is not read; a warning counts the comments that have all
columns. Ids may contain blanks where tabs separate all columns, lines may end in LF, CR and LF, or CR alone, and
both files must have the same encoding. Files with the extensions `.json` and `.jsonl` contain what dictionaries and
lists do ([below](#documents-of-a-query)), or predictions of [MTEB](integrations/mteb.md#saved-predictions), of
which `FILE:SUBSET/SPLIT` names a split. Qrels may also be a data set of [ir_datasets](https://ir-datasets.com),
such as `ir_datasets:msmarco-passage/trec-dl-2019/judged`, or a task of MTEB, such as `mteb:SciFact`, which that
library downloads (extra `ir-datasets` or `mteb`). The commands `run`, `compare`, `verify`, `agree` and `diversity`
also read qrels and runs from standard input, written `-`, and from pipes, as TREC files or JSON. `compare` calls a
system as its file is called, unless `NAME=FILE` gives another name:

```text
ssh host cat run.gz | tieproof run qrels.txt -
zcat ours.run.gz | tieproof compare --qrels qrels.txt base.run ours=-
```

### Documents of a query

In Python and in JSON, the documents of a query may come as they are:

| in a run | ties |
|---|---|
| `{{document: score}}` | equal scores |
| `[document, …]`, the best first, or hits without scores | none: the order is the ranking, or the ranks of the hits |
| hits with an id and a score, dictionaries or objects, or pairs of both | equal scores |
| answers with hits, of Elasticsearch, OpenSearch, Qdrant, Pinecone, Weaviate, LlamaIndex, Haystack | equal scores |

The queries are the keys of a dictionary; the `query_id`, `qid` or `query` of the entries of a list or of the lines of
a `.jsonl` file, as rank_llm, RankGPT and sentence-transformers write them; or the positions in a list, as
`util.semantic_search` returns them. A list may also have an entry for each document. In qrels, a set or a list of ids
gives each the grade 1. Answers are cut off at the `top_k` of the search:

```python
run = {{query: retriever.retrieve(text) for query, text in queries.items()}}  # LlamaIndex
run = {{query: retriever.run(query=text) for query, text in queries.items()}}  # Haystack: {{"documents": […]}}
tp.evaluate_run(qrels, run, truncated=True)
```

Scores must be larger for nearer documents: negate distances, such as those of Qdrant with a Euclidean distance, whose
hits are refused because their scores increase along every list. A document that occurs twice for a query is refused
with both places; with `duplicates="first"` it counts at its first place, and the result says so. The samples of RAGAS
have ids without scores, and may have one twice:

```python
qrels = {{i: set(each.reference_context_ids) for i, each in enumerate(samples)}}
run = {{i: each.retrieved_context_ids for i, each in enumerate(samples)}}
tp.evaluate_run(qrels, run, duplicates="first")
```

If judgments name documents and a run has their chunks, `documents=` tells the document of each chunk, which counts by
its best chunk (MaxP). `own="drop"` leaves out the query's own document, as for ArguAna of BEIR. The command line has
`--duplicates`, `--documents` and `--own`, too.

Data frames of pandas and polars, tables of pyarrow and relations of DuckDB have these columns, in any letter case, or
`rank` in place of the score, of which the smallest is the best. Hits have these keys or attributes:

| content | names |
|---|---|
{columns}

`tieproof scores FILE`, `tp.evaluate_scores(path)` and `tp.evaluate_distances(path)` read a table with scores (or
distances) and relevance: text with a header (commas, tabs or semicolons), JSON, lines of JSON or
Parquet, also packed. Without a query, it is one list.

## Many files

A folder, a pattern in quotes (`'gallery/*.parquet'`) or a URL (`s3://…`) names [several files](guides/large_data.md)
that form one data set. The lists of an index have [a page of their own](integrations/nearest_neighbor_indexes.md).
"""


def render() -> str:
    """The page."""
    formats = (
        f"| `{extension}` | {HOLDS[extension]} | {install(extension)} |"
        for extension in sorted(FILE_FORMATS, key=order)
    )
    names = (f"| {what} | {', '.join(f'`{name}`' for name in known)} |" for what, known in NAMES.items())
    columns = (f"| the {what} | {', '.join(f'`{name}`' for name in known)} |" for what, known in COLUMNS.items())
    return PAGE_TEXT.format(formats="\n".join(formats), names="\n".join(names), columns="\n".join(columns))


def order(extension: str) -> int:
    """The place of a format in the table; one that the table lacks is an error."""
    return [*HOLDS].index(extension)


def install(extension: str) -> str:
    """What the format needs."""
    return f"`pip install 'tieproof[{EXTRAS[extension]}]'`" if extension in EXTRAS else "nothing more"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
