"""Bundles of strangers that name files of the organizer, which `competition check` would show to their programs."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from bundles import by_hand, competition
from programs_here import programs_here
from tieproof.errors import InputError
from tieproof.trials.competition import check, new, platforms
from tieproof.trials.competition.inspection.forms import form_of
from tieproof.trials.competition.inspection.tasks import Program, ProgramRun
from tieproof.trials.competition.platforms import codabench
from tieproof.trials.sandbox.folders import remove

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


def test_a_folder_of_the_platform_cannot_lead_out_of_the_room_of_a_trial(tmp_path: Path, secret: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform="grand-challenge")
    spoiled(bundle, "Dockerfile", "WORKDIR /home/scorer", "WORKDIR /../../outside")
    room = tmp_path / "around" / "room"
    program = platforms.tasks_of(bundle, tmp_path)[1][0].lay(room, secret, "predictions.json")
    assert all(place.resolve().is_relative_to(room) for place in program.folders.values())
    assert (program.here(program.within) / "evaluate.py").is_file()


def test_a_program_cannot_show_files_of_the_organizer_by_links(tmp_path: Path, secret: Path) -> None:
    output = tmp_path / "output"
    output.mkdir()
    (output / "scores.json").write_text("0.5")
    (output / "more.txt").symlink_to(secret / "password")
    shown = codabench.shown(Program([], {"/app/output": output}, "/app/output"), ProgramRun(0, "printed", ""))
    assert shown.split() == ["printed", "0.5"]


# Files that are damaged, or written to fill the memory or the disk

DAMAGED: dict[str, dict[str, tuple[bytes, ...]]] = {
    "grand-challenge": {
        "phase_settings.json": (b"{", b"[" * 100_000, b"[]", b"1"),
        "Dockerfile": (b"\xff", b"ENTRYPOINT [bad]\n", b"ENTRYPOINT [1]\n", b"ENTRYPOINT []\n"),
        "evaluate.py": (b"\xff",),
    },
    "kaggle": {"solution.csv": (b"\xff\xfe", b'a,"' + b"x" * 200_000, b"id,Usage\na\nb,Public\n", b"id,Usage\na\n")},
    "codabench": {
        "competition.yaml": (b"[" * 5000, b"a: &a [*a]", b"leaderboards: 1", b"a: 1" + b"0" * 5000, b"{{}: 1}"),
        "scoring_program/metadata.yaml": (b'command: "a \'b"', b"[]", b"\xff"),
    },
    "evalai": {
        "challenge_config.yaml": (b'evaluation_script: "a\\0b"', b"evaluation_script: [1]", b"2001-99-99: 1"),
        "evaluation_script.zip": (b"PK", b"", b"PK\3\4" + b"\0" * 100),
    },
}


@pytest.mark.trials
@pytest.mark.parametrize("platform", DAMAGED)
def test_damaged_files_of_a_bundle_are_refused_in_one_line(platform: str, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform=platform)
    for name, contents in DAMAGED[platform].items():
        before = (bundle / name).read_bytes()
        for content in contents:
            (bundle / name).write_bytes(content)
            with pytest.raises(InputError) as refused:
                platforms.tasks_of(bundle, tmp_path)
            assert len(str(refused.value).splitlines()) == 1
            assert len(str(refused.value)) < 1000
        (bundle / name).write_bytes(before)
    assert platforms.tasks_of(bundle, tmp_path)[1]


@pytest.mark.parametrize("answer", [b"[]", b'[{"a": 1}]', b'["1"]', b"[NaN]", b'{"a": [1]}', b"[[1, 2]]"])
def test_a_damaged_answer_of_a_sample_is_refused(answer: bytes, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform="grand-challenge")
    next(bundle.rglob("job-00001/output/embedding.json")).write_bytes(answer)
    with pytest.raises(InputError, match="neither lists of equally many numbers nor objects of numbers"):
        check(bundle)


@pytest.mark.parametrize(
    ("platform", "name", "content"),
    [
        ("grand-challenge", "Dockerfile", 'ENTRYPOINT ["\\u0000"]\n'),
        ("codabench", "scoring_program/metadata.yaml", 'command: "python3 a\\0b"'),
    ],
)
def test_a_null_character_in_a_command_is_refused(platform: str, name: str, content: str, tmp_path: Path) -> None:
    bundle = new(competition(tmp_path), tmp_path / "bundle", platform=platform)
    (bundle / name).write_text(content)
    with pytest.raises(InputError, match=r"has a null character\. Remove it"):
        check(bundle)


def test_aliases_of_yaml_count_each_time(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 30)]
    (tmp_path / "competition.yaml").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"has more than 100,000 keys and values\. Shorten it"):
        check(tmp_path)


def test_the_archives_of_a_bundle_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "MOST_BYTES", 2**20)
    bundle = by_hand(tmp_path)
    assert len(platforms.tasks_of(bundle, tmp_path)[1]) == 1
    with zipfile.ZipFile(bundle / "program.zip", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2**20))
    with pytest.raises(InputError, match=r"program\.zip holds more than .* All archives of a bundle count together"):
        check(bundle)
    text = (bundle / "competition.yaml").read_text()
    (bundle / "competition.yaml").write_text(text.replace("index: 0", "index: ../../x", 1))
    (tmp_path / "room").mkdir()
    with pytest.raises(InputError):
        platforms.tasks_of(bundle, tmp_path / "room")
    assert not (tmp_path / "x").exists()


def test_deep_folders_and_special_files_in_a_bundle_are_refused(tmp_path: Path) -> None:
    bundle = by_hand(tmp_path)
    os.mkfifo(bundle / "pipe")
    with pytest.raises(InputError, match=r"pipe is a pipe, a socket or a device\. Remove it"):
        check(bundle)
    (bundle / "pipe").unlink()
    with zipfile.ZipFile(tmp_path / "deep.zip", "w") as archive:
        archive.writestr("competition.yaml", "")
        archive.writestr("a/" * 950 + "f", "")
    with pytest.raises(InputError, match=r"deep\.zip has folders below more than 100 others"):
        check(tmp_path / "deep.zip")
    (bundle / Path(*["a"] * 500)).mkdir(parents=True)
    with pytest.raises(InputError, match="has folders below more than 100 others"):
        check(bundle)
    remove(bundle / "a")


def test_a_program_cannot_fill_the_memory_by_what_it_shows(tmp_path: Path) -> None:
    run, program = ProgramRun(0, "", ""), Program([], {"/app/output": tmp_path}, "/app/output")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(OSError, match="sparse has another name, or the files have more than 33,554,432 bytes"):
        codabench.shown(program, run)
    (tmp_path / "sparse").unlink()
    (tmp_path / "one").write_text("1")
    (tmp_path / Path(*["a"] * 500)).mkdir(parents=True)
    with pytest.raises(InputError, match="has folders below more than 100 others"):
        codabench.shown(program, run)
    remove(tmp_path / "a")


def test_a_sample_cannot_name_files_of_the_organizer(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "answer.json").write_text("[1, 2]")
    sample = tmp_path / "sample"
    sample.mkdir()
    job = {
        "pk": "..",
        "inputs": [{"image": {"name": "a.mha"}}],
        "outputs": [{"interface": {"relative_path": "../secret/answer.json"}}],
    }
    (sample / "predictions.json").write_text(json.dumps([job]))
    with pytest.raises(InputError, match=r"answer\.json, outside of the bundle"):
        form_of(sample)
