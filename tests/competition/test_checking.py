"""`check` accepts tieproof's own bundles, and finds every fault of bundles written by hand."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from bundles import by_hand, competition, competition_of_runs, write_table
from programs_here import few_programs, programs_here, run_here
from tieproof.errors import InputError
from tieproof.trials.audit import ATTACKS as AUDITED
from tieproof.trials.audit import Verdict
from tieproof.trials.competition import ATTACKS, CheckReport, check, new
from tieproof.trials.competition.inspection import tasks
from tieproof.trials.competition.inspection.forms import form_of
from tieproof.trials.sandbox import bubblewrap

pytestmark = pytest.mark.trials

CLIMBS = """
import zipfile
if zipfile.is_zipfile(os.path.join(sys.argv[1], "res", "x.npy")):
    with zipfile.ZipFile(os.path.join(sys.argv[1], "res", "x.npy")) as archive:
        for name in archive.namelist():
            place = os.path.join(sys.argv[1], "unpacked", name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            try:
                open(place, "wb").write(archive.read(name))
            except OSError:
                pass
"""


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Compare with fewer random systems, since each is a process; the faults found here are far beyond luck."""
    if "heavy" not in request.keywords:
        few_programs(monkeypatch)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scoring programs run in this process."""
    programs_here(monkeypatch)


def verdicts(report: CheckReport) -> dict[str, Verdict]:
    return {finding.attack: finding.verdict for finding in report.findings}


def test_all_blind_systems_of_the_audit_are_handed_in() -> None:
    blind = [name for name, each in AUDITED.items() if each.rows and not (each.thorough or each.wide)]
    assert [name for name, attack in ATTACKS.items() if attack.kind == "blind"] == blind


@pytest.mark.heavy
def test_a_bundle_of_ours_holds(tmp_path: Path) -> None:
    """All attacks, with files that every participant has."""
    report = check(new(competition(tmp_path), tmp_path / "bundle"))
    assert report.held, str(report)
    found = verdicts(report)
    assert found["zeros"] is Verdict.HELD
    refused = ["nan", "missing ids", "duplicate ids", "additional ids", "pickle", "giant file", "no file", "too wide"]
    assert [found[name] for name in refused] == [Verdict.REFUSED] * len(refused)
    assert [found[name] for name in ("other order", "copy", "other dimensions")] == [Verdict.HELD] * 3
    assert report.finding("zeros").score < report.tasks[0].random_mean  # type: ignore[operator]


FEW = ("zeros", "missing ids", "additional ids", "pickle", "copy")


@pytest.mark.parametrize("platform", ["evalai", "grand-challenge", pytest.param("kaggle", marks=pytest.mark.heavy)])
def test_programs_of_all_platforms_run_in_their_own_process(platform: str, tmp_path: Path) -> None:
    report = check(new(competition(tmp_path), tmp_path / "bundle.zip", platform=platform), attacks=["pickle"])
    assert report.sealed == bubblewrap.works()
    assert list(verdicts(report).values()) == [Verdict.REFUSED]


@pytest.mark.heavy
@pytest.mark.parametrize("platform", ["evalai", "kaggle", "grand-challenge"])
def test_a_program_in_this_process_gives_the_same_report(platform: str, tmp_path: Path) -> None:
    """What `programs_here` rests on."""
    bundle = new(competition(tmp_path), tmp_path / "bundle.zip", platform=platform)
    in_processes = check(bundle, attacks=FEW)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("tieproof.trials.competition.inspection.judging.run", run_here)
        assert check(bundle, attacks=FEW) == in_processes


@pytest.mark.trials
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("platform", ["evalai", "kaggle", "grand-challenge"])
def test_bundles_for_all_platforms_hold(platform: str, tmp_path: Path) -> None:
    report = check(new(competition(tmp_path), tmp_path / "bundle.zip", platform=platform), attacks=FEW)
    assert report.platform == platform
    assert [finding.verdict for finding in report.findings] == [
        Verdict.HELD,
        Verdict.REFUSED,
        Verdict.REFUSED,
        Verdict.REFUSED,
        Verdict.HELD,
    ]


@pytest.mark.usefixtures("in_this_process")
def test_a_giant_file_is_refused_by_kaggle_before_it_is_read(tmp_path: Path) -> None:
    report = check(new(competition(tmp_path), tmp_path / "bundle", platform="kaggle"), attacks=["giant file"])
    (finding,) = report.findings
    assert finding.verdict is Verdict.REFUSED
    assert finding.detail == (
        "Kaggle refuses the submission: it has 64,000,000,000 bytes, but at most 500,000,000 are allowed."
    )


@pytest.mark.usefixtures("in_this_process")
def test_a_bundle_of_runs_holds(tmp_path: Path) -> None:
    report = check(new(competition_of_runs(tmp_path), tmp_path / "bundle"), attacks=[*FEW, "empty", "words in names"])
    assert report.held, str(report)
    assert verdicts(report)["zeros"] is Verdict.HELD


@pytest.mark.trials
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("platform", ["kaggle", "grand-challenge"])
def test_bundles_of_runs_in_other_forms_hold(platform: str, tmp_path: Path) -> None:
    bundle = new(competition_of_runs(tmp_path), tmp_path / "bundle", platform=platform)
    report = check(bundle, attacks=["additional ids", "copy", "empty"])
    assert list(verdicts(report).values()) == [Verdict.REFUSED, Verdict.HELD, Verdict.REFUSED]


def test_the_usual_script_is_found_out(tmp_path: Path) -> None:
    report = check(by_hand(tmp_path, more=", allow_pickle=True"), attacks=[*FEW, "order of the items", "no file"])
    assert report.exploitable
    found = verdicts(report)
    exploitable = ("zeros", "missing ids", "pickle", "order of the items")
    assert [found[name] for name in exploitable] == [Verdict.EXPLOITABLE] * len(exploitable)
    assert found["no file"] is Verdict.CRASHED
    assert "additional ids" not in found  # there, rows have no names
    # A stable sort of equal distances leaves the order of the file, in which the classes follow each other: the ranks
    # of the nine relevant items are 10 c + 1 to 10 c + 9 for class c, whoever of them asks.
    precisions = [sum((rank + 1) / (10 * c + rank + 1) for rank in range(9)) / 9 for c in range(4)]
    assert report.finding("zeros").score == pytest.approx(sum(precisions) / 4)


@pytest.mark.usefixtures("in_this_process")
def test_shuffled_classes_hide_the_fault_of_the_usual_script(tmp_path: Path) -> None:
    """The zeros gain nothing there, which is why items are handed out in a random order."""
    report = check(by_hand(tmp_path, in_order=False), attacks=["zeros", "order of the items", "pickle"])
    assert set(verdicts(report).values()) == {Verdict.HELD, Verdict.REFUSED}


@pytest.mark.trials
def test_a_script_that_unpacks_whatever_comes_is_found_out(tmp_path: Path) -> None:
    report = check(by_hand(tmp_path, before=CLIMBS), attacks=["climbing archive"])
    assert report.finding("climbing archive").verdict is Verdict.EXPLOITABLE
    assert "wrote outside of its folder" in report.finding("climbing archive").detail


PRINTS_A_DIGEST = """
import atexit, hashlib
atexit.register(lambda: print("Fingerprint:", hashlib.sha256(repr(scores).encode()).hexdigest()))
"""


@pytest.mark.trials
def test_a_script_that_prints_a_fingerprint_is_found_out(tmp_path: Path) -> None:
    report = check(by_hand(tmp_path, before=PRINTS_A_DIGEST), attacks=["offline guessing", "hill climbing"])
    assert verdicts(report) == {"offline guessing": Verdict.EXPLOITABLE, "hill climbing": Verdict.HELD}
    said = " ".join(str(report).split())
    assert "hill climbing, Only: Participants see 1 number of 1" in said  # with all digits of a float
    assert "1 submission told whether two items share a label, so about 3 reveal one label." in said


@pytest.mark.trials
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("platform", ["evalai", "kaggle", "grand-challenge"])
def test_bundles_show_scores_only(platform: str, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform=platform)
    report = check(bundle, attacks=["offline guessing"])
    assert [finding.verdict for finding in report.findings] == [Verdict.HELD]


@pytest.mark.trials
def test_a_script_that_depends_on_the_run_is_found_out(tmp_path: Path) -> None:
    slow = "import time\nif np.load(os.path.join(sys.argv[1], 'res', 'x.npy')).shape[0] < 40: time.sleep(60)"
    report = check(by_hand(tmp_path, before=slow), attacks=["missing ids"], time_limit=5)
    assert report.finding("missing ids").verdict is Verdict.TIMED_OUT


NAMES = {
    "words in names": lambda label, at: f"{'abcd'[label]}_{at:03}",
    "first letters": lambda label, at: f"{'wxyz'[label]}{(at * 7919) % 9973:04}",
    "numbers in names": lambda label, at: f"item{label * 1000 + at}",
}


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("leak", NAMES)
def test_names_that_tell_labels_are_found_out(leak: str, tmp_path: Path) -> None:
    settings = competition(tmp_path)
    rows = [(NAMES[leak](at % 4, at), at % 4) for at in range(40)]
    write_table(tmp_path / "Final.csv", [("id", "label"), *rows])
    report = check(new(settings, tmp_path / "bundle"), attacks=[leak, "zeros"])
    assert verdicts(report) == {leak: Verdict.EXPLOITABLE, "zeros": Verdict.HELD}


@pytest.mark.usefixtures("in_this_process")
def test_files_whose_size_tells_the_label_are_found_out(tmp_path: Path) -> None:
    settings = competition(tmp_path)
    labels = dict(line.split(",") for line in (tmp_path / "Final.csv").read_text().split()[1:])
    for path in (tmp_path / "Final_items").iterdir():
        path.write_text("x" * (100 * int(labels[path.stem]) + len(path.name)))
    bundle = new(settings, tmp_path / "bundle")
    report = check(bundle, attacks=["file sizes", "order of the items"])
    assert verdicts(report) == {"file sizes": Verdict.EXPLOITABLE, "order of the items": Verdict.HELD}


@pytest.mark.usefixtures("in_this_process")
def test_dates_of_files_are_not_handed_out(tmp_path: Path) -> None:
    """Dates of items that were created class by class would reveal the class."""
    settings = competition(tmp_path)
    labels = dict(line.split(",") for line in (tmp_path / "Final.csv").read_text().split()[1:])
    for path in (tmp_path / "Final_items").iterdir():
        os.utime(path, (10**9, 10**9 + 1000 * int(labels[path.stem])))
    bundle = new(settings, tmp_path / "bundle")
    assert "file dates" not in verdicts(check(bundle, attacks=["file dates", "no file"]))
    shutil.copytree(tmp_path / "Final_items", bundle / "public_data_final" / "Final_items", dirs_exist_ok=True)
    assert verdicts(check(bundle, attacks=["file dates"])) == {"file dates": Verdict.EXPLOITABLE}


@pytest.mark.trials
def test_without_a_sandbox_the_report_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "works", lambda: False)
    report = check(new(competition(tmp_path), tmp_path / "bundle"), attacks=["zeros", "pickle"])
    assert report.held
    assert not report.sealed
    assert "not sealed: bubblewrap (bwrap) is missing" in str(report)
    bundle = by_hand(tmp_path, before='open("/app/program/score.py")')
    with pytest.raises(InputError, match="reads or writes /app/, a folder that only bubblewrap"):
        check(bundle)


@pytest.mark.skipif(not bubblewrap.works(), reason="bubblewrap is not installed, or may not be used")
def test_a_program_has_the_folders_of_its_platform_and_no_network(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("labels")
    code = (
        "import os, socket, json; found = {'listed': sorted(os.listdir('/app'))}\n"
        "try: socket.create_connection(('1.1.1.1', 53), 2); found['network'] = True\n"
        "except OSError: found['network'] = False\n"
        f"found['secret'] = os.path.exists({str(secret)!r})\n"
        "try: open('/app/../usr/written', 'w'); found['written'] = True\n"
        "except OSError: found['written'] = False\n"
        "print(json.dumps(found))"
    )
    (tmp_path / "output").mkdir()
    layout = tasks.Program(["python3", "-c", code], {"/app/output": tmp_path / "output"}, "/app/output")
    ended = tasks.run(layout, 60)
    assert json.loads(ended.out) == {"listed": ["output"], "network": False, "secret": False, "written": False}


@pytest.mark.usefixtures("in_this_process")
def test_reports_are_the_same_twice_and_plain(tmp_path: Path) -> None:
    bundle = by_hand(tmp_path)
    one, other = (check(bundle, attacks=["two vectors", "copy", "nan"], seed=4) for _ in range(2))
    assert one == other
    found = json.loads(one.to_json())
    assert list(found) == ["bundle", "platform", "sealed", "seed", "exploitable", "held", "tasks", "findings"]
    assert [finding["task"] for finding in found["findings"]] == ["Only"] * 3
    assert f"Checked {bundle}".split()[0] in str(one)


def broken(tmp_path: Path, *names: str) -> Path:
    bundle = by_hand(tmp_path)
    for name in names:
        place = bundle / name
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    return bundle


def test_files_that_are_no_bundle_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a bundle of a known platform"):
        check(broken(tmp_path, "competition.yaml"))
    with pytest.raises(InputError, match="is not a folder or \\.zip"):
        check(tmp_path / "nothing")


@pytest.mark.usefixtures("in_this_process")
def test_what_is_no_sample(tmp_path: Path) -> None:
    bundle = broken(tmp_path, "good")
    (bundle / "good").mkdir()
    with pytest.raises(InputError, match="must contain exactly one file with rows of numbers; found: nothing"):
        check(bundle)
    np.save(tmp_path / "few.npy", np.zeros((3, 2, 2)))
    with pytest.raises(InputError, match=r"one file with rows of numbers; found: few\.npy"):
        check(bundle, submission=tmp_path / "few.npy")
    np.save(tmp_path / "x.npy", np.ones((41, 2)))
    with pytest.raises(InputError, match="gives the sample no score: crashed: IndexError"):
        check(bundle, submission=tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attacks": ["zero"]}, "Unknown attack 'zero'. Known: zeros, constant"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"time_limit": 0}, "time_limit must be a number of seconds above 0"),
    ],
)
def test_options_that_are_refused(options: dict[str, Sequence[str]], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        check(tmp_path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["file", "allow_pickle", "args"])
def test_arrays_of_a_sample_may_have_any_name(name: str, tmp_path: Path) -> None:
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    with ZipFile(tmp_path / "sample.npz", "w") as archive:
        for member, array in {name: np.arange(5), "ids": np.array(["a", "b"]), "rows": rows}.items():
            with archive.open(f"{member}.npy", "w") as stream:
                np.lib.format.write_array(stream, array)
    form = form_of(tmp_path / "sample.npz")
    form.write(tmp_path / "other.npz", ["c", "d"], 2 * rows)
    with np.load(tmp_path / "other.npz", allow_pickle=False) as written:
        assert {member: written[member].tolist() for member in written} == {
            name: [0, 1, 2, 3, 4],
            "ids": ["c", "d"],
            "rows": [[2, 4], [6, 8]],
        }


@pytest.mark.trials
@pytest.mark.parametrize(
    "code",
    [
        "for at in range(30_000): open(str(at), 'w').close()",
        "import os\nfor at in range(1500): os.mkdir('a'); os.chdir('a')\nos.chmod('.', 0)\nopen('/tmp/x', 'w')",
        "file = open('large', 'wb')\nfor at in range(30): file.write(bytes(100_000))",
        "import sys\nfor at in range(30): sys.stdout.write('x' * 100_000)",
    ],
)
def test_a_program_that_writes_too_much_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(tasks, "MOST_WRITTEN", 2_000_000)
    monkeypatch.setattr(tasks, "FILES", 1000)
    (tmp_path / "output").mkdir()
    layout = tasks.Program(
        ["python3", "-c", f"{code}\nimport time; time.sleep(500)"], {"/output": tmp_path / "output"}, "/output"
    )
    ended = tasks.run(layout, 400)
    subprocess.run(["rm", "-rf", tmp_path / "output"], check=True)  # Python before 3.12 cannot remove deep folders
    assert ended.status is None or "File too large" in ended.err
