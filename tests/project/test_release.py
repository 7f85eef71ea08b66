"""The files that are published with the package agree with pyproject.toml."""

import importlib.util
import json
import re
import runpy
import sys
import tarfile
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = WHOLE["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def parsed(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def script(name: str) -> ModuleType:
    """A file of `release/` as a module."""
    spec = importlib.util.spec_from_file_location(f"release_{name}", ROOT / "release" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_citation_is_of_this_version() -> None:
    cited = parsed("CITATION.cff")
    assert cited["version"] == PROJECT["version"]
    assert PROJECT["license"] == f"{cited['license']} AND CC-BY-4.0"  # the package also contains data
    assert cited["keywords"] == PROJECT["keywords"]
    date = cited["date-released"].isoformat() if "date-released" in cited else "unreleased"
    assert versions_of_the_changelog()[0][0] == f"{cited['version']}, {date}"


def versions_of_the_changelog() -> list[tuple[str, str]]:
    """Every heading with a version, and the text below it."""
    sections = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    return [(heading, text) for heading, _, text in (section.partition("\n") for section in sections)]


def test_every_version_in_the_changelog_has_a_date() -> None:
    newest, *released = (heading for heading, _ in versions_of_the_changelog())
    version = r"\d+\.\d+\.\d+(rc\d+)?, "
    assert all(re.fullmatch(rf"{version}\d{{4}}-\d{{2}}-\d{{2}}", heading) for heading in released)
    assert re.fullmatch(rf"{version}(\d{{4}}-\d{{2}}-\d{{2}}|unreleased)", newest)


def test_changed_numbers_need_a_major_version() -> None:
    """What docs/exactness.md promises: a version is a major one if a value changes."""
    versions = [(int(heading.partition(".")[0]), text) for heading, text in versions_of_the_changelog()]
    assert any("### Numbers that change" in text for _, text in versions)
    for (major, text), (before, _) in pairwise(versions):
        assert major > before or "### Numbers that change" not in text


def test_recipe_needs_what_the_project_needs() -> None:
    recipe = parsed("release/recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    needs = [need.replace(" ", "") for need in recipe["requirements"]["run"] if need != "python"]
    assert sorted(needs) == sorted(PROJECT["dependencies"])
    built_by = {need.replace(" ", "") for need in recipe["requirements"]["host"]}
    assert built_by == {"python", "pip", *WHOLE["build-system"]["requires"]}
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert recipe["build"]["skip"] == f'match(python, "<{oldest}")'
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert (recipe["about"]["license"], recipe["about"]["license_file"]) == (
        PROJECT["license"],
        PROJECT["license-files"],
    )


def test_workflow_has_the_versions_that_the_project_names() -> None:
    matrix = parsed(".github/workflows/tests.yml")["jobs"]["versions"]["strategy"]["matrix"]
    pythons = {*matrix["python"], *(job["python"] for job in matrix["include"])}
    assert matrix["python"][0] == PROJECT["requires-python"].removeprefix(">=")
    named = {line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r"Python :: 3\.", line)}
    assert named <= pythons
    assert matrix["resolution"] == list(script("versions").RESOLUTIONS)
    assert [name.split("-")[0] for name in matrix["system"]] == ["ubuntu", "ubuntu", "macos", "macos", "windows"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_pin_what_they_use_and_say_that_they_never_ran(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "This file has never run" in text
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) for action in used)


def test_rows_of_versions_show_what_failed() -> None:
    run = {
        "system": "Linux",
        "python": "3.13.0",
        "resolution": "highest",
        "versions": {"numpy": "2.4.0"},
        "tests": "tests",
    }
    row = runpy.run_path(str(ROOT / "release/write_versions.py"))["row"]
    for code, failed, shown in ((0, 0, "0"), (1, 2, "2"), (3, 0, "pytest ended with 3")):
        counts = {"passed": 7, "failed": failed, "skipped": 1}
        made = row(run | {"counts": counts, "exit": code, "date": "2026-11-22"})
        assert made == f"| Linux | 3.13.0 | newest | 2.4.0 | tests | 7 | {shown} | 1 | 2026-11-22 |\n"


def test_a_version_that_cannot_be_had_fails_and_the_others_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = script("versions")

    def tested(folder: Path, wheel: Path, python: str, resolution: str, tests: list[str]) -> dict[str, Any]:
        if python == "python9":
            raise versions.subprocess.CalledProcessError(2, ["uv", "venv"])
        counts = {"passed": 1, "failed": 0, "skipped": 0}
        return {"system": "Linux", "python": "3.13.0", "resolution": resolution, "tests": " ".join(tests)} | {
            "versions": {"numpy": "2.4.0"},
            "counts": counts,
            "exit": 0,
        }

    monkeypatch.setattr(versions, "RUNS", tmp_path / "versions.json")
    monkeypatch.setattr(versions, "tested", tested)
    asked = [
        "versions.py",
        "--python",
        "python9",
        "--python",
        "python3.13",
        "--wheel",
        "a.whl",
        "--resolution",
        "highest",
    ]
    monkeypatch.setattr("sys.argv", asked)
    assert versions.main() == 1
    assert "python9, highest: no environment" in capsys.readouterr().out
    assert [run["python"] for run in json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))] == [
        "3.13.0"
    ]


