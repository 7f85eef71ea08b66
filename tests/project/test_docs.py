"""The output shown in the documentation is the output of the programs."""

import platform
import re
import runpy
import tomllib
from pathlib import Path

import matplotlib
import pytest

import tieproof as tp
from pages import ROOT, run_page, text_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def test_readme_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("README.md")
    assert re.findall(r"```text\n(.*?)```", text_of("README.md"), flags=re.DOTALL) == [capsys.readouterr().out]


@pytest.mark.parametrize("page", ["README.md", "docs/exactness.md"])
def test_pages_say_the_same_of_what_is_exact(page: str) -> None:
    said = " ".join(text_of(page).split())
    assert (
        "Distances are compared exactly; the values are float64 numbers whose last bits are rounded, though to the "
        "same bits for any order of the data and on any machine."
    ) in said
    assert "values are exact" not in said


@pytest.mark.heavy
def test_page_of_confidences_runs() -> None:
    import matplotlib

    page = ROOT / "docs" / "confidence.md"
    if not page.exists():
        pytest.skip("no docs beside the tests")
    names: dict[str, object] = {}
    with matplotlib.rc_context({"backend": "Agg"}):
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            exec(code, names)
        matplotlib.pyplot.close("all")
    assert isinstance(names["found"], tp.confidence.CredibleRetrieval)
    (ties,) = re.findall(r"curve\.ties  # (\d+) ties", page.read_text(encoding="utf-8"))
    assert names["curve"].ties.ties == int(ties)  # type: ignore[attr-defined]


def test_page_on_comparisons_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("docs/compare.md")
    plt.close("all")
    assert "queries 95%" in capsys.readouterr().out


@pytest.mark.parametrize(("page", "section"), [("records", ""), ("exports", "Tables and JSON")])
def test_pages_whose_examples_run(page: str, section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(run_page(f"docs/{page}.md", section)["result"], tp.Result)


def test_page_of_exports_lists_the_keys_of_json() -> None:
    (table,) = re.findall(r"^\| key .*\n(?:\|.*\n)+", text_of("docs/exports.md"), flags=re.MULTILINE)
    x, labels = [[1.0, 0.0], [2.0, 0.1], [1.0, 1.0]], ["a", "a", "b"]
    results = [
        tp.evaluate(x, labels, confidence=[1, 2, 3], categories=labels).with_ci(0.9),
        tp.evaluate_run({"q": {"d": 1}}, {"q": {"d": 1.0}}),
        tp.evaluate_neighbors([[1], [0], [0]], labels=labels),
    ]
    listed = re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE)
    assert set(listed) == {key for each in results for key in each.to_dict()}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("docs/write_attacks.py", "an attack"),
        ("docs/write_measures.py", "the registry"),
        ("docs/write_files.py", "a table of the readers"),
        ("docs/write_verdicts.py", "a rule"),
        ("release/write_versions.py", "a run of release/versions.py"),
    ],
)
def test_written_pages(script: str, reason: str) -> None:
    if not (ROOT / script).exists():
        pytest.skip("no docs beside the tests")
    names = runpy.run_path(str(ROOT / script))
    assert names["PAGE"].read_text("utf-8") == names["render"](), f"{reason} changed; run python {script}"


def test_page_of_measures_keeps_markdown_whole() -> None:
    page = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == [*tp.measures.REGISTRY, "Other names that libraries list"]
    tables = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    assert all(len({row.count("|") for row in table.splitlines()}) == 1 for table in tables)
    assert all(line.count("`") % 2 == 0 for line in page.splitlines())


def test_study_that_the_site_opens_with() -> None:
    (said,) = re.findall(r"is (\d+ %) of the\s+expect", text_of("docs/index.md"))
    assert said in text_of("studies/quantization/report.md")


def test_page_on_uncertainty_has_the_figures_of_the_study() -> None:
    page, report = text_of("docs/uncertainty.md"), text_of("studies/compare/report.md")
    rows = re.findall(r"^\| (?:emb|64).*$", page, re.MULTILINE)
    assert len(rows) == 6
    said = re.findall(r"(\d\d\.\d %) of (?:the samples of )?(\d+)", page)
    assert [count for _, count in said] == ["10", "25", "200"]
    lines = report.splitlines()
    assert set(rows) <= set(lines)
    assert all(any(line.startswith(f"| embeddings | {count} | {share} |") for line in lines) for share, count in said)


def test_pages_that_the_readme_names_are_there() -> None:
    named = re.findall(r"\]\(([^)#]+)\)?", text_of("README.md"))
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name.rstrip("#")).exists()] == []


def test_page_of_installation_lists_all_extras() -> None:
    extras = tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"]
    own = {"all", "test", "browser", "coverage", "docs", "lint", "heavy", "studies", "bench"}
    shown = set(re.findall(r"^\| `([\w-]+)` \|", text_of("docs/installation.md"), re.MULTILINE))
    assert shown == {*extras} - own
    assert {name for line in extras["all"] for name in re.split(r"[\[\],]", line)[1:-1]} == shown


def test_pictures_are_there() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "exports.md"):
        for name in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / name).is_file(), name


@pytest.mark.long
def test_page_of_pictures_shows_what_its_code_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = ROOT / "docs" / "draw_plots.py"
    run, text = runpy.run_path(str(script))["run"], text_of("docs/exports.md", "Pictures")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    try:
        run(text)
    finally:
        plt.close("all")
    shown = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert {path.name for path in tmp_path.iterdir()} == {"both.png", *shown}
    pictures = {name: script.with_name(name).read_text("utf-8") for name in shown}
    for name, picture in pictures.items() if platform.machine() == "x86_64" else ():
        if f">Matplotlib v{matplotlib.__version__}, " in picture:  # other versions may place lines differently
            words, places = words_and_places(picture)
            now, drawn = words_and_places((tmp_path / name).read_text("utf-8"))
            assert now == words, f"{name} changed; run python docs/draw_plots.py"
            # The last bits of a distribution differ between processors (docs/uncertainty.md).
            assert drawn == pytest.approx(places, abs=1e-4), f"{name} changed; run python docs/draw_plots.py"


def words_and_places(picture: str) -> tuple[list[str], list[float]]:
    """The text of a picture between its decimal numbers, and these numbers."""
    parts = re.split(r"(-?\d+\.\d+)", picture)
    return parts[::2], list(map(float, parts[1::2]))


@pytest.mark.long
def test_page_of_pages_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_page("docs/exports.md", "Pages")
    written = ["collisions.html", "comparison.html", "rates.html", "report.html", "run.html"]
    assert sorted(path.name for path in tmp_path.glob("*.html")) == written
    assert isinstance(names["result"], tp.Result)
    assert f"AP is at least {names['result']['AP'].lower:.4f}," in text_of("docs/exports.md")


def test_page_of_costs() -> None:
    script = ROOT / "docs" / "write_costs.py"
    if not script.exists():
        pytest.skip("no docs beside the tests")
    for page, text in runpy.run_path(str(script))["render"]().items():
        assert page.read_text(encoding="utf-8") == text, "figures were taken again; run python docs/write_costs.py"
