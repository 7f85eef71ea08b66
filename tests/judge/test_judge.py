"""A judge's score equals that of the same embeddings evaluated directly; refused items have the worst places."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status
from competitions import EMBEDDINGS, HEAD, HONEST, LABELS, PRINT, VECTOR, WORDS, edit_distance, organize, program
from tieproof.trials.judge import Competition, Judgment, judge
from tieproof.trials.judge.batches import Dealer
from tieproof.trials.judge.items import contest_of, read_sequestered
from tieproof.trials.judge.judging import dealt

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them")


def judged(folder: Path, code: str, arguments: str = "{lines}", **entries: Any) -> Judgment:
    competition = organize(folder / "organizer", **entries)
    return judge(competition, program(folder / "team", code, arguments), name="ours", out=folder / "judged")


def log_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "judged" / "ours.judgment.json").read_text())
    return found


def check_same(result: tp.Result, expected: tp.Result) -> None:
    assert result.fingerprint == expected.fingerprint
    for measure in expected:
        assert result[measure] == expected[measure]
        assert result.per_query(measure).lower.tolist() == expected.per_query(measure).lower.tolist()


AT_ONCE: dict[str, Any] = {"judge_batch": 12, "judge_repeats": 0}
"""A process answers for all items, instead of five processes for three batches and two of items asked again."""

EXPECTED = tp.evaluate(EMBEDDINGS, LABELS, distance="euclidean", measures=["AP", "P@1"])

AS_ARRAY = (
    HEAD
    + VECTOR
    + """
