"""Completion of commands, options and their values, asked for by real shells where they are installed."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import exit_status
from tieproof.cli.commands import COMMANDS, COMPLETE
from tieproof.distances import DISTANCES
from tieproof.measures import REGISTRY, parse

BASH = """
eval "$(_TIEPROOF_COMPLETE=bash_source tieproof)"
complete -p tieproof > /dev/null || exit 1
compopt() { COMPREPLY=(a file); }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tieproof_completion tieproof
printf '%s\\n' "${COMPREPLY[@]}"
"""

ZSH = """
compdef() { [[ $2 == tieproof ]] || exit 1 }
compadd() { print -l -- $completions }
_describe() { print -l -- ${completions_with_descriptions%%:*} }
_path_files() { print -l -- a file }
eval "$(_TIEPROOF_COMPLETE=zsh_source tieproof)"
words=("$@") CURRENT=$#
_tieproof_completion
"""

FISH = """
_TIEPROOF_COMPLETE=fish_source tieproof | source
complete -C "$argv"
"""

SHELLS = {
    "bash": ("bash", "-c", BASH, "bash"),
    "zsh": ("zsh", "-fc", ZSH, "zsh"),
    "fish": ("fish", "--no-config", "-c", FISH),
}


def completed(*words: str, shell: str = "bash") -> list[str]:
    """What a shell offers for the last of the words."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([*SHELLS[shell], *words], capture_output=True, text=True, env=os.environ | {"PATH": path})
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.long
@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_commands_options_values_and_files(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").touch()
    (tmp_path / "file").touch()
    assert completed("tieproof", "ne", shell=shell) == ["neighbors", "neighbor-recall"]
    assert completed("tieproof", "evaluate", "-d", "sq", shell=shell) == ["sqeuclidean"]
    assert completed("tieproof", "evaluate", "", shell=shell) == ["a", "file"]


def test_commands_are_completed_without_numpy() -> None:
    code = "import sys, atexit, tieproof.cli as c; atexit.register(lambda: print('numpy' in sys.modules)); c.main()"
    asked = {COMPLETE: "bash_complete", "COMP_WORDS": "tieproof", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked)
    assert done.stdout.split() == [*(f"plain,{name}" for name in COMMANDS), "False"]


def offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """What the program offers to bash for the last of the words."""
    monkeypatch.setenv("COMP_WORDS", shlex.join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv(COMPLETE, "bash_complete")
    assert exit_status() == 0
    return [line.partition(",")[2] for line in capsys.readouterr().out.split()]


def test_what_is_offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in {
        ("evaluat", "x"): [],
        ("--version", "mea"): ["measures"],
        ("evaluate", "--gallery-l"): ["--gallery-labels"],
        ("competition", "n"): ["new"],
        ("evaluate", "-d", ""): [*DISTANCES],
        ("truth", "-d", "co"): ["cosine"],
        ("truth", "-d", "max"): [],
        ("run", "-m", "AP,Suc"): ["AP,Success@10"],
        ("evaluate", "--empty", "z"): ["zero"],
        ("evaluate", "e.npy", "--cluster", ""): ["auto", "local"],
    }.items():
        assert offered(monkeypatch, capsys, "tieproof", *words) == expected
    for command in ("evaluate", "run", "audit", "measures"):
        option = ("-m",) if command != "measures" else ()
        measures = offered(monkeypatch, capsys, "tieproof", command, *option, "")
        assert {parse(name).name for name in measures} == {name for name in REGISTRY if "(" not in name}
