"""The benchmarks' scripts start, their tables show the stored figures, and peers compute the same values."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tieproof as tp

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "measuring")


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a script by its name; scripts import each other as they do when they are run."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.mark.parametrize("name", SCRIPTS)
def test_help(name: str, load: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = load(name)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as stopped:
        script.main()
    assert stopped.value.code == 0
    assert f"python benchmarks/{name}.py" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_table_shows_what_is_stored_and_which_targets_are_missed(path: Path, load: Any) -> None:
    measured = json.loads(path.read_text())
    assert measured["setting"]["processors"] >= 1
    text = load(path.stem.partition("-")[0]).render(measured)
    assert text.count("+-") >= 2
    for name in names(measured):
        assert name in text
    cases = measured.get("cases", [])
    above = [row for row in cases if "at_most" in row and row.get("ratio", row.get("nanoseconds")) > row["at_most"]]
    for row in above:
        assert row["case"] in " ".join(text.partition("missed: ")[2].split())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_table_says_of_what_and_where_it_was_measured(path: Path, load: Any) -> None:
    measured, script = json.loads(path.read_text()), load(path.stem.partition("-")[0])
    here = {"commit": "0123456789+", "processor": "Z80", "blas": "openblas 0.3", "date": "2030-01-31"}
    told = script.render(measured | {"setting": measured["setting"] | here})
    without = {key: value for key, value in measured["setting"].items() if key not in here}
    assert told == script.render(measured | {"setting": without}) + (
        "commit 0123456789+, Z80, openblas 0.3, 2030-01-31\n"
    )


def test_the_setting_of_a_run(load: Any) -> None:
    found = load("measuring").setting()
    assert found["processors"] >= 1
    assert all(isinstance(found[key], str) and found[key] for key in ("commit", "processor", "blas", "date"))
    if (FOLDER.parent / ".git").exists():
        head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=FOLDER, text=True)
        assert head.startswith(found["commit"].rstrip("+"))


def test_tables_say_which_targets_are_missed(load: Any) -> None:
    measuring: ModuleType = load("measuring")
    columns = ("case", "beside", "reference", "evaluate", "ratio", "at_most", "runs")
    rows: list[dict[str, Any]] = [
        dict(zip(columns, (name, "product", 1.0, ratio, ratio, 1.25, 3), strict=True))
        for name, ratio in (("int8", 1.25), ("zeros", 1.2501), ("±1", 2.0))
    ]
    _, *lines = measuring.render_ratios("", rows).splitlines()
    shown = {line.split("|")[1].strip(): line.split("|")[6].strip() for line in lines if line.count("|") == 8}
    assert [shown[name] for name in ("int8", "zeros", "±1")] == ["1.25", "1.25, missed", "1.25, missed"]
    assert lines[-1] == "2 of 3 targets are missed: zeros (1.25, not at most 1.25); ±1 (2.00, not at most 1.25)."
    assert "missed" not in measuring.render_ratios("", rows[:1])


def names(measured: Any) -> set[str]:
    """All values stored under `case` and `peer`, at any depth."""
    if isinstance(measured, list):
        return set().union(*map(names, measured))
    if not isinstance(measured, dict):
        return set()
    own = {measured[key] for key in ("case", "peer") if key in measured}
    return own.union(*map(names, measured.values()))


def test_every_script_has_its_figures() -> None:
    assert {path.stem.partition("-")[0] for path in FOLDER.glob("*.json")} == set(SCRIPTS)


def test_quick_calls_run_often_and_slow_ones_once(load: Any) -> None:
    calls = {"quick": lambda: 0.1, "ordinary": lambda: 2.0, "slow": lambda: 50.0}
    found = load("measuring").take_turns(calls, clock=lambda call: call())
    assert found == {"quick": 9 * [0.1], "ordinary": 3 * [2.0], "slow": [50.0]}


def test_minutes_of_a_million_items(load: Any) -> None:
    million: ModuleType = load("million")
    shares = {"product": 0.5, "Python": 0.25}  # of a microsecond for each item and a nanosecond for each pair, twice
    rows = [{"items": n, "seconds": 2e-6 * n + 2e-9 * n * n, "shares": shares} for n in (10**4, 2 * 10**4)]
    found = million.minutes(million.Way(5, "", 0.5, True), 768, rows)
    expected = [6.5e-3 * 1.5 * (1e6 / 1024) ** 2 / 4 / 960, 0.42 * 2500 / 960, 1001 / 960, 500.5 / 60]
    assert list(found.values()) == pytest.approx(expected, rel=1e-12)


def test_chosen_cases_and_sizes_are_not_the_whole(load: Any) -> None:
    parse = load("measuring").parse
    sizes, cases = {"count": 5}, ["a", "b"]
    assert parse("", sizes, cases, [])[1]
    assert not parse("", sizes, cases, ["--count", "4"])[1]
    options, whole = parse("", sizes, cases, ["--only", "b"])
    assert not whole
    assert options.only == ["b"]


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["all items", "nearest items"])
def test_peers_compute_the_same(case: str, load: Any) -> None:
    peers = load("peers")
    data = peers.embeddings(400, 16)
    values = {name: peer.score(data) for name, peer in peers.installed(peers.CASES[case][1]).items()}
    assert list(values.values()) == pytest.approx([values["tieproof"]] * len(values), rel=1e-5), values


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_peers_on_files_stay_within_the_interval(load: Any, tmp_path: Path) -> None:
    peers = load("peers")
    data = peers.files(tmp_path / "data", 10)
    interval = tp.evaluate_run(data.qrels, data.run)["AP"]
    for name, peer in peers.installed(peers.RUN_FILES).items():
        if name != "tie-aware-retrieval-metrics":  # relevant items outside the run do not count there
            assert interval.lower - 1e-9 <= peer.score(data) <= interval.upper + 1e-9, name


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_integrations_compute_the_same(load: Any) -> None:
    for library in ("sentence_transformers", "mteb"):
        pytest.importorskip(library)
    script = load("integrations")
    data = script.make_data(30, 200, 64)
    for codes in (False, True):
        theirs, ours = (call() for call in script.retrieval(data, codes))
        found = {name.replace("hamming", "cosine"): value for name, value in ours.items()}
        for name, value in theirs.items():
            assert found[f"{name}_lower"] - 1e-12 <= value <= found[f"{name}_upper"] + 1e-12, name
            assert codes or value == pytest.approx(found[name], rel=1e-12)
    theirs, ours = (call() for call in script.sparse_retrieval(data))
    for name, value in theirs.items():
        lower, upper = (ours.get(f"{name}_{bound}", ours[name]) for bound in ("lower", "upper"))
        assert lower - 1e-6 <= value <= upper + 1e-6, name  # the library counts dimensions in float32
    theirs, ours = (call() for call in script.predictions(data))
    for family, name in (("ndcg", "nDCG"), ("map", "AP"), ("recall", "R"), ("precision", "P"), ("mrr", "RR")):
        for spelled, value in getattr(theirs, family).items():
            interval = ours[f"{name}@{spelled.partition('@')[2]}"]
            assert interval.lower - 1e-5 <= value <= interval.upper + 1e-5, spelled  # they are rounded
    theirs, ours = (call() for call in script.reranking(data))
    for name, value in theirs.items():
        assert ours[f"{name}_lower"] - 1e-12 <= value <= ours[f"{name}_upper"] + 1e-12, name


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_integrations_of_ranx_compute_the_same(load: Any) -> None:
    pytest.importorskip("ranx")
    script = load("integrations")
    theirs, ours = (call() for call in script.objects(script.make_data(30, 200, 64)))
    for name, value in theirs.items():
        family, _, k = name.partition("@")
        interval = ours[{"map": "AP", "ndcg": "nDCG", "recall": "R", "precision": "P"}[family] + f"@{k}"]
        assert interval.lower - 1e-9 <= value <= interval.upper + 1e-9, name


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_integrations_of_beir_compute_the_same(load: Any) -> None:
    pytest.importorskip("beir", reason="install it: pip install --no-deps beir")
    script = load("integrations")
    theirs, ours = (call() for call in script.results(script.make_data(30, 200, 64)))
    for mine, there in zip(ours, theirs, strict=True):
        for name, value in there.items():
            assert mine[name] <= value + 1e-5, name