import struct
rows = [vector(open(os.path.join(items, name)).read()) for name in names]
header = repr({"descr": "<i8", "fortran_order": False, "shape": (len(rows), 4)}).ljust(117) + "\\n"
body = b"".join(struct.pack("<4q", *row) for row in rows)
open(answers, "wb").write(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(header)) + header.encode() + body)
"""
)
"""A system that writes an array without NumPy, in the order of the names."""


@pytest.mark.trials
@pytest.mark.parametrize(("code", "arguments"), [(HONEST, "{lines}"), (AS_ARRAY, "{items} {answers}")])
def test_the_score_is_that_of_the_embeddings(tmp_path: Path, code: str, arguments: str) -> None:
    judgment = judged(tmp_path, code, arguments)
    (result,) = judgment.results
    check_same(result, EXPECTED)
    assert judgment["AP"].lower == EXPECTED["AP"].lower
    assert judgment["AP"].ties == EXPECTED["AP"]
    assert judgment["AP"].queries == EXPECTED.interval("AP")
    assert judgment.refused == ({},)
    assert (judgment.repeats[0].asked, judgment.repeats[0].differ) == (3, 0)
    assert judgment.questions == len(WORDS)


def test_a_participant_can_verify_the_record(tmp_path: Path) -> None:
    judged(tmp_path, HONEST)
    record, answers = (tmp_path / "judged" / f"ours.run-1.{ending}" for ending in ("tieproof", "npy"))
    assert tp.verify(str(record), np.load(answers), LABELS).agrees
    assert not tp.verify(str(record), np.load(answers) + np.arange(12)[:, None], LABELS).agrees
    assert np.load(answers).tolist() == EMBEDDINGS.tolist()


@pytest.mark.trials
def test_a_function_is_called_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "letters.py").write_text(
        VECTOR
        + "import os\ndef embed(words):\n    print('said aloud')\n    return [vector(word) for word in words]\n"
    )
    monkeypatch.chdir(folder)
    judgment = judge(
        organize(tmp_path / "organizer", **AT_ONCE), "letters:embed", name="ours", out=tmp_path / "judged"
    )
    check_same(judgment.results[0], EXPECTED)


REFUSED = {
    "nan": ("print(name, 'nan', 0, 0, 0, sep=',')", "not finite"),
    "infinite": ("print(name, '1e999', 0, 0, 0, sep=',')", "not finite"),
    "words": ("print(name, 'one', 0, 0, 0, sep=',')", "no numbers"),
    "short": ("print(name, 1, sep=',')", "wrong shape"),
    "empty": ("print(name)", "wrong shape"),
    "missing": ("pass", "missing"),
    "twice": ("print(f'{name},1,0,0,0\\n{name},2,0,0,0')", "duplicate"),
}


def with_absent(distances: Any, absent: Any, rule: str = "worst") -> Any:
    """The definition: absent items have the largest distance from every query, or the smallest if not relevant."""
    labels = np.array(LABELS)
    last = (labels[:, None] == labels) | (rule == "last")
    found = np.where(absent, np.where(last, distances.max() + 1, -1), distances)
    np.fill_diagonal(found, 0)
    return found


@pytest.mark.trials
@pytest.mark.parametrize(("kind", "rule"), [*((kind, "worst") for kind in REFUSED), ("missing", "last")])
def test_refused_answers_have_the_worst_places(tmp_path: Path, kind: str, rule: str) -> None:
    refused, reason = REFUSED[kind]
    code = f"{PRINT}{VECTOR}for name, word in lines:\n    if word.startswith('k'): {refused}\n"
    code += "    else: print(name, *vector(word), sep=',')\n"
    batches = {} if kind == "missing" else AT_ONCE
    judgment = judged(tmp_path, code, judge_refused=rule, **batches)
    assert judgment.refused == ({reason: 1},)
    silent = WORDS.index("kitten")
    distances = ((EMBEDDINGS[:, None] - EMBEDDINGS[None]) ** 2).sum(axis=2)
    absent = np.zeros((12, 12), dtype=bool)
    absent[silent] = absent[:, silent] = True
    distances = with_absent(distances, absent, rule)
    expected = tp.evaluate_distances(distances, labels=LABELS, measures=["AP", "P@1"])
    check_same(judgment.results[0], expected)
    assert judgment["AP"].lower < EXPECTED["AP"].lower
    assert log_of(tmp_path)["runs"][0]["refused"] == {reason: [[silent]]}
    record, answers = (tmp_path / "judged" / f"ours.run-1.{ending}" for ending in ("tieproof", "npy"))
    assert tp.verify(str(record), np.load(answers), LABELS).agrees


@pytest.mark.trials
@pytest.mark.parametrize(
    ("code", "arguments", "reason"),
    [
        ("import sys; sys.exit('no license found')", "{lines}", "crashed"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "{lines}", "crashed"),
        ("while True: pass", "{lines}", "late"),
        ("while True: print('x' * 10000)", "{lines}", "too much output"),
        (f"{HEAD}open(answers, 'wb').write(b'\\x93NUMPY' + b'x' * 100)", "{items} {answers}", "crashed"),
        (f"{HEAD}os.symlink('/etc/passwd', answers)", "{items} {answers}", "crashed"),
        (f"{HEAD}os.mkfifo(answers)", "{items} {answers}", "crashed"),
        (f"{HEAD}os.mkdir(answers)", "{items} {answers}", "crashed"),
        ("pass", "{items} {answers}", "crashed"),
        ("x = [bytearray(2**20) for _ in range(10000)]", "{lines}", "crashed"),
    ],
)
def test_whatever_a_system_does_without_an_answer_it_scores_the_least(
    tmp_path: Path, code: str, arguments: str, reason: str
) -> None:
    seconds = 1 if reason == "late" else 120
    limits = {"judge_seconds": seconds, "judge_output": "1MB", "judge_memory": "512MiB", "judge_batch": 100}
    judgment = judged(tmp_path, code, arguments, judge_repeats=0, **limits)
    assert judgment.refused == ({reason: len(WORDS)},)
    nothing = with_absent(np.zeros((12, 12)), np.ones((12, 12), dtype=bool))
    assert judgment["AP"].ties == tp.evaluate_distances(nothing, labels=LABELS, measures=["AP"])["AP"]
    zeros = tp.evaluate(np.zeros((12, 2)), LABELS, distance="euclidean", measures=["AP"])
    assert judgment["AP"].lower == judgment["AP"].ties.upper == zeros["AP"].lower


def test_the_last_message_of_a_system_is_reported(tmp_path: Path) -> None:
    judgment = judged(tmp_path, "import sys; print(sys.argv[1], file=sys.stderr); sys.exit('no license found')")
    assert judgment.said.endswith("no license found")
    assert log_of(tmp_path)["said"] == judgment.said
    assert str(tmp_path) not in judgment.said
    assert "The system's message at its first failure:" in str(judgment)


def test_a_link_to_the_labels_is_no_answer(tmp_path: Path) -> None:
    """The judge does not follow a link for a system that may not read the labels itself."""
    labels = tmp_path / "organizer" / "labels.npy"
    labels.parent.mkdir()
    np.save(labels, np.arange(12)[:, None] % 3)
    code = f"{HEAD}os.symlink({str(labels)!r}, answers)"
    judgment = judged(tmp_path, code, "{items} {answers}", judge_batch=100, judge_repeats=0)
    assert judgment.refused == ({"crashed": 12},)


def test_codes_under_hamming_distance(tmp_path: Path) -> None:
    code = f"{PRINT}for name, word in lines: print(name, *(int(letter in word) for letter in 'cdgkopsty'), sep=',')"
    judgment = judged(tmp_path, code, distance="hamming", **AT_ONCE)
    codes = np.array([[letter in word for letter in "cdgkopsty"] for word in WORDS])
    check_same(judgment.results[0], tp.evaluate(codes, LABELS, distance="hamming", measures=["AP", "P@1"]))
    record, answers = (tmp_path / "judged" / f"ours.run-1.{ending}" for ending in ("tieproof", "npy"))
    assert tp.verify(str(record), np.load(answers), LABELS).agrees
    spoilt = judged(
        tmp_path / "b", code.replace("int(letter in word)", "word.count(letter)"), distance="hamming", **AT_ONCE
    )
    several = [any(word.count(letter) > 1 for letter in "cdgkopsty") for word in WORDS]
    assert spoilt.refused == ({"no bits": sum(several)},)
    assert 0 < sum(several) < 12


def test_by_the_rules_a_refusal_can_cost_the_rank(tmp_path: Path) -> None:
    assert judged(tmp_path, "pass", judge_refused="disqualified", **AT_ONCE).disqualified
    assert not judged(tmp_path / "b", "pass", **AT_ONCE).disqualified


def test_the_time_of_a_run_is_limited(tmp_path: Path) -> None:
    code = f"{HONEST}import time; time.sleep(0.7)"
    judgment = judged(tmp_path, code, judge_total_seconds=1.0, judge_batch=1, judge_repeats=0)
    assert judgment.refused[0]["late"] >= 10  # the first two answers, or less on a busy machine, come in time


def test_answers_for_unknown_names_are_counted_and_ignored(tmp_path: Path) -> None:
    judgment = judged(tmp_path, f"{HONEST}print('0123,1,2,3,4')", judge_batch=100, judge_repeats=0)
    check_same(judgment.results[0], EXPECTED)
    assert log_of(tmp_path)["runs"][0]["unknown_names"] == 1


CHANGING = {
    "order": "for at, (name, word) in enumerate(lines): print(name, at, len(word), sep=',')",
    "batch": "for name, word in lines: print(name, len(lines), len(word), sep=',')",
    "name": "for name, word in lines: print(name, int(name, 16), len(word), sep=',')",
}


@pytest.mark.trials
@pytest.mark.parametrize("kind", CHANGING)
def test_answers_that_depend_on_what_must_not_matter_are_reported(tmp_path: Path, kind: str) -> None:
    judgment = judged(tmp_path, PRINT + CHANGING[kind], judge_batch=6, judge_repeats=6)
    (repeats,) = judgment.repeats
    assert repeats.asked == 6
    assert repeats.differ >= 3
    assert repeats.largest > 0
    assert "The answers depend on the order, the batch, the names or chance" in " ".join(str(judgment).split())


@pytest.mark.trials
def test_a_random_system_is_run_several_times(tmp_path: Path) -> None:
    code = f"{PRINT}{VECTOR}import random\nfor name, word in lines: print(name, random.random(), sep=',')\n"
    judgment = judged(tmp_path, code, judge_runs=3)
    lowers = [result["AP"].lower for result in judgment.results]
    score = judgment["AP"]
    assert len(set(lowers)) == 3
    assert score.lower == pytest.approx(np.mean(lowers), rel=1e-12)
    assert (score.runs.smallest, score.runs.largest) == (min(lowers), max(lowers))
    assert score.runs.std == pytest.approx(np.std(lowers, ddof=1), rel=1e-12)
    assert score.queries is not None
    assert score.queries.low < score.lower < score.queries.high
    mean = np.mean([result.per_query("AP").lower for result in judgment.results], axis=0)
    assert score.queries.value == pytest.approx(mean.mean(), rel=1e-12)


@pytest.mark.trials
def test_folders_of_files_and_rows_of_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    organizer, team = tmp_path / "organizer", tmp_path / "team"
    team.mkdir()
    rows_code, sizes_code = "return items", "return [[item.stat().st_size] for item in items]"
    (team / "images.py").write_text(f"def rows(items): {rows_code}\ndef sizes(items): {sizes_code}\n")
    monkeypatch.chdir(team)
    (organizer / "images").mkdir(parents=True)
    sizes = [3, 3, 5, 8, 9, 1]
    for at, size in enumerate(sizes):
        (organizer / "images" / f"{at}.png").write_bytes(b"x" * size)
    order = [4, 0, 3, 5, 1, 2]
    (organizer / "labels.csv").write_text("id,label\n" + "".join(f"{at},{at // 2}\n" for at in order))
    competition = organize(organizer, phases_items="images", phases_labels="labels.csv", **AT_ONCE)
    judgment = judge(competition, "images:sizes", name="sizes", out=tmp_path / "judged")
    labels = [at // 2 for at in order]
    expected = tp.evaluate(np.array(sizes)[order][:, None], labels, distance="euclidean", measures=["AP", "P@1"])
    check_same(judgment.results[0], expected)
    rows = np.random.default_rng(0).normal(size=(12, 2, 2)).astype(np.float32)
    np.save(organizer / "rows.npy", rows)
    competition = organize(organizer, phases_items="rows.npy", **AT_ONCE)
    judgment = judge(competition, "images:rows", name="rows", out=tmp_path / "judged")
    flat = tp.evaluate(rows.reshape(12, 4).astype(float), LABELS, distance="euclidean", measures=["AP", "P@1"])
    check_same(judgment.results[0], flat)


@pytest.mark.trials
def test_a_gallery(tmp_path: Path) -> None:
    """Queries and gallery are mixed; the system cannot tell which items are which."""
    organizer = tmp_path / "organizer"
    organizer.mkdir()
    for name, part in (("queries", slice(0, 4)), ("gallery", slice(4, 12))):
        (organizer / f"{name}.txt").write_text("".join(f"{word}\n" for word in WORDS[part]))
        (organizer / f"{name}-labels.txt").write_text("".join(f"{label}\n" for label in LABELS[part]))
    files = {
        "phases_items": str(organizer / "queries.txt"),
        "phases_labels": str(organizer / "queries-labels.txt"),
        "phases_gallery": str(organizer / "gallery.txt"),
        "phases_gallery_labels": str(organizer / "gallery-labels.txt"),
    }
    judgment = judged(tmp_path, HONEST, **files)
    expected = tp.evaluate(
        EMBEDDINGS[:4],
        LABELS[:4],
        gallery=EMBEDDINGS[4:],
        gallery_labels=LABELS[4:],
        distance="euclidean",
        measures=["AP", "P@1"],
    )
    check_same(judgment.results[0], expected)
    pairs = f"{PRINT}words = dict(lines)\nfor line in open(sys.argv[2]):\n    a, b = line.strip().split(',')\n"
    pairs += "    print(a, b, abs(len(words[a]) - len(words[b])), sep=',')\n"
    judgment = judged(tmp_path / "b", pairs, "{lines} {pairs}", task="distances", distance=None, **files)
    lengths = np.array([len(word) for word in WORDS])
    matrix = abs(lengths[:4, None] - lengths[None, 4:])
    expected = tp.evaluate_distances(matrix, labels=LABELS[:4], gallery_labels=LABELS[4:], measures=["AP", "P@1"])
    check_same(judgment.results[0], expected)


@pytest.mark.trials
def test_tables_with_ids_and_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items and labels in different orders, with two cameras, and one item without an answer."""
    organizer, team = tmp_path / "organizer", tmp_path / "team"
    for folder in (organizer, team):
        folder.mkdir()
    order, cameras = [7, 3, 11, 0, 5, 9, 1, 10, 2, 8, 4, 6], ["a", "b"] * 6
    (organizer / "items.csv").write_text("id,word\n" + "".join(f"i{at},{WORDS[at]}\n" for at in sorted(order)))
    rows = "".join(f"i{at},{LABELS[at]},{cameras[at]}\n" for at in order)
    (organizer / "labels.csv").write_text(f"id,label,group\n{rows}")
    files = {"phases_items": "items.csv", "phases_labels": "labels.csv"}
    embeddings = EMBEDDINGS[order].copy()
    labels, groups = ([values[at] for at in order] for values in (LABELS, cameras))
    for name, code in (
        ("all", HONEST),
        ("some", HONEST.replace("in lines: print", "in lines:\n if word != 'dog': print")),
    ):
        if name == "some":
            embeddings[order.index(WORDS.index("dog"))] = np.nan
        judgment = judge(organize(organizer, **files), program(team, code), name=name, out=tmp_path / "judged")
        distances = ((embeddings[:, None] - embeddings[None]) ** 2).sum(axis=2)
        relevance = (np.array(labels)[:, None] == np.array(labels)).astype(int)
        absent = np.where(relevance, np.nanmax(distances) + 1, -1)
        distances = np.where(np.isnan(distances), absent, distances)
        np.fill_diagonal(distances, 0)
        relevance[(relevance == 1) & (np.array(groups)[:, None] == np.array(groups))] = -1
        expected = tp.evaluate_distances(distances, relevance, measures=["AP", "P@1"])
        for measure in expected:
            assert judgment.results[0].per_query(measure).lower.tolist() == expected.per_query(measure).lower.tolist()
        record, answers = (tmp_path / "judged" / f"{name}.run-1.{ending}" for ending in ("tieproof", "npy"))
        table = organizer / "labels.csv"
        columns = [f"{table}:label", "--groups", f"{table}:group"]
        assert exit_status("verify", str(record), str(answers), *columns) == 0


