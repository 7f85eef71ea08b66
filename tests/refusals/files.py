"""Files that cannot be read, or not without guessing."""

import json
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import tieproof as tp
from refusals.case import Case
from tieproof.cli.files import Files, from_files
from tieproof.inputs import readers
from tieproof.inputs.readers import location

VECTORS = np.arange(12.0).reshape(6, 2)


def array(name: str, values: Any, read: Callable[[Path], object] = readers.read_labels) -> Callable[[Path], object]:
    """Read an array from a file of its own."""

    def call(folder: Path) -> object:
        np.save(folder / name, values)
        return read(folder / name)

    return call


def archive(read: Callable[[Path], object], **arrays: Any) -> Callable[[Path], object]:
    """Read from data.npz."""

    def call(folder: Path) -> object:
        np.savez(folder / "data.npz", **arrays)
        return read(folder / "data.npz")

    return call


def text(name: str, content: str | bytes, read: Callable[[Path], object]) -> Callable[[Path], object]:
    """Read a file of these characters, or bytes."""

    def call(folder: Path) -> object:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path)

    return call


def hdf5(write: Callable[[Any], object]) -> Callable[[Path], object]:
    """Read embeddings from data.h5."""

    def call(folder: Path) -> object:
        with h5py.File(folder / "data.h5", "w") as file:
            write(file)
        return readers.read_embeddings(folder / "data.h5")

    return call


def virtual(file: Any) -> None:
    """A virtual data set whose source file is missing."""
    layout = h5py.VirtualLayout((4, 3), "f4")
    layout[:] = h5py.VirtualSource("train.h5", "x", (4, 3))
    file.create_virtual_dataset("embeddings", layout)


def virtual_elsewhere(folder: Path) -> object:
    """A virtual data set whose source is in another folder."""
    (folder / "data").mkdir()
    with h5py.File(folder / "private.h5", "w") as file:
        file["x"] = VECTORS
    with h5py.File(folder / "data" / "data.h5", "w") as file:
        layout = h5py.VirtualLayout(VECTORS.shape, VECTORS.dtype)
        layout[:] = h5py.VirtualSource("../private.h5", "x", VECTORS.shape)
        file.create_virtual_dataset("embeddings", layout)
    return readers.read_embeddings(folder / "data" / "data.h5")


def doubled(folder: Path) -> object:
    """An archive that has one of its arrays twice."""
    path = folder / "data.npz"
    np.savez(path, embeddings=VECTORS)
    with zipfile.ZipFile(path, "a") as packed, warnings.catch_warnings(action="ignore"):
        packed.writestr("embeddings.npy", packed.read("embeddings.npy"))
    return readers.read_embeddings(path)


def evaluated(path: Path) -> object:
    """Evaluate a file with labels.npy beside it, as the command line does."""
    np.save(path.with_name("labels.npy"), [0, 0, 1, 1])
    return from_files(tp.evaluate, [Files(str(path), str(path.with_name("labels.npy")), None)])


def npy_of_nothing(folder: Path) -> object:
    """128 bytes that claim to be a trillion labels."""
    header = b"{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n"
    path = folder / "labels.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    return readers.read_labels(path)


