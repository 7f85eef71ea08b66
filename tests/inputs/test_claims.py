"""Files whose headers claim more data than they contain are refused by name, in little memory and time."""

import json
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tieproof as tp
from tieproof.inputs.readers import read_embeddings, read_labels
from tieproof.inputs.readers.lines import LONGEST_LINE

MIB = 2**20

LIMITED = """
import json, resource, sys
import tieproof as tp
from tieproof.inputs.readers import read_embeddings, read_labels
{imports}
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + {mib} * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
said = []
for call in {calls}:
    try:
        eval(call)
    except tp.InputError as error:
        said.append(str(error))
    except MemoryError as error:
        said.append("out of memory")
print(json.dumps(said))
"""


def refused(*calls: str, imports: str = "", mib: int = 400) -> list[str]:
    """The messages of refused calls in a process that has only so much memory in addition to the libraries."""
    if not sys.platform.startswith("linux"):
        pytest.skip("the size of a process is read from /proc")
    script = LIMITED.format(calls=calls, imports=imports, mib=mib)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.stderr == ""
    said = json.loads(done.stdout)
    assert len(said) == len(calls)
    return list(said)


def reading(path: Path) -> str:
    """The call that reads labels."""
    return f"read_labels({str(path)!r})"


def npy(claimed: str, dtype: str, data: bytes = b"") -> bytes:
    """A NumPy file with any header."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {claimed}, }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def npz(path: Path, member: bytes, method: int = zipfile.ZIP_DEFLATED, size: int | None = None) -> None:
    """An archive with one array, whose directory may claim another size."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("labels.npy", member)
    if size is not None:
        raw = bytearray(path.read_bytes())
        directory = raw.rindex(b"PK\x01\x02")
        raw[directory + 24 : directory + 28] = struct.pack("<I", size)
        path.write_bytes(raw)