@pytest.mark.trials
def test_rows_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    organizer, team = tmp_path / "organizer", tmp_path / "team"
    for folder in (organizer, team):
        folder.mkdir()
    (team / "tables.py").write_text("def rows(items): return items")
    monkeypatch.chdir(team)
    (organizer / "items.csv").write_text(
        "id,a,b\n" + "".join(f"i{at},{row[0]},{row[3]}\n" for at, row in enumerate(EMBEDDINGS))
    )
    rows = "".join(f"i{at},{LABELS[at]}\n" for at in range(12))
    (organizer / "labels.csv").write_text(f"id,label\n{rows}")
    competition = organize(organizer, phases_items="items.csv", phases_labels="labels.csv", **AT_ONCE)
    judgment = judge(competition, "tables:rows", name="rows", out=tmp_path / "judged")
    check_same(
        judgment.results[0], tp.evaluate(EMBEDDINGS[:, [0, 3]], LABELS, distance="euclidean", measures=["AP", "P@1"])
    )


EDITS = """
words = dict(lines)
def distance(a, b):
    row = list(range(len(b) + 1))
    for at, x in enumerate(a, 1):
        before, row[0] = row[0], at
        for place, y in enumerate(b, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (x != y))
    return row[-1]
for line in open(sys.argv[2]):
    a, b = line.strip().split(",")
    print(a, b, distance(words[a], words[b]), sep=",")
"""


