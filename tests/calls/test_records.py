"""Records: every bit is restored, the same result gives the same bytes, and other files are refused."""

import json
import math
import struct
import tracemalloc
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from record_files import (
    EMBEDDINGS,
    LABELS,
    RESULTS,
    as_npy,
    from_npy,
    packed,
    parts_of,
    record,
    with_facts,
    with_part,
)

SAMPLES = Path(__file__).with_name("records")


def same_arrays(one: Any, other: Any) -> bool:
    """Whether two arrays have the same type and bits."""
    if one is None or other is None:
        return one is other
    mine, yours = np.asarray(one), np.asarray(other)
    return bool(mine.dtype == yours.dtype and mine.shape == yours.shape and mine.tobytes() == yours.tobytes())


def check_same(result: tp.Result, again: tp.Result) -> None:
    old, new = result.evaluated, again.evaluated
    assert (new.setting, new.zero_vectors) == (old.setting, old.zero_vectors)
    assert new.origin[:2] == old.origin[:2]
    assert new.origin.fingerprint == old.origin.fingerprint
    assert new.relevance_hash() == old.relevance_hash()
    assert list(new.per_query) == list(old.per_query)
    assert list(new.left_out) == list(old.left_out)
    pairs: list[tuple[Any, Any]] = [*zip(old.per_query.values(), new.per_query.values(), strict=True)]
    pairs += [*zip(old.left_out.values(), new.left_out.values(), strict=True)]
    names = ("query_ids", "tie_counts", "empty_ids", "confidence", "not_in_run")
    pairs += [(getattr(old, name), getattr(new, name)) for name in names]
    pairs += [(old.query_digests(), new.query_digests())]
    if old.categories is None or new.categories is None:
        assert new.categories is old.categories
    else:
        pairs += [
            (getattr(old.categories, name), getattr(new.categories, name))
            for name in ("names", "of_query", "of_empty", "counted")
        ]
    assert all(same_arrays(one, other) for one, other in pairs)
    assert again.to_json() == result.to_json()
    assert str(again) == str(result)


@pytest.mark.parametrize("kind", RESULTS)
def test_every_bit_comes_back(kind: str, tmp_path: Path) -> None:
    result = RESULTS[kind]()
    result.save(tmp_path / "run.tieproof")
    again = tp.load(str(tmp_path / "run.tieproof"))
    check_same(result, again)
    again.save(tmp_path / "again.tieproof")
    assert (tmp_path / "again.tieproof").read_bytes() == (tmp_path / "run.tieproof").read_bytes()


def test_the_same_bytes_for_the_same_data_under_its_own_numbers(tmp_path: Path) -> None:
    written = []
    for order in (np.arange(24), np.arange(24)[::-1], np.random.default_rng(3).permutation(24)):
        evaluator = tp.Evaluator()
        for part in np.array_split(order, 5):
            evaluator.update(EMBEDDINGS[part], LABELS[part], indices=part + 1000)
        evaluator.compute().save(tmp_path / "run.tieproof")
        written.append((tmp_path / "run.tieproof").read_bytes())
    assert len(set(written)) == 1


