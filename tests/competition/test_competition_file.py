"""One file for a competition: its page names all keys, and platform and judge score the same answers alike by it."""

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
from tieproof.competition import Competition, new
from tieproof.competition.settings import TABLES
from tieproof.judge import judge

PAGE = Path(__file__).parents[2] / "docs" / "competition_file.md"

documented = pytest.mark.skipif(not PAGE.exists(), reason="no documents beside the tests")


def rows_of(section: str) -> dict[str, str]:
    """The keys in the tables of a section of the page, and what stands there as their default."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = (rf"^## `\[+{section}\]+`$", r"^## ") if section else ("", r"^## ")
    after = re.split(start, text, maxsplit=1, flags=re.MULTILINE)[1] if section else text
    lines = re.split(end, after, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    cells = [line.strip("|").split(" | ") for line in lines if line.startswith("| `")]
    return {cell[0].strip(" `[]"): cell[2].strip() for cell in cells} | {
        name: cell[2].split(", ")[at].strip()
        for cell in cells
        for at, name in enumerate(re.findall(r"`(\w+)`", cell[0]))
        if cell[2].count(", ") == cell[0].count("`, `") > 0
    }


@documented
@pytest.mark.parametrize("table", TABLES)
def test_the_page_names_all_keys_and_their_defaults(table: str) -> None:
    text = " ".join(rows_of(table))
    for name in TABLES[table]:
        assert re.search(rf"\b{name}\b", text) or (table == "" and name in ("platform", "judge")), name
    for name, key in TABLES[table].items():
        if isinstance(key.default, int) and not isinstance(key.default, bool) and key.default < 2**20:
            assert rows_of(table)[name] == f"`{key.default}`"


@documented
def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "competition.toml").write_text(example)
    found = Competition.read(tmp_path / "competition.toml")
    assert found.measures == ("AP", "P@1", "AP@R")
    assert found.phases[0].labels == tmp_path / "labels.csv"
    assert found.judge.seed == tmp_path / "seed.txt"


def test_no_table_has_a_key_of_another_one() -> None:
    """But for the time that scoring, or a batch, may take."""
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
    organiser = tmp_path / "organiser"
    organiser.mkdir()
    ids = [f"{at * 7919 % 1000:03}" for at in range(len(WORDS))]
    write_table(organiser / "items.csv", [("id", "word"), *zip(ids, WORDS, strict=True)])
    write_table(organiser / "labels.csv", [("id", "label"), *zip(ids, LABELS, strict=True)])
    (organiser / "seed.txt").write_text(SEED)
    (organiser / "competition.toml").write_text(BOTH)
    found = Competition.read(organiser / "competition.toml")
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
    assert numbers["ap_lower"] == judgment["AP"].lower
    assert numbers["ap_upper"] == judgment["AP"].ties.upper
