"""The file of a competition: its page names all keys, and platforms and judge score the same answers alike."""

import json
import os
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bundles import write_table
from competitions import HONEST, LABELS, SEED, WORDS, program
from tieproof.trials.competition import Competition, new
from tieproof.trials.competition.settings import TABLES
from tieproof.trials.judge import judge

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "competitions.md"

documented = pytest.mark.skipif(not PAGE.exists(), reason="no documents beside the tests")


def section(table: str) -> str:
    """The section of the page on the keys of a table."""
    parts = re.split(r"^### `\[+(\w+)\]+`$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))[table]


@documented
@pytest.mark.parametrize("table", TABLES)
def test_the_page_names_all_keys_and_their_defaults(table: str) -> None:
    text = section(table)
    sections = {"phases", "platform", "judge"} if not table else set()
    assert [name for name in TABLES[table] if name not in sections and f"`{name}`" not in text] == []
    numbers = [key.default for key in TABLES[table].values() if type(key.default) is int and key.default < 10**6]
    assert [number for number in numbers if f"`{number}`" not in text] == []


@documented
def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r'write_text\("""\\\n(.*?)"""\)', PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "competition.toml").write_text(example)
    found = Competition.read(tmp_path / "competition.toml")
    assert found.measures == ("AP", "P@1", "AP@R")
    assert found.phases[0].labels == tmp_path / "labels.csv"
    assert found.platform.submissions == 20


def test_no_table_has_a_key_of_another_one() -> None:
    """Except for the time limits of scoring and of a batch."""
    platform, judging = set(TABLES["platform"]), set(TABLES["judge"])
    assert platform & judging == {"seconds"}
    assert not (platform | judging) & set(TABLES[""])


BOTH = """
title = "Words"
measures = ["AP"]
distance = "euclidean"
[[phases]]
name = "Final"
start = 2027-01-10
end = 2027-02-10
items = "items.csv"
labels = "labels.csv"
[platform]
image = "docker.io/jane/scoring:1"
[judge]
seed = "seed.txt"
batch = 100
repeats = 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as Unix has them")
def test_platform_and_judge_score_the_same_answers_alike(tmp_path: Path) -> None:
    organizer = tmp_path / "organizer"
    organizer.mkdir()
    ids = [f"{at * 7919 % 1000:03}" for at in range(len(WORDS))]
    write_table(organizer / "items.csv", [("id", "word"), *zip(ids, WORDS, strict=True)])
    write_table(organizer / "labels.csv", [("id", "label"), *zip(ids, LABELS, strict=True)])
    (organizer / "seed.txt").write_text(SEED)
    (organizer / "competition.toml").write_text(BOTH)
    found = Competition.read(organizer / "competition.toml")
    judgment = judge(found, program(tmp_path / "team", HONEST), name="ours", out=tmp_path / "judged")
    bundle = new(found, tmp_path / "bundle")
    for name in ("res", "out"):
        (tmp_path / "room" / name).mkdir(parents=True)
    (bundle / "reference_data_final").rename(tmp_path / "room" / "ref")
    answers = np.load(tmp_path / "judged" / "ours.run-1.npy")
    np.savez(tmp_path / "room" / "res" / "embeddings.npz", ids=ids, embeddings=answers)
    scoring: dict[str, Any] = runpy.run_path(str(bundle / "scoring_program" / "score.py"))
    room = tmp_path / "room"
    assert scoring["on_codabench"](scoring["SCORING"], "x", str(room), str(room / "out")) == 0
    numbers = json.loads((room / "out" / "scores.json").read_text())
    assert numbers["ap_lower"] == round(judgment["AP"].lower, 4)
    assert numbers["ap_upper"] == round(judgment["AP"].ties.upper, 4)
