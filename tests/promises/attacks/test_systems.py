"""Words of a system by which it tries to change how it is run."""

from pathlib import Path

import pytest

from competitions import organize
from tieproof.errors import InputError
from tieproof.trials.judge import judge
from tieproof.trials.judge.systems import as_system

OPTIONS = (
    "--network=host image",
    "--privileged --volume=/:/host image",
    "-v/:/host image",
    "'image --privileged'",
    "'' image",
    "{items}",
    "oci-archive:/etc/image.tar",
    "docker://image",
    "/etc/image",
    "image:tag:other",
    "image@sha256:7",
)


@pytest.mark.parametrize("engine", ["podman", "docker"])
@pytest.mark.parametrize("words", OPTIONS)
def test_an_image_passes_no_options_to_its_engine(tmp_path: Path, engine: str, words: str) -> None:
    with pytest.raises(InputError, match="is not the name of an image"):
        judge(organize(tmp_path), f"{engine}:{words} run {{lines}}", name="ours", out=tmp_path / "judged")


IMAGES = (
    "image",
    "a/b_c/d-e.f:1.0-rc_1",
    "localhost:5000/image",
    "Registry.example:443/team/image:Tag@sha256:" + 64 * "0",
    "sha256:" + 64 * "0",
    64 * "0",
)


@pytest.mark.parametrize("image", IMAGES)
def test_names_of_images(image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert as_system(f"podman:{image} run {{lines}}").command == (image, "run", "{lines}")