def npz_of_nothing(folder: Path) -> object:
    """An archive of some hundred bytes whose array and directory both claim four gigabytes."""
    header = b"{'descr': '|i1', 'fortran_order': False, 'shape': (4294967000,), }".ljust(117) + b"\n"
    path = folder / "data.npz"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("labels.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    raw = bytearray(path.read_bytes())
    size = raw.rindex(b"PK\x01\x02") + 24
    raw[size : size + 4] = struct.pack("<I", 2**32 - 2)
    path.write_bytes(raw)
    return readers.read_labels(path)


IRISES = "a/0.jpg,setosa,1,2\na/1.jpg,setosa,3,4\na/2.jpg,virginica,5,6\na/3.jpg,virginica,7,8\n"


def labels_first(folder: Path) -> object:
    np.save(folder / "labels.npy", np.arange(6) % 2)
    np.save(folder / "embeddings.npy", VECTORS)
    return from_files(tp.evaluate, [Files(str(folder / "labels.npy"), str(folder / "embeddings.npy"), None)])


CASES: dict[str, Case] = {
    "a CSV file with the labels among its dimensions": Case(
        text("data.csv", "f0,f1,species\n1,2,0\n3,4,0\n5,6,1\n7,8,1\n", evaluated),
        r"contains the labels as one of the dimensions, in column 'species'.*from '.*data.csv:species'",
        in_folder=True,
    ),
    "a CSV file of coordinates as labels": Case(
        text("data.csv", "x,y\n1,2\n3,4\n", readers.read_labels),
        r"does not say which of its entries are the labels: it contains 'x' \(column 1\), 'y' \(column 2\)",
        in_folder=True,
    ),
    "a CSV file of paths": Case(
        text("data.csv", "path,f0,f1\na/0.jpg,1.5,2\na/1.jpg,3.5,4\n", readers.read_labels),
        r"Choose one by a colon and its name, or give the labels in another file\.",
        in_folder=True,
    ),
    "a CSV file of paths as embeddings": Case(
        text("data.csv", f"path,label,f0,f1\n{IRISES}", readers.read_embeddings),
        r"has 'a/0.jpg' on line 2 in column 1 \('path'\), where a number .* is not a dimension to 'id'\.",
        in_folder=True,
    ),
    "standard input for both the qrels and the run": Case(
        lambda: location.with_pipes_read("-", "-"), r"- is given twice, but standard input can be read only once"
    ),
    "the labels before the embeddings": Case(
        labels_first,
        r"labels.npy contains labels only, but .*embeddings.npy contains more; give the embeddings first, then",
        in_folder=True,
    ),
    "a CSV file of integers whose first row is 0, 1, 2": Case(
        text("data.csv", "0,1,2\n3,4,5\n", readers.read_embeddings),
        r"has 0, 1, 2 on line 1 above integers, which may be data or a header of pandas",
        in_folder=True,
    ),
    "an archive with several arrays that could be embeddings": Case(
        archive(readers.read_embeddings, count=6, train=VECTORS, test=VECTORS, kinds=np.arange(6)),
        r"does not say which of its entries are the embeddings: it contains 'count'.* such as '.*data.npz:train'",
        in_folder=True,
    ),
    "an archive without an array that could be labels": Case(
        archive(readers.read_labels, train=VECTORS, test=VECTORS),
        r"None of them has the shape \(n,\) of labels",
        in_folder=True,
    ),
    "a file of strings as embeddings": Case(
        array("data.npy", np.full((6, 2), "a string of characters"), readers.read_embeddings),
        r"The embeddings of .*data.npy must contain real numbers, not strings",
        in_folder=True,
    ),
    "a virtual HDF5 data set whose source is missing": Case(
        hdf5(virtual), r"not stored completely.*its source 'x' of 'train.h5' is absent", in_folder=True
    ),
    "an archive that has an array twice": Case(
        doubled, r"data\.npz contains the array 'embeddings' more than once", in_folder=True
    ),
    "a virtual HDF5 data set with a source in another folder": Case(
        virtual_elsewhere,
        r"data\.h5:embeddings takes data from .*private\.h5, which is outside the folder of its file; move that file",
        in_folder=True,
    ),
    "an HDF5 data set stored in a separate file": Case(
        hdf5(lambda file: file.create_dataset("embeddings", (4, 3), "f4", external=[("raw.bin", 0, 48)])),
        r"not stored completely.*its data is in the separate file 'raw.bin'",
        in_folder=True,
    ),
    "an HDF5 data set with chunks that were never written": Case(
        hdf5(lambda file: file.create_dataset("embeddings", (4, 3), "f4", chunks=(1, 3)).__setitem__(0, 1)),
        r"not stored completely.*1 of its 4 chunks were written",
        in_folder=True,
    ),
    "an HDF5 data set that was never written": Case(
        hdf5(lambda file: file.create_dataset("embeddings", (4, 3), "f4")),
        r"not stored completely.*created and never filled",
        in_folder=True,
    ),
    "labels of bytes that are not UTF-8": Case(
        array("labels.npy", [b"cat", b"caf\xe9"]),
        r"has b'caf\\xe9' at \[1\], which is not UTF-8 text",
        in_folder=True,
    ),
    "a text file of labels that is not UTF-8": Case(
        text("labels.txt", b"cat\ncaf\xe9\n", readers.read_labels), r"the byte 0xe9 is not UTF-8", in_folder=True
    ),
    "string labels that are not valid Unicode": Case(
        array("labels.npy", np.array([65, 0x110000], np.uint32).view("<U1")),
        r"contain bytes at \[1\] that are not Unicode characters",
        in_folder=True,
    ),
    "one label of 100,000 characters among many": Case(
        text("labels.json", json.dumps(["a"] * 3000 + ["b" * 100_000]), readers.read_labels),
        r"contain a string of 100,000 characters at \[3000\] among 3,001 strings, and would take 1.1 GiB",
        in_folder=True,
    ),
    "a file of 128 bytes that claims to contain a trillion labels": Case(
        npy_of_nothing, r"1,000,000,000,000 strings of length 0", in_folder=True
    ),
    "a small archive that claims to contain four gigabytes": Case(
        npz_of_nothing, r"data.npz:labels is cut short", in_folder=True
    ),
    "a score null in a run of JSON": Case(
        text("run.json", b'{"q1": {"a": 0.5, "b": null}}', lambda path: tp.evaluate_run({"q1": {"a": 1}}, path)),
        r"run\.json: the score of document 'b' for query 'q1' is None\. Every score must be a finite number; convert",
        in_folder=True,
    ),
    "whole numbers that are no ranks in a run of three columns": Case(
        text("run.tsv", b"q1\ta\t2\nq1\tb\t5\n", lambda path: tp.evaluate_run({"q1": {"a": 1}}, path)),
        r"run\.tsv: the third column is read as scores, .* query 'q1' are not the ranks .*anew, without gaps",
        in_folder=True,
        warns=True,
    ),
    "scores as embeddings": Case(
        text("scores.csv", "score,label\n0.5,1\n0.25,0\n", readers.read_embeddings),
        r"scores\.csv has scores, in column 'score', not vectors\. .* use tieproof scores .*scores\.csv, or",
        in_folder=True,
    ),
    "trials as embeddings": Case(
        text("trials.txt", "1 a.wav b.wav\n", readers.read_embeddings),
        r"trials\.txt contains trials or their scores, such as '1 a\.wav b\.wav', .* tieproof det TRIALS SCORES",
        in_folder=True,
    ),
    "a run as embeddings": Case(
        text("ours.run", "q1 Q0 d1 1 0.5 t\n", readers.read_embeddings),
        r"ours\.run contains a TREC run, not embeddings\. .* tieproof run QRELS RUN .* tieproof compare --qrels",
        in_folder=True,
    ),
    "a run in place of qrels": Case(
        text("run.txt", "q1 Q0 d1 1 0.5 t\n", lambda path: tp.evaluate_run(path, {"q1": {"a": 1.0}})),
        r"run\.txt contains a TREC run, not TREC qrels\. Pass the qrels first, then the run\.",
        in_folder=True,
    ),
    "scores without a header": Case(
        text("data.csv", "0.5,1\n0.25,0\n", tp.evaluate_scores),
        r"data\.csv has no header, but begins with '0\.5,1'\. .* such as query_id,doc_id,score,relevance",
        in_folder=True,
    ),
    "scores without relevance": Case(
        text("data.csv", "qid,docno,score\nq,a,1\n", tp.evaluate_scores),
        r"must have a column for the relevance, called relevance or label .* tp\.evaluate_run",
        in_folder=True,
    ),
    "scores whose queries are unknown": Case(
        text("data.csv", "topics of a,score,label\na,1,1\n", tp.evaluate_scores),
        r"has no column for the query, .*: topics of a\. Rename the one that is; if all rows are one list",
        in_folder=True,
    ),
    "distances in place of scores": Case(
        text("data.csv", "distance,label\n1,1\n", tp.evaluate_scores),
        r"data\.csv has distances, in column 'distance', .* tp\.evaluate_distances; .* add --distances",
        in_folder=True,
    ),
    "a ragged table of scores": Case(
        text("data.csv", "score,label\n1\n", tp.evaluate_scores),
        r"data\.csv has a ragged row: line 2 has 1 cells, but the first row has 2",
        in_folder=True,
    ),
    "a table of scores without rows": Case(
        text("data.csv", "score,label\n", tp.evaluate_scores), r"data\.csv has no rows; give a table", in_folder=True
    ),
    "a document twice in a table of scores": Case(
        text("data.csv", "qid,docno,score,label\nq,a,1,1\nq,a,2,0\n", tp.evaluate_scores),
        r"document 'a' occurs twice for query 'q', on lines 2 and 3\. Keep one",
        in_folder=True,
    ),
    "a word as a score": Case(
        text("data.csv", "score,label\n1,1\nhigh,0\n", tp.evaluate_scores),
        r"data\.csv: the score of document '1' for query '0' is 'high', on line 3\. Every score must be a finite",
        in_folder=True,
    ),
    "broken lines of JSON as scores": Case(
        text("data.jsonl", '{"score": 1, "label": 1}\n{', tp.evaluate_scores),
        r"data\.jsonl has no JSON on line 2: '\{'\. A table in JSON is a list of records",
        in_folder=True,
    ),
    "JSON that is no table of scores": Case(
        text("data.json", "[1, 2]", tp.evaluate_scores),
        r"is JSON, but no table\. A table in JSON is a list of records, .*orient='records'",
        in_folder=True,
    ),
    "a table with bars": Case(
        text("data.csv", "f0|f1|label\n0.5|1|3\n", readers.read_embeddings),
        r"data\.csv has columns that are separated by '\|'.*pandas\.read_csv\(.*, sep='\|'\)",
        in_folder=True,
    ),
    "qrels with semicolons": Case(
        text("qrels", "q1;0;a\xa0b;1\n", lambda path: tp.evaluate_run(path, {"q1": {"a": 1.0}})),
        r"1 column on line 1: .*For a table with semicolons, pass the data frame of pandas\.read_csv\(…, sep=';'\)",
        in_folder=True,
    ),
    "a table with semicolons": Case(
        text("data.csv", "f0;f1;label\n0.5;1;3\n", readers.read_embeddings),
        r"data\.csv has columns that are separated by ';', but ',' is expected\. Write it again: pandas\.read_csv\(",
        in_folder=True,
    ),
    "vectors as text in a table": Case(
        text("data.csv", 'label,v\na,"[0.1, 0.2]"\n', readers.read_embeddings),
        r"data\.csv has a vector as text, '\[0\.1, 0\.2\]', on line 2 in column 2 \('v'\), .* a \.parquet file\.",
        in_folder=True,
    ),
    "one column of a table as embeddings": Case(
        text("data.csv", "a,b\n0.5,1\n0.25,1\n", lambda path: readers.read_embeddings(f"{path}:a")),
        r"data\.csv:a is a single column of a table, but every column except for the labels is .*data\.csv,",
        in_folder=True,
    ),
    "qrels in lines of JSON with several grades of a document": Case(
        text(
            "qrels.jsonl",
            '{"query_id": "q1", "doc_id": "a", "relevance": 1}\n{"query_id": "q1", "doc_id": "a", "relevance": 2}\n',
            lambda path: tp.evaluate_run(path, {"q1": {"a": 1.0}}, duplicates="first"),
        ),
        r"qrels\.jsonl: document 'a' has several grades for query 'q1'",
        in_folder=True,
    ),
    "qrels in Parquet": Case(
        text("qrels.parquet", b"PAR1\0", lambda path: tp.evaluate_run(path, {"q1": {"a": 1.0}})),
        r"begins like a Parquet file.*For a Parquet file, pass the data frame of pandas\.read_parquet",
        in_folder=True,
    ),
    "a run in another encoding than its qrels": Case(
        text(
            "run.txt", "q1 Q0 café 1 5 t\n".encode("latin-1"), lambda path: tp.evaluate_run({"q1": {"café": 1}}, path)
        ),
        r"qrels and the run are in different encodings: for query 'q1', a document is b'caf\\xc3\\xa9' in the qrels",
        in_folder=True,
    ),
    "a commented line with all columns": Case(
        text("run.txt", b"#q1 Q0 a 1 5 t\nq1 Q0 b 2 2 t\n", lambda path: tp.evaluate_run({"q1": {"b": 1}}, path)),
        r"run\.txt: 1 of the lines that begin with # has all columns, .* If '#q1' is a query, rename it",
        in_folder=True,
        warns=True,
    ),
    "ranks that contradict the scores": Case(
        text("run.txt", b"q1 Q0 a 1 0.2 t\nq1 Q0 b 2 0.5 t\n", lambda path: tp.evaluate_run({"q1": {"b": 1}}, path)),
        r"the ranks contradict the scores in 1 of 1 lists.*by the ranks it is .*If the scores are distances, change",
        in_folder=True,
        warns=True,
    ),
    "a NumPy array as a run": Case(
        text("run.npy", b"\x93NUMPY\x01\0", lambda path: tp.evaluate_run({"q1": {"a": 1}}, path)),
        r"run\.npy cannot be read as a TREC run: it begins like a NumPy array",
        in_folder=True,
    ),
    "a run in UTF-16 without a mark": Case(
        text("run.txt", "q1 Q0 a 1 5 t\n".encode("utf-16-le"), lambda path: tp.evaluate_run({"q1": {"a": 1}}, path)),
        r"run\.txt cannot be read as a TREC run: it has NUL characters, as damaged, packed or UTF-16 files do",
        in_folder=True,
    ),
    "no-break spaces between the columns of a run": Case(
        text("run.txt", "q1 Q0 a 1 5\xa0t\n", lambda path: tp.evaluate_run({"q1": {"a": 1}}, path)),
        r"5 columns on line 1.* has a space U\+00A0, which separates no columns; replace it by a blank\.",
        in_folder=True,
    ),
    "a run file with a line of over a megabyte": Case(
        text("run.txt", b"x" * (2**20 + 1), lambda path: tp.evaluate_run({"q": {"d": 1}}, path)),
        r"has more than 1,048,576 bytes on line 1: 'xxx",
        in_folder=True,
    ),
    "predictions of sentence-transformers that are cut short": Case(
        text(
            "predictions.jsonl",
            '{"query_id": "q", "results": [{"corp',
            lambda path: tp.evaluate_run({"q": {"d": 1}}, path),
        ),
        r"has no JSON on line 1: '\{\"query_id\": \"q\", \"results\": \[\{\"corp'",
        in_folder=True,
    ),
    "a line of JSON whose hits have distances": Case(
        text(
            "predictions.jsonl",
            '{"query_id": "q", "query": "", "results": [{"corpus_id": "d", "distance": 0.5}]}',
            lambda path: tp.evaluate_run({"q": {"d": 1}}, path),
        ),
        r"on line 1: The hits of query 'q' have distances.*Pass \{query: \{id: -distance\}\}",
        in_folder=True,
    ),
}
