"""Each report of a study is what its script writes, and all tables of the project's pages are rendered whole."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pages import ROOT
from studies.can_we_hack_map import subjects

STUDIES = sorted({path.parent.name for path in (ROOT / "studies").glob("*/study.py")} - {"audit_rates"})
"""All but audit_rates, whose own test renders its report again from the audits that it keeps."""

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("", "docs", "studies", "src", "benchmarks")
    for path in (ROOT / folder).glob("**/*.md" if folder else "*.md")
)

NUMBER = re.compile(r"[-+−]?\d[\d,.]*\d(?:e[-+]\d+)?|[-+−]?\d(?:e[-+]\d+)?")
RANGE = re.compile(r"# (?:≤ \*\*#\*\* ≤|to) #")


def outline(report: str) -> Iterator[str]:
    """The parts of a report, without numbers: its sentences, its code, and the headings of its tables."""
    for block in re.split(r"\n\n+", report.strip()):
        lines = block.splitlines()
        if lines[0].startswith("|"):
            yield from lines[:2]
            yield from (line for line in lines if not line.startswith("|"))
        else:
            yield RANGE.sub("#", NUMBER.sub("#", " ".join(block.split())))


def tables(text: str) -> Iterator[list[str]]:
    """The lines of each table, as a renderer finds them."""
    lines = text.splitlines()
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            assert token.map is not None
            yield lines[slice(*token.map)]


def columns(line: str) -> int:
    return len(re.findall(r"(?<!\\)\|", line)) - 1


@pytest.mark.parametrize("page", PAGES)
def test_tables_hold_rows_alone(page: str) -> None:
    """A sentence that touches a table becomes a row of it, and a row with too many bars loses cells."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for head, *rows in tables(text):
        assert head.startswith("|")
        for row in rows:
            assert row.strip().startswith("|")
            assert columns(row) == columns(head)
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "inline" and token.level == 1:
            assert not token.content.startswith("|"), "a table without its line of headings"


def test_a_sentence_that_touches_a_table_is_a_row() -> None:
    (found,) = tables("| a | b |\n|---|---|\n| 1 | 2 |\nA sentence.\n\nAnother.\n")
    assert found[-1] == "A sentence."


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STUDIES)
def test_report_is_what_its_script_writes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick part of a study has the sentences and headings of the whole; only numbers and rows differ."""
    study = import_module(f"studies.{name}.study")
    if name == "can_we_hack_map":  # whose evaluators differ in rows alone, and which may not all be installed
        monkeypatch.setattr(study, "SUBJECTS", [each for each in subjects.SUBJECTS if not each.module])
    monkeypatch.setattr(sys, "argv", ["study.py", "--quick", "--out", str(tmp_path)])
    study.main()
    written, committed = (
        [*outline((folder / "report.md").read_text(encoding="utf-8"))]
        for folder in (tmp_path, ROOT / "studies" / name)
    )
    if name == "can_we_hack_map":
        written, committed = map(without_findings, (written, committed))
    assert written == committed


def without_findings(parts: list[str]) -> list[str]:
    """The parts of the report on evaluators that don't depend on what was found."""
    before = parts[: parts.index("## Everything that did not hold")]
    return [part for part in before if not part.startswith(("```", "No ranking has a score above"))]
