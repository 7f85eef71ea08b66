"""The guide "Run a competition", followed literally from start to end in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "competitions.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", flags=re.DOTALL)


@pytest.mark.heavy  # all attacks, each of which is a process
@pytest.mark.skipif(not GUIDE.exists(), reason="no docs beside the tests")
def test_the_guide_from_start_to_end(tmp_path: Path) -> None:
    blocks = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    said = {code: follow(kind, code, tmp_path) for kind, code in blocks if not code.startswith("pip install")}
    assert {kind for kind, _ in blocks} == {"sh", "python", "toml"}
    (checked,) = [text for code, text in said.items() if "competition check" in code]
    assert "attacks gained nothing" in checked
    assert all(
        re.search(f"^{name} ", checked, re.MULTILINE) for name in ("zeros", "missing ids", "pickle", "giant file")
    )
    (sample,) = [text for code, text in said.items() if "score.py" in code]
    assert "ambiguous" in sample
    assert (tmp_path / "baseline.tieproof").is_file()


def follow(kind: str, code: str, folder: Path) -> str:
    """Follow a block, and return its output."""
    if kind == "toml":
        (folder / "competition.toml").write_text(code)
        return ""
    commands = {
        "python": [sys.executable, "-W", "error", "-c", code],
        "sh": ["sh", "-ec", f'tieproof() {{ "{sys.executable}" -m tieproof "$@"; }}\n{code}'],
    }
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(commands[kind], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