CLAIMS = ["(1000000000000,)", "(1000000, 1000000)"]
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def claims(folder: Path) -> Iterator[tuple[str, str]]:
    """Calls that read files of a hundred bytes which claim a trillion entries, each with what is said of it."""
    for at, (claimed, dtype) in enumerate(product(CLAIMS, ("<U0", "|S0", "<U1", "<i8"))):
        path = folder / f"labels{at}.npy"
        path.write_bytes(npy(claimed, dtype))
        assert path.stat().st_size == 128
        yield reading(path), "1,000,000,000,000 strings of length 0" if "0" in dtype else "is cut short"
    for at, (dtype, method, size) in enumerate(product(("<U0", "<i8"), METHODS, (None, 2**32 - 2))):
        npz(folder / f"{at}.npz", npy("(1000000000000,)", dtype, bytes(64)), method, size)
        yield reading(folder / f"{at}.npz"), f".npz:labels {'contains' if dtype == '<U0' else 'is cut short'}"
    npz(folder / "data.npz", npy(f"({2**29 - 100},)", "<i8", bytes(64)), size=2**32 - 2)  # as its array does
    yield reading(folder / "data.npz"), "data.npz:labels is cut short"
    for name, end in {"one": 8, "other": 8 * 10**12}.items():
        text = json.dumps({"labels": {"dtype": "I64", "shape": [10**12], "data_offsets": [0, end]}}).encode()
        (folder / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
        yield reading(folder / f"{name}.safetensors"), ".safetensors cannot be read"
    kinds: list[dict[str, Any]] = [{}, {"chunks": (1000,)}, {"chunks": (1000,), "compression": "gzip"}]
    for at, options in enumerate(kinds):
        with h5py.File(folder / f"{at}.h5", "w") as file:
            labels = file.create_dataset("labels", (10**12,), "i8", **options)
            if options:
                labels[:5000] = 1
        yield reading(folder / f"{at}.h5"), ".h5:labels is not stored completely"


def long_labels(folder: Path) -> Iterator[tuple[str, str]]:
    """Calls with one long label, for whose space every label in an array of strings would take as much."""
    for extension, write in WRITERS.items():
        write(folder / f"long{extension}")
        yield reading(folder / f"long{extension}"), f"The labels of {folder / f'long{extension}'}"
    for letter in ("'x'", "b'x'"):
        yield f"tp.evaluate([[1.0]] * 50_001, [{letter}] * 50_000 + [{letter} * {LONG}])", "The labels"


def test_what_claims_more_than_it_contains(tmp_path: Path) -> None:
    """In one process, because each takes a second to start."""
    wide = " contain a string of 100,000 characters at [50000] among 50,001 strings"
    expected = [*claims(tmp_path), *((call, part + wide) for call, part in long_labels(tmp_path))]
    said = refused(*(call for call, _ in expected), imports="import h5py, safetensors, pyarrow.parquet", mib=1000)
    for message, (_, part) in zip(said, expected, strict=True):
        assert part.split(wide)[0] in message
        assert wide not in part or wide in message


def test_a_highly_compressed_array_is_read(tmp_path: Path) -> None:
    zeros = np.zeros((300, 3000), np.int64)
    np.savez_compressed(tmp_path / "data.npz", embeddings=zeros)
    assert (tmp_path / "data.npz").stat().st_size * 900 < zeros.nbytes
    assert np.array_equal(read_embeddings(tmp_path / "data.npz"), zeros)


@pytest.mark.heavy
def test_a_small_pt_that_repeats_one_entry_a_trillion_times(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "data.pt"
    torch.save({"labels": torch.zeros(1, dtype=torch.int64).expand(10**12)}, path)
    (said,) = refused(reading(path), imports="import torch")
    assert "data.pt:labels would take 7450.6 GiB" in said
    torch.save(torch.tensor([1.0, 2.0]).expand(3, 2), path)
    assert read_embeddings(path).tolist() == [[1, 2]] * 3


LONG = 100_000
LABELS = ["a", "b"] * 25_000 + ["x" * LONG]


def write_h5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["labels"] = LABELS


WRITERS: dict[str, Callable[[Path], object]] = {
    ".txt": lambda path: path.write_text("\n".join(LABELS)),
    ".csv": lambda path: path.write_text("\n".join(["label", *LABELS])),
    ".json": lambda path: path.write_text(json.dumps(LABELS)),
    ".parquet": lambda path: pq.write_table(pa.table({"label": LABELS}), path),
    ".h5": write_h5,
}


def test_long_labels_among_others_as_long_are_read(tmp_path: Path) -> None:
    labels = ["x" * 5000 + str(at) for at in range(20)]
    (tmp_path / "labels.txt").write_text("\n".join([*labels, "a"]))
    assert read_labels(tmp_path / "labels.txt").tolist() == [*labels, "a"]


@pytest.mark.long
def test_a_trec_file_of_one_long_line(tmp_path: Path) -> None:
    """The memory suffices for the file's bytes, but not for their text as well."""
    short, long = tmp_path / "short.txt", tmp_path / "run.txt"
    short.write_bytes(b"q1 Q0 d1 1 0.5 t\n")
    long.write_bytes(short.read_bytes() + b"x" * (256 * MIB))
    before, call = (f"tp.evaluate_run({{'q1': {{'d1': 1}}}}, {str(path)!r})" for path in (short, long))
    (said,) = refused(call, imports=before, mib=400)
    assert "run.txt has more than 1,048,576 bytes on line 2: 'xxx" in said


def test_a_trec_file_of_lines_that_are_long(tmp_path: Path) -> None:
    """Lines of the largest allowed length, which extend over the blocks in which a file is read."""
    name = "x" * (LONGEST_LINE - 100)
    lines = [f"q{at} Q0 {name}{at} 1 0.5 t" for at in range(5)]
    (tmp_path / "run.txt").write_text("\ufeff" + "\n\n".join(lines) + "\n", encoding="utf-8")
    qrels = {f"q{at}": {f"{name}{at}": 1} for at in range(5)}
    assert tp.evaluate_run(qrels, tmp_path / "run.txt", measures=["AP"])["AP"].lower == 1
    lines[3] = lines[3].removesuffix(" t")
    (tmp_path / "run.txt").write_text("\n\n".join(lines))
    with pytest.raises(tp.InputError, match="has 5 columns on line 7"):
        tp.evaluate_run(qrels, tmp_path / "run.txt")


def test_categories_of_numbers_that_are_no_letters() -> None:
    codes: Any = np.array([65, 65, 0x110005, 66], np.uint32).view("<U1")
    with pytest.raises(tp.InputError, match=r"The categories contain bytes at \[2\] that are not Unicode"):
        tp.evaluate(np.eye(4), [0, 0, 1, 1], categories=codes)
