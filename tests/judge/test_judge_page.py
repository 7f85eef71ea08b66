"""docs/judge.md is followed from start to end: its competition, its program, its commands and its lines of Python."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from competitions import LABELS, SEED, WORDS
from tieproof.cli import main
from tieproof.trials.judge.answers import REFUSALS
from tieproof.trials.judge.batches import FIELDS

PAGE = Path(__file__).parents[2] / "docs" / "judge.md"

pytestmark = pytest.mark.skipif(
    not PAGE.exists() or not hasattr(os, "fork"), reason="no documents beside the tests, or no processes as Unix has"
)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (competition,) = blocks("toml")
    for name, text in (
        ("competition.toml", competition),
        ("system.py", blocks("python")[0]),
        ("seed.txt", SEED),
        ("items.txt", "".join(f"{word}\n" for word in WORDS)),
        ("labels.txt", "".join(f"{label}\n" for label in LABELS)),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str) -> int:
    arguments = [sys.executable if word == "python3" else word for word in shlex.split(line)[1:]]
    with pytest.raises(SystemExit) as done:
        main([word.replace("python3", sys.executable) for word in arguments])
    return int(done.value.code or 0)


def test_the_page_is_followed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [line for block in blocks("text") for line in block.splitlines() if line.startswith("tieproof ")]
    assert [line.split()[1] for line in commands] == ["judge", "leaderboard", "verify", "leaderboard"]
    for line in commands:
        assert run(line) == 0, capsys.readouterr()
    assert "Every bit agrees." in capsys.readouterr().out
    for code in blocks("python")[1:]:
        exec(code.replace("python3", sys.executable), {})
    assert (folder / "board.html").exists()


def test_the_page_names_all_there_is() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in FIELDS if f"| `{{{name}}}` |" not in text] == []
    assert [name for name in REFUSALS if f"| {name} |" not in text] == []
