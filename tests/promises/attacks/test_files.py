"""Files and folders by which a program, or whoever made a file, tries to stop tieproof or to read other files."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import h5py
import numpy as np
import pytest

import tieproof as tp
from competitions import HONEST, organize, program
from tieproof.inputs.readers import hdf5, read_embeddings
from tieproof.trials.competition.inspection.tasks import MOST_BYTES, written_text
from tieproof.trials.competition.submissions import SubmissionError, SubmissionLimits, read_vectors
from tieproof.trials.judge import judge
from tieproof.trials.sandbox import folders
from tieproof.trials.sandbox.folders import PREFIX, remove, size_of, sweep, temporary_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs folders and processes as Unix has them")

NOBODY = 65534
NAME = "d" * 200
"""A name of which twenty, one in another, are a longer path than Linux accepts."""

NESTING = f"""
def nest(folder, depth):
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("{NAME}", dir_fd=here)
        inner = os.open("{NAME}", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    file = os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(file, b"12345")
    os.close(file)
    os.close(here)
"""


def nest(folder: Path, depth: int) -> None:
    """Make folders in folders, with a file of five bytes in the innermost."""
    defined: dict[str, Callable[[Path, int], None]] = {}
    exec(f"import os\n{NESTING}", defined)
    defined["nest"](folder, depth)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made."""
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(found))
    return found


def as_nobody(task: Callable[[], None]) -> None:
    """Do something in another process, as an ordinary user if the tests run as root."""
    number = os.fork()
    if number == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            task()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitpid(number, 0)[1] == 0


# Deep folders


def test_deep_folders_cannot_end_the_judge(tmp_path: Path, temporary: Path) -> None:
    code = HONEST.replace("import os, sys\n", f"import os, sys\n{NESTING}\nnest('.', 1500)\n")
    competition = organize(tmp_path / "organizer", judge_batch=100, judge_repeats=0)
    judgment = judge(competition, program(tmp_path / "team", code), name="deep", out=tmp_path / "judged")
    assert judgment.refused == ({},)
    assert list(temporary.iterdir()) == []


