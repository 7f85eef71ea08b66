"""Bundles of strangers that name files of the organizer, which `competition check` would show to their programs."""

import os
import zipfile
from pathlib import Path

import pytest

from bundles import by_hand, competition
from programs_here import programs_here
from tieproof.competition import check, new, platforms
from tieproof.competition.inspection.tasks import Program, ProgramRun
from tieproof.competition.platforms import codabench
from tieproof.errors import InputError

LINKS = {
    "a file of the truth": ("truth/more.csv", "secret/password"),
    "a folder of the sample": ("good/more", "secret"),
    "a file that the platform ignores": ("more", "secret/password"),
    "a file that does not exist": ("more", "absent"),
}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A folder of the organizer beside the bundle."""
    found = tmp_path / "secret"
    found.mkdir()
    (found / "password").write_text("id,label\n")
    return found


def spoiled(bundle: Path, file: str, old: str, new: str) -> Path:
    """A bundle after a change of one of its files."""
    text = (bundle / file).read_text()
    assert old in text
    (bundle / file).write_text(text.replace(old, new))
    return bundle


@pytest.mark.parametrize("what", LINKS)
def test_a_bundle_cannot_link_to_files_of_the_organizer(what: str, tmp_path: Path, secret: Path) -> None:
    link, target = LINKS[what]
    bundle = by_hand(tmp_path)
    (bundle / link).symlink_to(os.path.relpath(tmp_path / target, (bundle / link).parent))
    with pytest.raises(InputError, match=rf"{link} leads to {tmp_path / target}, outside of the bundle"):
        check(bundle)


def test_a_bundle_cannot_grow_by_links_to_its_own_folders(tmp_path: Path) -> None:
    bundle = by_hand(tmp_path)
    (bundle / "truth" / "again").symlink_to(".")
    with pytest.raises(InputError, match="truth/again is a link to a folder"):
        check(bundle)


def test_an_archive_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "MOST_BYTES", 2**20)
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("competition.yaml", bytes(2**20 + 1))
    with pytest.raises(InputError, match=r"bundle\.zip holds more than 100,000 files or"):
        check(tmp_path / "bundle.zip")


def test_links_within_a_bundle_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs_here(monkeypatch)
    bundle = by_hand(tmp_path)
    (tmp_path / "bundle by another name").symlink_to(bundle)
    (bundle / "program.zip").rename(bundle / "other.zip")
    (bundle / "program.zip").symlink_to("other.zip")
    assert check(tmp_path / "bundle by another name", attacks=["empty file"]).findings


def test_a_bundle_of_codabench_cannot_name_files_of_the_organizer(tmp_path: Path, secret: Path) -> None:
    bundle = by_hand(tmp_path)
    for name in ("../secret", str(secret)):
        spoiled(bundle, "competition.yaml", "reference_data: truth", f"reference_data: {name}")
        with pytest.raises(InputError, match=rf"{secret}, outside of the bundle"):
            check(bundle)
        spoiled(bundle, "competition.yaml", f"reference_data: {name}", "reference_data: truth")


def test_a_bundle_of_evalai_cannot_name_files_of_the_organizer(tmp_path: Path, secret: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform="evalai")
    spoiled(bundle, "challenge_config.yaml", "test_annotation_file: ", "test_annotation_file: ../secret/password #")
    with pytest.raises(InputError, match=rf"{secret / 'password'}, outside of the bundle"):
        check(bundle)


def test_a_program_cannot_show_files_of_the_organizer_by_links(tmp_path: Path, secret: Path) -> None:
    output = tmp_path / "output"
    output.mkdir()
    (output / "scores.json").write_text("0.5")
    (output / "more.txt").symlink_to(secret / "password")
    shown = codabench.shown(Program([], {"/app/output": output}, "/app/output"), ProgramRun(0, "printed", ""))
    assert shown.split() == ["printed", "0.5"]
