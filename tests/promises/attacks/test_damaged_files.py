"""Files of every format that were cut short, changed, or written to be refused: one line says so."""

import gzip
import json
import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from safetensors.numpy import save_file

import tieproof as tp
from tieproof.errors import LONGEST
from tieproof.inputs.readers import read_confidences, read_embeddings, read_labels
from tieproof.trials.competition import Competition

ROWS = np.random.default_rng(5).normal(size=(6, 4)).astype(np.float32)
LABELS = np.arange(6) % 2
RUN = "".join(f"q{query} Q0 d{at} {at} {9 - at}.5 tag\n" for query in range(3) for at in range(5))
QRELS = "".join(f"q{query} 0 d{at} {at % 2}\n" for query in range(3) for at in range(5))
PREDICTIONS = "".join(
    json.dumps({"query_id": f"q{query}", "results": [{"corpus_id": "d1", "score": 0.5}]}) + "\n" for query in range(3)
)
TABLE = "".join(f"{row[0]},{row[1]},{label}\n" for row, label in zip(ROWS, LABELS, strict=True))
TOML = 'title = "T"\ntask = "embeddings"\nmeasures = ["AP"]\n[[phases]]\nname = "F"\nlabels = "labels.csv"\n'


def in_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"], file["labels"] = ROWS, LABELS
        file.create_dataset("packed", data=ROWS, chunks=(2, 4), compression="gzip")
        file.create_dataset("texts", data=["a", "bb"], dtype=h5py.string_dtype())


def in_parquet(path: Path) -> None:
    parquet.write_table(pa.table({**{f"f{at}": ROWS[:, at] for at in range(4)}, "label": LABELS}), path)


def after_their_length(path: Path) -> None:
    np.concatenate([np.full((6, 1), 4, "<i4").view("<f4"), ROWS], axis=1).tofile(path)


def bigann(path: Path) -> None:
    path.write_bytes(struct.pack("<II", *ROWS.shape) + ROWS.tobytes())


def as_text(text: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(text)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "a.npy": lambda path: np.save(path, ROWS),
    "a.npz": lambda path: np.savez(path, x=ROWS, labels=LABELS),
    "packed.npz": lambda path: np.savez_compressed(path, x=ROWS, labels=LABELS),
    "a.h5": in_hdf5,
    "a.parquet": in_parquet,
    "a.safetensors": lambda path: save_file({"x": ROWS, "labels": LABELS}, path),
    "a.fbin": bigann,
    "a.fvecs": after_their_length,
    "a.csv": as_text(f"f0,f1,label\n{TABLE}"),
    "a.tsv": as_text(f"f0,f1,label\n{TABLE}".replace(",", "\t")),
    "a.txt": as_text("a\nb\n" * 3),
    "a.json": as_text("[0, 1, 0, 1]"),
    "a.run": as_text(RUN),
    "run.gz": lambda path: path.write_bytes(gzip.compress(RUN.encode(), mtime=0)),
    "run.json": as_text(json.dumps({"q0": {"d0": 1.5, "d1": 2}})),
    "run.jsonl": as_text(PREDICTIONS),
    "a.qrels": as_text(QRELS),
    "a.toml": as_text(TOML),
    "a.tieproof": lambda path: tp.evaluate(ROWS, LABELS, measures=["AP"]).save(path),
}

STRANGE = (
    *(b"[" * 20_000, b'{"a":' * 20_000, b"a = " + b"[" * 5000, b"[1]", b"[1, [2]]", b'{"q0": 1}', b"null", b"1"),
    *(b"\0" * 999, b"\xff" * 999, b"9" * 9999, b"1e999999999", b"x" * 2**16, b'"' + b"a" * 20_000, b"\r\n\r\r\n"),
    *(b"PK\3\4", b"\x1f\x8b\x08", b"PAR1", b"\x89HDF\r\n\x1a\n", b"\xff" * 8 + b"{}", b"\x1b[31m\n"),
    *(b"\x93NUMPY\1\0\xff\xff" + b"(" * 65535, b"\x93NUMPY\2\0\xff\xff\xff\x7f", b"\xff\xff\xff\x7f" * 4),
)


def changed(content: bytes) -> Iterator[bytes]:
    """The content of a file cut at some places, and with bytes of its beginning, middle and end changed."""
    for share in (0.1, 0.5, 0.9):
        yield content[: int(share * len(content))]
    yield content[:-1]
    random = np.random.default_rng(len(content))
    for at in [*range(0, min(64, len(content)), 13), *random.integers(0, len(content), 3).tolist()]:
        yield content[:at] + bytes([255 - content[at]]) + content[at + 1 :]


def read(path: Path) -> Iterator[Callable[[], object]]:
    """The ways to read a file."""
    match path.suffix:
        case ".toml":
            yield lambda: Competition.read(path)
        case ".tieproof":
            yield lambda: tp.load(path)
        case ".qrels":
            yield lambda: tp.evaluate_run(path, {"q0": {"d0": 1.0}})
        case ".run" | ".gz" | ".jsonl":
            yield lambda: tp.evaluate_run({"q0": {"d0": 1}}, path)
        case _:
            yield from (lambda how=how: how(path) for how in (read_embeddings, read_labels, read_confidences))
            if path.name == "run.json":
                yield lambda: tp.evaluate_run({"q0": {"d0": 1}}, path)


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    refused: list[str] = []
    for content in (*STRANGE, *changed(path.read_bytes())):
        path.write_bytes(content)
        for reads in read(path):
            with warnings.catch_warnings(action="ignore"):
                try:
                    reads()
                except tp.InputError as error:
                    refused.append(str(error))
    assert len(refused) >= len(STRANGE)
    assert not any("\n" in message for message in refused)
    assert max(map(len, refused)) <= sum(LONGEST) + 3
