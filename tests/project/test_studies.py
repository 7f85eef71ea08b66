"""All studies have a command, a line in the table of studies and a report; and tests of the tools that they share."""

import doctest
import importlib
import sys
from pathlib import Path

import pytest

from studies import common

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

FOLDER = Path(common.__file__).parent
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/study.py"))
MODULES = sorted(".".join(path.relative_to(FOLDER.parent).with_suffix("").parts) for path in FOLDER.rglob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_help(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    study = importlib.import_module(f"studies.{name}.study")
    monkeypatch.setattr(sys, "argv", ["study.py", "--help"])
    with pytest.raises(SystemExit) as stopped:
        study.main()
    assert stopped.value.code == 0
    assert f"python studies/{name}/study.py" in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_study_is_listed_and_has_its_report(name: str) -> None:
    assert f"python studies/{name}/study.py" in (FOLDER / "README.md").read_text(encoding="utf-8")
    report = (FOLDER / name / "report.md").read_text(encoding="utf-8")
    for line in report.splitlines():
        if line.startswith("!["):
            assert (FOLDER / name / line.partition("](")[2].rstrip(")")).is_file()


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_options(tmp_path: Path) -> None:
    script, data = tmp_path / "study.py", tmp_path / "data.npz"
    data.touch()
    assert common.parse(str(script), "", arguments=[]) == (Path(), False, tmp_path)
    arguments = ["--data", str(data), "--quick", "--out", str(tmp_path.parent)]
    assert common.parse(str(script), "", "x.npz", arguments) == (data, True, tmp_path.parent)


def test_a_name_without_an_extension_is_that_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = str(tmp_path / "study.py")
    assert common.parse(script, "", "runs", ["--data", str(tmp_path)]).data == tmp_path
    with pytest.raises(SystemExit):
        common.parse(script, "", "runs", ["--data", __file__])
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "absent.npz"], r"no file absent.npz; studies/README.md says where x.npz comes from"),
        (["--data", __file__, "--out", "absent"], "no folder absent; create it first"),
        (["--data", __file__, "--quick"], "--quick would replace the full report; give --out FOLDER"),
    ],
)
def test_options_that_are_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        common.parse(str(tmp_path / "study.py"), "", "x.npz", arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_tables() -> None:
    assert common.table(("a", "b"), [("x", "1")]) == "| a | b |\n|---|--:|\n| x | 1 |\n"
    assert common.claims([("A", "B", "C")], "paper") == "| paper | measured | why |\n|---|---|---|\n| A | B | C |\n"


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common.write_report(common.Options(Path(), False, tmp_path), "# Ä\n")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == capsys.readouterr().out == "# Ä\n"