@pytest.mark.trials
@pytest.mark.parametrize("depth", [1, 1500, 5000])
def test_deep_folders_are_measured_and_removed(depth: int, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    nest(folder, depth)
    (folder / "other").write_bytes(b"123")
    (folder / "link").symlink_to(folder)
    assert size_of(folder) == 5 + 3 + len(str(folder))  # a link has the bytes of its target's name
    remove(folder)
    assert not folder.exists()


def test_a_folder_that_was_moved_ends_the_count(tmp_path: Path) -> None:
    """The way back up would lead out of the folder that is measured."""
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    for place in (folder / "inner" / "innermost", elsewhere):
        place.mkdir(parents=True)
    (folder / "inner" / "innermost" / "file").touch()
    walk = folders.walk(folder, folders.READ)
    first = next(walk)
    assert first.name == "file"
    os.rename(folder / "inner" / "innermost", elsewhere / "innermost")
    assert list(walk) == []


def test_too_many_files_are_too_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST_FILES", 3)
    for number in range(3):
        (tmp_path / str(number)).touch()
    assert size_of(tmp_path) == 0
    (tmp_path / "one more").touch()
    assert size_of(tmp_path) == sys.maxsize


def test_a_shown_folder_is_not_deep_and_has_only_files(tmp_path: Path) -> None:
    competition = organize(tmp_path / "organizer", judge_batch=100)
    system = program(tmp_path / "team", HONEST)
    shown = tmp_path / "shown"
    shown.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        os.mkfifo(shown / "pipe")
        with pytest.raises(tp.InputError, match=r"pipe is a pipe, a socket or a device\. Remove it"):
            judge(competition, system, name="a", out=tmp_path / "judged", show=[shown])
        (shown / "pipe").unlink()
        before = os.getcwd()
        os.chdir(shown)  # an address is short
        listening.bind("socket")
        os.chdir(before)
        with pytest.raises(tp.InputError, match=r"socket is a pipe, a socket or a device"):
            judge(competition, system, name="a", out=tmp_path / "judged", show=[shown])
        (shown / "socket").unlink()
    nest(shown, 1500)
    with pytest.raises(tp.InputError, match=r"has a folder that cannot be listed \(File name too long\)"):
        judge(competition, system, name="a", out=tmp_path / "judged", show=[shown])
    assert not (tmp_path / "judged").exists()
    remove(shown)


# Permissions and names


def test_folders_without_permissions_are_measured_and_removed() -> None:
    def task() -> None:
        with temporary_folder() as folder:
            inner = folder / "inner" / "innermost"
            inner.mkdir(parents=True)
            (inner / "file").write_bytes(b"12345")
            for place in (inner / "file", inner, folder / "inner", folder):
                place.chmod(0)
            assert size_of(folder) == 5
            folder.chmod(0o500)
        assert not folder.exists()

    as_nobody(task)


@pytest.mark.parametrize(
    "name", [b"\xff\xfe", b"\n", b"-rf", b"*", b"a\\b", b"'\"$(rm)", b" ", b"\xed\xa0\x80", 255 * b"x"]
)
def test_names_in_any_bytes_are_removed(name: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / os.fsdecode(name)).mkdir(parents=True)
    (folder / os.fsdecode(name) / os.fsdecode(name)).touch()
    remove(folder)
    assert not folder.exists()


@pytest.mark.parametrize("at_the_top", [False, True])
def test_links_are_not_followed(at_the_top: bool, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o500)
    folder = tmp_path / "folder"
    if at_the_top:
        folder.symlink_to(kept)
    else:
        folder.mkdir()
        (folder / "link").symlink_to(kept)
        os.mkfifo(folder / "pipe")
    remove(folder)
    assert folder.is_symlink() == at_the_top
    assert kept.stat().st_mode & 0o777 == 0o500


# Folders that a killed process left behind

LEAVING = """
import sys, time
from tieproof.trials.sandbox.folders import temporary_folder
with temporary_folder() as folder:
    (folder / "item").write_text("of the test set")
    print(folder, flush=True)
    time.sleep(600)
"""


def test_what_a_killed_judge_left_is_swept_and_nothing_else(tmp_path: Path, temporary: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LEAVING],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert process.stdout is not None
    left = Path(process.stdout.readline().rstrip("\n"))
    others = [
        temporary / "another",
        temporary / f"judge-{PREFIX}",
        temporary / f"{PREFIX}link",
        tmp_path / "elsewhere",
    ]
    for place in others[:2] + others[3:]:
        place.mkdir()
    others[2].symlink_to(others[3])
    (others[3] / "file").touch()
    with temporary_folder() as own:
        sweep()
        assert left.is_dir()
        assert own.is_dir()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert (left / "item").exists()
        nest(left, 1500)
        sweep()
        assert not left.exists()
        assert own.is_dir()
    assert sorted(temporary.iterdir()) == sorted(others[:3])
    assert (others[3] / "file").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make files for others")
def test_a_folder_of_another_user_is_not_swept(temporary: Path) -> None:
    foreign = temporary / f"{PREFIX}foreign"
    foreign.mkdir()
    os.chown(foreign, NOBODY, NOBODY)
    sweep()
    assert foreign.exists()


def test_a_folder_that_is_swept_as_soon_as_it_is_made(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process removed it before this one could lock it, and this one stopped."""
    made: list[str] = []

    def mkdtemp(prefix: str) -> str:
        made.append(tempfile.mkdtemp(prefix=prefix))
        if len(made) == 1:
            sweep()
        return made[-1]

    monkeypatch.setattr(folders, "mkdtemp", mkdtemp)
    with temporary_folder() as folder:
        assert [os.path.realpath(made[1])] == [str(folder)] == [str(each.resolve()) for each in temporary.iterdir()]


def test_a_judge_sweeps_when_it_starts(tmp_path: Path, temporary: Path) -> None:
    left = temporary / f"{PREFIX}left"
    left.mkdir()
    nest(left, 20)
    competition = organize(tmp_path / "organizer", judge_batch=100, judge_repeats=0)
    judge(competition, program(tmp_path / "team", HONEST), name="ours", out=tmp_path / "judged")
    assert list(temporary.iterdir()) == []


# Libraries that run code in files


@pytest.mark.parametrize("version", ["1.13.0", "2.5.1+cu121", "2.9.1"])
def test_a_torch_that_runs_code_reads_no_file(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2025-32434 and CVE-2026-24747 concern `torch.load(weights_only=True)` before 2.6 and 2.10."""
    torch = ModuleType("torch")
    torch.__dict__["__version__"] = version
    monkeypatch.setitem(sys.modules, "torch", torch)
    (tmp_path / "a.pt").write_bytes(b"PK")
    with pytest.raises(
        tp.InputError, match=rf"a\.pt is not read with torch {re.escape(version)}, .* install torch 2\.10"
    ):
        read_embeddings(tmp_path / "a.pt")


# Files that crash the HDF5 library

ENDS = {
    "at once": "import os; os.abort()",
    "in an answer": "import os, pickle; os.write(1, pickle.dumps(bytes(99))[:50])",
    "before a question": "pass",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_crash_of_the_hdf5_library_is_an_error(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.eye(3)
    with monkeypatch.context() as crashing:
        crashing.setattr(hdf5, "CODE", ENDS[end])
        crashing.setattr(hdf5, "_PROCESSES", {})
        for _ in range(2):
            with pytest.raises(tp.InputError, match=r"a\.h5 cannot be read as an HDF5 file .*damaged or cut short"):
                read_embeddings(tmp_path / "a.h5")
    assert read_embeddings(tmp_path / "a.h5").tolist() == np.eye(3).tolist()


def test_processes_that_were_forked_have_their_own_reader(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.eye(3)
    assert len(read_embeddings(tmp_path / "a.h5")) == 3
    number = os.fork()
    if number == 0:
        os._exit(int(len(read_embeddings(tmp_path / "a.h5")) != 3))
    assert len(read_embeddings(tmp_path / "a.h5")) == 3
    assert os.waitpid(number, 0)[1] == 0


# Files of scores that a scoring program wrote


def test_a_file_of_scores_cannot_lead_elsewhere_or_never_end(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"answer": 42}')
    link, hard, pipe, long = (tmp_path / name for name in ("link", "hard", "pipe", "long"))
    link.symlink_to(secret)
    os.mkfifo(pipe)
    with long.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    for place in (link, pipe, long, tmp_path, tmp_path / "absent", Path("/dev/zero")):
        with pytest.raises(OSError, match="is not a regular file of at most 1,048,576 bytes"):
            written_text(place)
    assert written_text(secret) == '{"answer": 42}'
    os.link(secret, hard)
    with pytest.raises(OSError, match="is not a regular file"):
        written_text(hard)


# Files of data that name other files

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """An empty folder for files that a stranger gave, beside a file that is none of the stranger's business."""
    with h5py.File(tmp_path / "private.h5", "w") as file:
        file["x"] = VECTORS
    found = tmp_path / "given"
    found.mkdir()
    return found


def virtual(path: Path, source: str, name: str = "x") -> None:
    with h5py.File(path, "w") as file:
        layout = h5py.VirtualLayout(VECTORS.shape, VECTORS.dtype)
        layout[:] = h5py.VirtualSource(source, name, VECTORS.shape)
        file.create_virtual_dataset("embeddings", layout)


def by_path(given: Path) -> None:
    virtual(given / "data.h5", "../private.h5")


def by_absolute_path(given: Path) -> None:
    virtual(given / "data.h5", str(given.parent / "private.h5"))


def by_link(given: Path) -> None:
    (given / "source.h5").symlink_to(given.parent / "private.h5")
    virtual(given / "data.h5", "source.h5")


def by_linked_folder(given: Path) -> None:
    (given / "folder").symlink_to(given.parent)
    virtual(given / "data.h5", "folder/private.h5")


def by_external_link_in_a_source(given: Path) -> None:
    with h5py.File(given / "source.h5", "w") as file:
        file["x"] = h5py.ExternalLink("../private.h5", "x")
    virtual(given / "data.h5", "source.h5")


def by_external_link_to_a_group(given: Path) -> None:
    with h5py.File(given / "source.h5", "w") as file:
        file["group"] = h5py.ExternalLink("../private.h5", "/")
    virtual(given / "data.h5", "source.h5", "group/x")


def by_virtual_source(given: Path) -> None:
    virtual(given / "source.h5", "../private.h5")
    virtual(given / "data.h5", "source.h5", "embeddings")


def by_working_folder(given: Path) -> None:
    virtual(given / "data.h5", "private.h5")


@pytest.mark.parametrize(
    "way",
    [
        by_path,
        by_absolute_path,
        by_link,
        by_linked_folder,
        by_external_link_in_a_source,
        by_external_link_to_a_group,
        by_virtual_source,
        by_working_folder,
    ],
)
def test_an_hdf5_file_cannot_take_data_from_elsewhere(
    way: Callable[[Path], None], given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(given.parent)
    way(given)
    with h5py.File(given / "data.h5") as file:
        assert np.array_equal(file["embeddings"], VECTORS)  # the library reads the other file
    for read in (
        lambda: read_embeddings(given / "data.h5"),
        lambda: tp.open(given / "data.h5").read(0, 4),
        lambda: tp.evaluate(h5py.File(given / "data.h5")["embeddings"], [0, 0, 1, 1]),
    ):
        with pytest.raises(tp.InputError, match=r"takes data from .*private\.h5, which is outside the folder"):
            read()


def test_a_folder_that_the_user_sets_may_have_sources(given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HDF5_VDS_PREFIX", str(given.parent))
    virtual(given / "data.h5", "private.h5")
    assert np.array_equal(read_embeddings(given / "data.h5"), VECTORS)


def test_external_links_and_external_storage_are_not_followed(given: Path) -> None:
    path = given / "data.h5"
    with h5py.File(path, "w") as file:
        file["embeddings"] = h5py.ExternalLink("../private.h5", "x")
    with pytest.raises(tp.InputError, match="contains no arrays"):
        read_embeddings(path)
    with pytest.raises(tp.InputError):
        read_embeddings(f"{path}:embeddings")
    path.with_name("raw").write_bytes(bytes(48))
    with h5py.File(path, "w") as file:
        file.create_dataset("embeddings", VECTORS.shape, "f4", external=[(str(given / "raw"), 0, 48)])
    with pytest.raises(tp.InputError, match=r"its data is in the separate file"):
        read_embeddings(path)


# Files of arrays


def npy(header: bytes, length: int | None = None, version: int = 1) -> bytes:
    """The beginning of a NumPy file with any header, which claims to have any length."""
    claimed = len(header) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + claimed.to_bytes(2 if version == 1 else 4, "little") + header


HEADERS: dict[str, bytes] = {
    "signs that exhaust Python's parser": npy(b"-" * 9000 + b"1\n"),
    "sums that exhaust Python's stack": npy(b"1+" * 4500 + b"1\n"),
    "a header of 4 GiB, of which 64 MiB are there": npy(b"{" + bytes(64 * 2**20), 2**32 - 1, version=2),
    "a dimension with more digits than Python reads": npy(
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s, 1), }\n" % (b"9" * 5000)
    ),
}


@pytest.mark.parametrize("extension", [".npy", ".npz"])
@pytest.mark.parametrize("what", HEADERS)
def test_a_header_cannot_stop_a_reader_or_fill_its_memory(what: str, extension: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{extension}"
    if extension == ".npy":
        path.write_bytes(HEADERS[what])
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", HEADERS[what])
    tracemalloc.start()
    try:
        with pytest.raises(tp.InputError, match="is damaged or cut short"):
            read_embeddings(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * 2**20


def test_ids_that_are_no_characters_are_refused(tmp_path: Path) -> None:
    ids = np.array([65, sys.maxunicode + 1, 66], dtype=np.uint32).view("<U1")
    np.savez(tmp_path / "embeddings.npz", ids=ids, embeddings=np.eye(3))
    with pytest.raises(
        SubmissionError, match=r"The ids of embeddings\.npz contain bytes at \[1\] that are not Unicode"
    ):
        read_vectors(tmp_path / "embeddings.npz", ["A", "B", "C"], SubmissionLimits(10**6, 10))


def test_an_archive_cannot_show_one_array_to_one_program_and_another_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.npz"
    np.savez(path, ids=np.array(["A", "B"]), embeddings=np.eye(2))
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings(action="ignore"):
        archive.writestr("embeddings.npy", archive.read("embeddings.npy")[:-1] + b"\x41")
    said = r"embeddings\.npz contains the array 'embeddings' more than once"
    with pytest.raises(tp.InputError, match=said):
        read_embeddings(path)
    with pytest.raises(SubmissionError, match=said):
        read_vectors(path, ["A", "B"], SubmissionLimits(10**6, 10))


@pytest.mark.parametrize("extension", [".npy", ".fbin"])
def test_a_file_that_is_cut_short_after_it_was_read_ends_nothing(extension: str, tmp_path: Path) -> None:
    """A mapped file would end the process by SIGBUS."""
    path = tmp_path / f"x{extension}"
    vectors = np.random.default_rng(0).normal(size=(5000, 4)).astype("<f4")
    if extension == ".npy":
        np.save(path, vectors)
    else:
        path.write_bytes(np.array(vectors.shape, "<u4").tobytes() + vectors.tobytes())
    read = read_embeddings(path)
    os.truncate(path, 20)
    assert np.array_equal(read, vectors)