@pytest.mark.trials
@pytest.mark.parametrize("symmetric", [False, True])
def test_systems_that_give_distances(tmp_path: Path, symmetric: bool) -> None:
    kind = {"distance": None, "task": "distances", "judge_symmetric": symmetric}
    judgment = judged(tmp_path, PRINT + EDITS, "{lines} {pairs}", judge_batch=20, **kind)
    matrix = np.array([[edit_distance(a, b) for b in WORDS] for a in WORDS], dtype=float)
    expected = tp.evaluate_distances(matrix, labels=LABELS, measures=["AP", "P@1"])
    check_same(judgment.results[0], expected)
    assert judgment.questions == 12 * 11 // (2 if symmetric else 1)
    assert judgment.repeats[0].differ == 0
    assert judgment.repeats[0].asked > 0
    answers = np.load(tmp_path / "judged" / "ours.run-1.npy")
    assert tp.verify(str(tmp_path / "judged" / "ours.run-1.tieproof"), answers, labels=LABELS).agrees


@pytest.mark.trials
def test_a_pair_without_an_answer_has_the_worst_place(tmp_path: Path) -> None:
    code = PRINT + EDITS.replace("    print(a", "    if words[a] != 'kitten' != words[b]: print(a")
    judgment = judged(tmp_path, code, "{lines} {pairs}", task="distances", distance=None, judge_batch=16)
    matrix = np.array([[edit_distance(a, b) for b in WORDS] for a in WORDS], dtype=float)
    silent = WORDS.index("kitten")
    absent = np.zeros((12, 12), dtype=bool)
    absent[silent] = absent[:, silent] = True
    matrix = with_absent(matrix, absent)
    check_same(judgment.results[0], tp.evaluate_distances(matrix, labels=LABELS, measures=["AP", "P@1"]))
    assert judgment.refused == ({"missing": 22},)


def test_names_and_order_are_drawn_from_the_seed(tmp_path: Path) -> None:
    held = contest_of(Competition.read(organize(tmp_path)), None)
    items = read_sequestered(held)

    def asked(seed: bytes, name: str, run: int) -> list[tuple[str, int]]:
        return [pair for batch in dealt(held, items, Dealer(seed, name, run)) for pair in batch.items.items()]

    one = asked(b"a seed", "ours", 1)
    assert asked(b"a seed", "ours", 1) == one
    assert sorted(item for _, item in one)[::-1] == sorted([*range(12), *repeated(one)])[::-1]
    others = [asked(b"a seed", "ours", 2), asked(b"a seed", "theirs", 1), asked(b"another", "ours", 1)]
    for other in others:
        assert [item for _, item in other] != [item for _, item in one]
        assert not {name for name, _ in other} & {name for name, _ in one}
    assert len({name for name, _ in one}) == 15
    assert [item for _, item in one[:12]] != list(range(12))


def repeated(pairs: list[tuple[str, int]]) -> list[int]:
    """The items that occur a second time."""
    items = [item for _, item in pairs]
    return [item for item in set(items) if items.count(item) == 2]