def test_targets_that_workflows_call_are_there() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8") + (ROOT / "release/release.mk").read_text(encoding="utf-8")
    for path in WORKFLOWS:
        for targets in re.findall(r"run: make (.*)", path.read_text(encoding="utf-8")):
            assert all(re.search(rf"^{target}:", made, re.MULTILINE) for target in targets.split())


def test_checked_wheels_are_those_that_are_made() -> None:
    building = runpy.run_path(str(ROOT / "src/tieproof/native/building.py"))
    made = {target.tag: len(target.levels) for target in building["TARGETS"].values()}
    assert made == script("check").LIBRARIES


def test_strays_in_an_sdist_are_found(tmp_path: Path) -> None:
    for name in ("PKG-INFO", "README.md", "notes.txt"):
        (tmp_path / name).write_text("[a tour](docs/tour.md)")
    with tarfile.open(tmp_path / "sdist.tar.gz", "w:gz") as archive:
        for name in ("PKG-INFO", "README.md", "notes.txt"):
            archive.add(tmp_path / name, f"tieproof-1.0.0/{name}")
    found = script("check").in_sdist(tmp_path / "sdist.tar.gz", {"README.md", "LICENSE"})
    assert found == ["lacks LICENSE", "contains notes.txt, which does not belong there", "links to docs/tour.md"]


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], str]:
    """Return the description of the package with some metadata, by the build's hook, where hatchling need not be."""
    for name in ("BuildHookInterface", "MetadataHookInterface"):
        module = ModuleType(name)
        setattr(module, name, type(name, (), {"root": str(ROOT)}))
        kind = "builders.hooks" if name == "BuildHookInterface" else "metadata"
        monkeypatch.setitem(sys.modules, f"hatchling.{kind}.plugin.interface", module)
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))["DescriptionHook"]()

    def update(metadata: dict[str, Any]) -> str:
        hook.update(metadata)
        assert metadata["readme"]["content-type"] == "text/markdown"
        return str(metadata["readme"]["text"])

    return update


def test_description_has_no_relative_link(described: Callable[[dict[str, Any]], str]) -> None:
    """Each link of README.md leads to the same file of the version's tag, and the rest of the text is unchanged."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = script("check").relative_links(readme)
    assert relative
    address = "https://example.org/tieproof"
    absolute = described({"version": "7.8.9", "urls": {"Source": address}})
    assert script("check").relative_links(absolute) == []
    assert absolute.replace(f"{address}/blob/v7.8.9/", "").replace(f"{address}/raw/v7.8.9/", "") == readme
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", readme)
    assert re.findall(r"!\[.*?\]\((.*?)\)", absolute) == [f"{address}/raw/v7.8.9/{path}" for path in pictures]
    assert all((ROOT / link.removeprefix("links to ").partition("#")[0]).exists() for link in relative)


def test_description_without_an_address_has_no_links(described: Callable[[dict[str, Any]], str]) -> None:
    text = described({"version": "7.8.9"})
    assert script("check").relative_links(text) == []
    assert "| understand what ties do to a score | Ties, explained |" in text


def test_address_is_one() -> None:
    """The other files that name the repository's address agree with pyproject.toml, and have none if it has none."""
    address = PROJECT.get("urls", {}).get("Source")
    assert parsed("CITATION.cff").get("repository-code") == address
    assert parsed("release/recipe.yaml")["about"].get("homepage") == address


def test_runs_are_counted_and_kept_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = script("versions")
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>')
    assert versions.counts(report) == {"passed": 3, "failed": 3, "skipped": 3}
    assert versions.counts(tmp_path / "none.xml") == {"passed": 0, "failed": 0, "skipped": 0}
    monkeypatch.setattr(versions, "RUNS", tmp_path / "versions.json")
    run = {"system": "Linux", "python": "3.12.1", "resolution": "highest", "tests": "all", "exit": 1}
    for made in (run, run | {"exit": 0}, run | {"python": "3.11.7"}):
        versions.keep(made)
    kept = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert kept == [run | {"python": "3.11.7"}, run | {"exit": 0}]
