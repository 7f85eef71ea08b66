"""Records that cannot be read, written or verified."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import tieproof as tp
from record_files import EMBEDDINGS, LABELS, as_npy, packed, parts_of, record, with_facts, with_part
from refusals.case import Case, evaluate


def changed(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    """Load a record whose bytes were changed."""

    def call(folder: Path) -> object:
        path = record(folder / "run.tieproof")
        path.write_bytes(change(path.read_bytes()))
        return tp.load(path)

    return call


def with_parts(**parts: bytes) -> Callable[[Path], object]:
    """Load a record with other parts."""

    def call(folder: Path) -> object:
        known = parts_of(record(folder / "run.tieproof"))
        named = {f"{name}.npy": content for name, content in parts.items()}
        return tp.load(packed(folder / "run.tieproof", known | named))

    return call


def verified(**more: object) -> Callable[[], object]:
    """Verify a result with further arguments."""
    return lambda: tp.verify(evaluate()(), EMBEDDINGS, LABELS, **more)


CASES: dict[str, Case] = {
    "a path with a zero character": Case(
        lambda: evaluate()().save("a\0.tieproof"), r"'a.x00.tieproof' contains a zero character, which no path has"
    ),
    "the path of a record that does not exist": Case(
        lambda: tp.load("none.tieproof"), "none.tieproof does not exist or is not a file"
    ),
    "a text file called .tieproof": Case(
        changed(lambda content: b"AP 0.5\n"), "cannot be read as a record of tieproof", in_folder=True
    ),
    "a zip archive without record.json": Case(
        changed(lambda content: content.replace(b"record.json", b"rekord.json")),
        r"is a zip archive, but not a record: it does not contain record\.json",
        in_folder=True,
    ),
    "a record that is cut short": Case(
        changed(lambda content: content[: len(content) // 2]), "is damaged or cut short", in_folder=True
    ),
    "a record in a newer version of the format": Case(
        lambda folder: tp.load(with_facts(folder, version=4)),
        r"version 4 of the format, but this tieproof reads only version 3",
        in_folder=True,
    ),
    "a record in an older version of the format": Case(
        lambda folder: tp.load(with_facts(folder, version=1)),
        r"version 1 of the format, .* reads only version 3\. Evaluate the data again and save the result",
        in_folder=True,
    ),
    "a record with an additional array": Case(
        with_parts(more=b""), "its members have unexpected names", in_folder=True
    ),
    "a record with Python objects as query ids": Case(
        with_parts(query_ids=as_npy(np.array([print, 2], dtype=object), allow_pickle=True)),
        "contains Python objects, which are never unpickled",
        in_folder=True,
    ),
    "a record with values of another dtype": Case(
        lambda folder: tp.load(with_part(folder, "values", lambda values: values.astype(np.float32))),
        "values has dtype float32, not float64",
        in_folder=True,
    ),
    "a record whose values do not agree with its means": Case(
        lambda folder: tp.load(with_part(folder, "values", lambda values: values / 2)),
        "is inconsistent: the values",
        in_folder=True,
    ),
    "a record saved with another extension": Case(
        lambda folder: evaluate()().save(folder / "run.npz"),
        r"name of a record must end in \.tieproof",
        in_folder=True,
    ),
    "the result of one category to be saved": Case(
        lambda folder: evaluate(categories=[0, 0, 1, 1, 2, 2])().category(0).save(folder / "run.tieproof"),
        "The result of one category has no record of its own",
        in_folder=True,
    ),
    "verification with measures=": Case(
        verified(measures=["AP"]), "measures is not an argument for the verification"
    ),
    "verification with another distance=": Case(
        verified(distance="euclidean"), "The distance of this record is cosine"
    ),
    "verification without data": Case(lambda: tp.verify(evaluate()()), "needs one or two arguments"),
    "verification without categories": Case(
        lambda: tp.verify(evaluate(categories=[0, 0, 1, 1, 2, 2])(), EMBEDDINGS, LABELS),
        "This record has categories of its queries",
    ),
}
