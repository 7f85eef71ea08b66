"""The guide for organizers of competitions, followed literally from start to end in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages import run_page, text_of

GUIDE = "docs/guides/competitions.md"


@pytest.mark.heavy  # all attacks, each of which is a process
def test_the_guide_from_start_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(GUIDE)["report"].held  # type: ignore[attr-defined]
    sample, checked = map(follow, re.findall(r"```sh\n(.*?)```", text_of(GUIDE), flags=re.DOTALL))
    assert "ambiguous" in sample
    assert "attacks gained nothing" in checked
    assert all(
        re.search(f"^{name} ", checked, re.MULTILINE) for name in ("zeros", "missing ids", "pickle", "giant file")
    )
    assert (tmp_path / "baseline.tieproof").is_file()


def follow(code: str) -> str:
    """Follow a block of commands, and return its output."""
    commands = ["sh", "-ec", f'tieproof() {{ "{sys.executable}" -m tieproof "$@"; }}\n{code}']
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(commands, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