def test_the_same_bytes_for_a_run_in_any_order(tmp_path: Path) -> None:
    qrels = {f"q{q}": {f"d{d}": d % 3 for d in range(q, 9)} for q in range(5)}
    run = {f"q{q}": {f"d{d}": d / 4 for d in range(8)} for q in range(6)}

    def turned(values: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {name: dict(reversed(inner.items())) for name, inner in reversed(values.items())}

    tp.evaluate_run(qrels, run).save(tmp_path / "one.tieproof")
    tp.evaluate_run(turned(qrels), turned(run)).save(tmp_path / "other.tieproof")
    assert (tmp_path / "one.tieproof").read_bytes() == (tmp_path / "other.tieproof").read_bytes()


def test_others_can_read_it(tmp_path: Path) -> None:
    """NumPy, and any tool that unpacks archives, can read a record."""
    result = RESULTS["labels"]()
    result.save(tmp_path / "run.tieproof")
    with zipfile.ZipFile(tmp_path / "run.tieproof") as archive:
        facts = json.loads(archive.read("record.json"))
        values = np.load(archive.open("values.npy"))
    assert facts["measures"]["AP"]["lower"] == result["AP"].lower
    assert values[0, 0].tolist() == result.per_query("AP").lower.tolist()


def test_a_record_of_version_3_is_read() -> None:
    """Written when version 3 was the newest. Its means are by enumeration: a tie of two, one of them relevant."""
    again = tp.load(SAMPLES / "version-3.tieproof")
    assert again["RR"] == tp.Estimate(0.75, 0.875, 1.0, 0.125)
    assert again.query_ids.tolist() == ["q1", "q2"]
    assert again.not_in_run.tolist() == []
    assert again.fingerprint == tp.evaluate_run(*SAMPLE).fingerprint
    assert tp.verify(again, *SAMPLE).agrees
    assert tp.compare({"old": again, "new": tp.evaluate_run(*SAMPLE, measures=["RR"])}).systems == ("old", "new")


SAMPLE = ({"q1": {"d1": 1}, "q2": {"d3": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}, "q2": {"d3": 2.0}})


def refused(path: Path, says: str) -> None:
    with pytest.raises(tp.InputError, match=says):
        tp.load(path)


def test_every_cut_is_refused(tmp_path: Path) -> None:
    content = record(tmp_path / "run.tieproof").read_bytes()
    for end in [*range(0, len(content), 211), len(content) - 1]:
        (tmp_path / "run.tieproof").write_bytes(content[:end])
        refused(tmp_path / "run.tieproof", "damaged or cut short")


@pytest.mark.long
def test_every_flipped_byte_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    """The archive contains some facts twice; if a record with a flipped byte can be read, it equals the original."""
    path = record(tmp_path / "run.tieproof")
    content, result = path.read_bytes(), tp.load(path)
    read = 0
    for place in range(0, len(content), 13):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            again = tp.load(path)
        except tp.InputError:
            continue
        check_same(result, again)
        read += 1
    assert read < len(content) / 13 / 4


def test_a_file_of_another_name_is_not_called_damaged(tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", LABELS)
    refused(tmp_path / "labels.npy", r"labels\.npy is not a record; pass a file that Result\.save wrote\.")


@pytest.mark.parametrize("kind", ["foreign bytes", "an archive of arrays", "a picture", "nothing", "text"])
def test_other_files_are_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "run.tieproof"
    contents = {"foreign bytes": b"\x01" * 99, "a picture": b"\x89PNG\r\n\x1a\n", "nothing": b"", "text": b"AP 0.5\n"}
    if kind in contents:
        path.write_bytes(contents[kind])
    else:
        with path.open("wb") as file:
            np.savez(file, values=np.zeros(3))
    refused(path, "cannot be read as a record|is a zip archive, but not a record")


def test_absent_files_and_folders_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none.tieproof", "does not exist or is not a file")
    refused(tmp_path, "does not exist or is not a file")
    with pytest.raises(tp.InputError, match="from the path of a file, not from int"):
        tp.load(3)


def test_a_packed_archive_is_refused(tmp_path: Path) -> None:
    """The contents of a file that is not compressed can't be larger than the file."""
    parts = parts_of(record(tmp_path / "run.tieproof"))
    parts["values.npy"] = as_npy(np.zeros((2, 4, 500_000)))
    path = packed(tmp_path / "run.tieproof", parts, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    refused(path, "its members are compressed, have the same name, or are larger than the file")
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_a_claim_of_much_data_is_refused_in_little_memory(tmp_path: Path) -> None:
    parts = parts_of(record(tmp_path / "run.tieproof"))
    header = parts["query_ids.npy"]
    parts["query_ids.npy"] = header.replace(b"(23,), ", b"(2300000000,), ").replace(b"        \n", b"\n")
    path = packed(tmp_path / "run.tieproof", parts)
    tracemalloc.start()
    refused(path, "query_ids is cut short|damaged")
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_parts_named_twice_or_elsewhere_are_refused(tmp_path: Path) -> None:
    parts = parts_of(record(tmp_path / "run.tieproof"))
    path = tmp_path / "other.tieproof"
    with pytest.warns(UserWarning, match="Duplicate name"):
        packed(path, [*parts.items(), ("values.npy", parts["values.npy"])])
    refused(path, "have the same name")
    for name in ("../values.npy", "/etc/passwd", "more.npy", "left_out_0.npy", "relevant.npy"):
        refused(packed(path, parts | {name: b"x"}), "its members have unexpected names")
    for name in ("values.npy", "query_ids.npy", "query_digests.npy"):
        left = {part: content for part, content in parts.items() if part != name}
        refused(packed(path, left), "its members have unexpected names")


def test_parts_that_overlap_are_refused(tmp_path: Path) -> None:
    """Many entries of the directory that refer to the same part could claim far more than the file's size."""
    path = record(tmp_path / "run.tieproof")
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    place = content.rindex(b"values.npy") - 46
    content[place + 20 : place + 28] = struct.pack("<II", 2**30, 2**30)
    path.write_bytes(content)
    assert sizes["values.npy"] < 2**30
    refused(path, "larger than the file")


def test_pickles_are_refused(tmp_path: Path) -> None:
    parts = parts_of(record(tmp_path / "run.tieproof"))
    parts["query_ids.npy"] = as_npy(np.array([print, 2], dtype=object), allow_pickle=True)
    refused(packed(tmp_path / "run.tieproof", parts), "contains Python objects, which are never unpickled")


def test_a_newer_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = with_facts(tmp_path, version=4, call="something new")
    refused(path, r"version 4 of the format.* reads only version 3\. Install a newer tieproof: pip install")


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_version_is_refused_with_what_to_do(version: int, tmp_path: Path) -> None:
    """No release wrote them, and they do not tell whose scores they have."""
    refused(
        with_facts(tmp_path, version=version),
        rf"version {version} of the format.* reads only version 3\. Evaluate the data again and save the result\.$",
    )


@pytest.mark.parametrize("facts", ["[]", '"record"', "{}", '{"format": "tieproof record", "version": "1"}'])
def test_facts_of_another_kind_are_refused(facts: str, tmp_path: Path) -> None:
    parts = parts_of(record(tmp_path / "run.tieproof")) | {"record.json": facts.encode()}
    refused(packed(tmp_path / "run.tieproof", parts), "not a record of tieproof")


@pytest.mark.parametrize("facts", ["[" * 100_000, '{"format": 1, "format": 2}', "{", '{"version": NaN}', "\xff"])
def test_facts_that_are_no_json_are_refused(facts: str, tmp_path: Path) -> None:
    parts = parts_of(record(tmp_path / "run.tieproof")) | {"record.json": facts.encode("latin-1")}
    refused(packed(tmp_path / "run.tieproof", parts), "damaged or cut short")


SETTING = asdict(RESULTS["labels"]().setting)

CHANGED_FACTS: dict[str, dict[str, Any]] = {
    "means": {"measures": {"AP": {"lower": 1.0, "expected": 1.0, "upper": 1.0, "std": 0.0}}},
    "names of measures": {"measures": {"AP": {}, "map": {}}},
    "unknown measures": {"measures": {"AP": {}, "magic": {}}},
    "call": {"call": "audit"},
    "options of another call": {"options": {"missing": "zero"}},
    "options of other types": {"options": {"bits": "8"}},
    "no setting": {"setting": {}},
    "setting of other types": {"setting": dict.fromkeys(["distance", "leave_one_out"], 1)},
    "fingerprint": {"fingerprint": "short"},
    "letters in the fingerprint": {"fingerprint": "<script>" * 8},
    "vectors of zeros": {"zero_vectors": "0"},
    "fewer vectors of zeros than none": {"zero_vectors": -1},
    "an unknown policy": {"setting": SETTING | {"empty": "maybe"}},
    "fewer queries than none": {"setting": SETTING | {"queries": -1}},
    "left out": {"left_out": 3},
    "version of tieproof": {"tieproof": None},
}


@pytest.mark.parametrize("kind", CHANGED_FACTS)
def test_facts_that_do_not_fit_are_refused(kind: str, tmp_path: Path) -> None:
    refused(with_facts(tmp_path, **CHANGED_FACTS[kind]), "is inconsistent|damaged or cut short|Unknown|unknown")


def with_value(place: tuple[int, ...], value: Any) -> Any:
    def change(array: Any) -> Any:
        found = array.copy()
        found[place] = value
        return found

    return change


CHANGED_PARTS: dict[str, tuple[str, Any]] = {
    "one value": ("values", with_value((0, 0, 3), 0.015625)),
    "a value that is infinite": ("values", with_value((0, 2, 3), np.inf)),
    "a value that is none": ("values", with_value((0, 2, 3), np.nan)),
    "a variance below 0": ("values", with_value((0, 3, 3), -1.0)),
    "fewer queries": ("values", lambda array: array[:, :, 1:]),
    "another shape": ("values", lambda array: array.reshape(-1)),
    "another type": ("values", lambda array: array.astype(np.float32)),
    "counts below 0": ("tie_counts", with_value((0, 0), -1)),
    "counts of fewer queries": ("tie_counts", lambda array: array[:, 1:]),
    "no queries": ("query_ids", lambda array: array[:0]),
    "ids in two dimensions": ("query_ids", lambda array: array[:, None]),
    "ids that are floats": ("query_ids", lambda array: array.astype(float)),
    "ids that are no letters": ("query_ids", lambda array: np.full(len(array), 2**31, np.uint32).view("<U1")),
    "confidences of fewer queries": ("confidence", lambda array: array[1:]),
    "categories in disorder": ("category_names", lambda array: array[::-1]),
    "a category beyond the last": ("category_of_query", with_value((0,), 99)),
    "a category below the first": ("category_of_empty", with_value((0,), -1)),
}


@pytest.mark.parametrize("kind", CHANGED_PARTS)
def test_parts_that_do_not_fit_are_refused(kind: str, tmp_path: Path) -> None:
    refused(
        with_part(tmp_path, *CHANGED_PARTS[kind]),
        "is inconsistent|cut short|contains|contain bytes|has dtype|bytes after",
    )


def test_numbers_of_another_byte_order_are_read(tmp_path: Path) -> None:
    result = tp.load(record(tmp_path / "run.tieproof"))
    parts = parts_of(tmp_path / "run.tieproof")
    turned = {
        name: as_npy(array.astype(array.dtype.newbyteorder(">")))
        for name, array in ((name, from_npy(content)) for name, content in parts.items() if name.endswith(".npy"))
    }
    check_same(result, tp.load(packed(tmp_path / "run.tieproof", parts | turned)))


def test_results_that_cannot_be_saved_are_refused(tmp_path: Path) -> None:
    result = RESULTS["strings"]()
    with pytest.raises(tp.InputError, match=r"name of a record must end in \.tieproof"):
        result.save(tmp_path / "run.npz")
    with pytest.raises(tp.InputError, match="must be the path of a file, as text or Path, not NoneType"):
        result.save(None)
    with pytest.raises(tp.InputError, match="there is no folder"):
        result.save(tmp_path / "none" / "run.tieproof")
    with pytest.raises(tp.InputError, match="The result of one category has no record of its own"):
        result.category(result.categories[0]).save(tmp_path / "run.tieproof")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "names", [list("abc"), np.array([*"abc"], dtype=object), np.arange(3, dtype=np.int8), (b"a", b"b", b"c")]
)
def test_queries_of_any_names_come_back(names: Any, tmp_path: Path) -> None:
    result = tp.evaluate([[1.0], [2.0], [4.0]], [0, 0, 1], distance="euclidean", measures=["AP"], empty="nan")
    result.named(names).save(tmp_path / "run.tieproof")
    assert tp.load(tmp_path / "run.tieproof").query_ids.tolist() == list(names)


def test_values_are_nan_only_for_queries_without_relevant_items(tmp_path: Path) -> None:
    result = tp.evaluate(EMBEDDINGS, [*LABELS[:-1], 99], empty="nan", measures=["AP", "RR"])
    result.save(tmp_path / "run.tieproof")
    parts = parts_of(tmp_path / "run.tieproof")
    facts, values = json.loads(parts["record.json"]), from_npy(parts["values.npy"])
    values[:, :, 3] = np.nan
    for name, (lower, expected, upper, variance) in zip(facts["measures"], values, strict=True):
        counted = ~np.isnan(lower)
        means = [math.fsum(row[counted].tolist()) / counted.sum() for row in (lower, expected, upper)]
        std = math.sqrt(math.fsum(variance[counted].tolist())) / counted.sum()
        facts["measures"][name] = dict(zip(("lower", "expected", "upper", "std"), [*means, std], strict=True))
    forged = parts | {"record.json": json.dumps(facts).encode(), "values.npy": as_npy(values)}
    refused(packed(tmp_path / "run.tieproof", forged), "is inconsistent")
