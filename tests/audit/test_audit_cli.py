"""`tieproof audit`: its output, its files, its exit status, and its one-line errors."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tieproof as tp
from tieproof import cli
from tieproof.trials.audit import ATTACKS

Run = Callable[..., tuple[int, str, str]]
FEW = ("--items", "60")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            cli.main(["audit", *args])
        return int(stopped.value.code or 0), *capsys.readouterr()

    return call


def test_the_exit_status_depends_on_the_worst_finding(run: Run) -> None:
    report = tp.audit("zoo:lower", attacks=["zeros", "nan"], items=60)
    assert run("zoo:lower", "-a", "zeros", "-a", "nan", *FEW) == (0, f"{report}\n", "")
    assert run("zoo:upper", "-a", "zeros", *FEW)[0] == 3
    assert run("zoo:likes_class_zero", "-a", "relabelling", *FEW)[0] == 4


def test_files(run: Run) -> None:
    assert run("zoo:upper", "-a", "zeros", *FEW, "--json", "report.json", "--markdown", "issue.md")[0] == 3
    report = tp.audit("zoo:upper", attacks=["zeros"], items=60)
    assert json.loads(Path("report.json").read_text()) == report.to_dict()
    assert Path("issue.md").read_text() == report.to_markdown()
    assert run("zoo:upper", "-a", "zeros", *FEW, "--json", "-") == (3, f"{report.to_json()}\n", "")


@pytest.mark.trials
def test_options_reach_the_audit(run: Run) -> None:
    arguments = (
        "--smaller-is-better --limits none -m P@1 -d euclidean -a zeros -a settings -a nan --skip nan --seed 4"
    )
    arguments += " --isolate --thorough --items 60 --queries 50 --average macro --pooled --thresholds"
    status, out, _ = run(
        "zoo:by_batch", "--takes", "embeddings", *arguments.split(), "--vary", "batch_size=20,200", "--json", "-"
    )
    report = tp.audit(
        "zoo:by_batch",
        takes="embeddings",
        larger_is_better=False,
        limits=None,
        measure="P@1",
        distance="euclidean",
        attacks=["zeros", "settings", "nan"],
        skip=["nan"],
        items=60,
        queries=50,
        average="macro",
        pooled=True,
        thresholds=True,
        seed=4,
        vary={"batch_size": [20, 200]},
        isolate=True,
        thorough=True,
    )
    assert json.loads(out) == report.to_dict()
    assert status == 4


def test_modules_beside_are_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("beside.py").write_text("from zoo import lower as mine\n")
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    assert run("beside:mine", "-a", "zeros", *FEW)[0] == 0


@pytest.mark.trials
def test_cameras_are_handed_in(run: Run) -> None:
    arguments = ["-a", "zeros", "-m", "AP", "-d", "euclidean", *FEW]
    assert run("zoo_honest:with_cameras", *arguments)[0] == 0
    report = run("zoo_honest:with_cameras", "--takes", "embeddings and groups", *arguments, "--json", "-")[1]
    assert json.loads(report)["takes"] == "(embeddings, labels, groups), leave-one-out, such as cameras"


@pytest.mark.trials
def test_evaluators_of_recall(run: Run) -> None:
    report = tp.audit("zoo_recall:by_distances", takes="recall", seed=2)
    assert run("--recall", "zoo_recall:by_distances", "--seed", "2") == (3, f"{report}\n", "")
    assert run("zoo_recall:by_distances", "--takes", "recall", "--seed", "2", "--json", "-")[1] == (
        f"{report.to_json()}\n"
    )
    assert run("--recall", "zoo_recall:by_ids")[0] == 4
    assert run("--recall", "zoo_recall:percent", "--limits", "0,100", "-a", "partial lists")[0] == 0


def test_help_lists_the_attacks(run: Run) -> None:
    text = " ".join(run("--help")[1].split())
    for name in ATTACKS:
        assert name in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give either an evaluator as package.module:function, or a program by --command"),
        (["zoo:lower", "--command", "x {qrels} {run}"], "Give either an evaluator"),
        (["zoo"], "'zoo' does not name an evaluator"),
        (["no_such_module:f"], "no_such_module cannot be imported: ModuleNotFoundError"),
        (["zoo:lower", "-a", "one"], "Unknown attack 'one'"),
        (["zoo:lower", "--skip", "one"], "Unknown attack 'one'"),
        (["zoo:lower", "--items", "7"], "items must be a whole number of at least 40, not 7"),
        (["zoo:lower", "--average", "mode"], "'mode' is not one of mean, macro, other"),
        (["zoo:lower", "-m", "mAPP"], "--measure: Unknown measure 'mAPP'"),
        (["zoo:lower", "-d", "far"], "--distance: Unknown distance 'far'"),
        (["zoo:lower", "--takes", "all"], "'all' is not one of embeddings, gallery"),
        (["zoo:lower", "--limits", "0"], "'--limits': '0' is neither two numbers"),
        (
            ["zoo:lower", "--vary", "threads"],
            "'--vary': 'threads' is not a name and its values, such as batch_size=1,64",
        ),
        (
            ["--recall", "zoo_recall:lower", "--takes", "gallery"],
            "either --recall, or --takes with another convention",
        ),
        (["--recall", "--command", "x {qrels} {run}"], "either --recall with a function, or a program"),
        (["--recall", "zoo_recall:lower", "--limits", "none"], "limits is None, but for an evaluator of recall"),
        (["--command", "no-such-program {qrels} {run}"], "The command cannot be run: no-such-program"),
        (["zoo:lower", "-a", "zeros", "--markdown", "nowhere/issue.md"], "there is no folder"),
    ],
)
def test_bad_input_is_one_line(run: Run, arguments: list[str], said: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["zoo:lower", "--takes", "gallery"], "The evaluator refuses random embeddings (TypeError"),
        (["zoo:raises_key_error"], "The evaluator fails on random embeddings (KeyError: 'x'). It was called"),
        (["--recall", "zoo:lower"], "The evaluator refuses the true neighbors (TypeError"),
    ],
)
def test_a_first_call_that_fails_shows_a_wrapper_to_copy(run: Run, arguments: list[str], said: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    line, *wrapper = err.splitlines()
    assert said in line
    assert len(wrapper) == 6
    compile("\n".join(wrapper), "wrapper", "exec")
