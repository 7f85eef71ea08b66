"""Bundles run by the code of the platforms, if TIEPROOF_PLATFORMS names the folder of that code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundles import competition, competition_of_runs
from platform_code import PLATFORMS, refused_by_evalai, unpacked_by_codabench
from tieproof.trials.competition import new

PHASES = ("Development", "Final")

codabench = pytest.mark.skipif(not (PLATFORMS / "codabench").is_dir(), reason="TIEPROOF_PLATFORMS has no codabench")
evalai = pytest.mark.skipif(not (PLATFORMS / "EvalAI").is_dir(), reason="TIEPROOF_PLATFORMS has no EvalAI")


@codabench
@pytest.mark.parametrize("make", [lambda folder: competition(folder, PHASES), competition_of_runs])
def test_codabench_unpacks_a_bundle(make: Callable[[Path], Path], tmp_path: Path) -> None:
    bundle = new(make(tmp_path), tmp_path / "bundle")
    found = unpacked_by_codabench(bundle)
    assert found["title"] == "Letters & <digits>"
    final = found["phases"][-1]
    assert (final["max_submissions_per_day"], final["is_final_phase"]) == (3, True)
    assert [page["title"] for page in found["pages"]] == ["Overview", "Evaluation", "Data"]
    assert "Terms" in found["terms"]
    if len(found["phases"]) == 2:
        assert str(final["start"]) == "2027-02-11 12:30:00+00:00"


CODABENCH_REFUSES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a missing page": (lambda found: found["pages"].append({"file": "x.html"}), "Unable to find page: x.html"),
    "overlapping phases": (
        lambda found: found["phases"][1].update(start="2027-01-11 00:00:00"),
        "Phases must be sequential",
    ),
    "no data": (lambda found: found["tasks"][0].update(reference_data="x/"), 'Cannot find dataset: "x/"'),
}


@codabench
@pytest.mark.parametrize("fault", CODABENCH_REFUSES)
def test_codabench_refuses_what_is_wrong(fault: str, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path, PHASES), tmp_path / "bundle")
    change, says = CODABENCH_REFUSES[fault]
    found = yaml.safe_load((bundle / "competition.yaml").read_text())
    change(found)
    (bundle / "competition.yaml").write_text(yaml.safe_dump(found))
    with pytest.raises(Exception, match=says):
        unpacked_by_codabench(bundle)


@evalai
@pytest.mark.parametrize("make", [lambda folder: competition(folder, PHASES), competition_of_runs])
def test_evalai_finds_no_fault_in_a_bundle(make: Callable[[Path], Path], tmp_path: Path) -> None:
    bundle = new(make(tmp_path), tmp_path / "bundle.zip", platform="evalai")
    assert refused_by_evalai(bundle, tmp_path / "room") == []


@evalai
def test_evalai_refuses_what_is_wrong(tmp_path: Path) -> None:
    from shutil import make_archive

    bundle = new(competition(tmp_path, PHASES), tmp_path / "bundle", platform="evalai")
    found = yaml.safe_load((bundle / "challenge_config.yaml").read_text())
    found["challenge_phase_splits"][0]["dataset_split_id"] = 9
    del found["title"]
    (bundle / "challenge_config.yaml").write_text(yaml.safe_dump(found))
    archive = Path(make_archive(str(tmp_path / "spoilt"), "zip", bundle))
    assert len(refused_by_evalai(archive, tmp_path / "room")) == 2
