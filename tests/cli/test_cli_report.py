"""`--report` on the command line: the report that each command writes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tieproof as tp
from command_line import Outcome
from tieproof import cli

pytest.importorskip("jinja2")


Run = Callable[..., Outcome]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the commands read."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    np.save("embeddings.npy", random.random((30, 6)) < 0.5)
    np.save("other.npy", random.random((30, 6)) < 0.5)
    np.save("labels.npy", np.arange(30) // 5)
    Path("texts.txt").write_text("\n".join(f"the text of number {at}" for at in range(30)))
    Path("qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n")
    Path("a.run").write_text("q1 Q0 d1 1 0.5 a\nq1 Q0 d2 2 0.5 a\nq2 Q0 d3 1 0.5 a\n")
    Path("b.run").write_text("q1 Q0 d1 2 0.5 b\nq1 Q0 d2 1 0.9 b\nq2 Q0 d3 1 0.5 b\n")
    Path("documents.txt").write_text("d1 what ties do\nd2\thow to cook rice\n")
    return tmp_path


@pytest.fixture
def run(files: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in that folder."""

    def call(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as stopped:
            cli.main(arguments)
        assert isinstance(stopped.value.code, int)
        return Outcome(stopped.value.code, *capsys.readouterr())

    return call


COMMANDS = {
    "evaluate": "evaluate embeddings.npy labels.npy -d hamming --items texts.txt",
    "gallery": "evaluate embeddings.npy labels.npy --gallery other.npy --gallery-labels labels.npy -d hamming "
    "--items texts.txt --gallery-items texts.txt",
    "run": "run qrels.txt a.run --gallery-items documents.txt",
    "compare": "compare --qrels qrels.txt a.run b.run -m RR",
    "collisions": "collisions embeddings.npy labels.npy -d hamming",
    "audit": "audit tieproof.trials.audit.examples:lower_bound -a zeros --items 60",
}


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_pages(run: Run, name: str) -> None:
    status, _, complaint = run(*COMMANDS[name].split(), "--report", "page.html")
    assert (status, complaint) == (0, "")
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.endswith("</html>\n")
    assert ("the text of number " in page) == (name in ("evaluate", "gallery"))
    assert ("how to cook rice" in page) == (name == "run")
    assert ("each with its" in page) == (name in ("evaluate", "gallery", "run"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("evaluate embeddings.npy labels.npy --items texts.txt", "add --report, or leave them out"),
        ("evaluate embeddings.npy labels.npy --report page.txt", "Use one of: .html"),
        ("evaluate embeddings.npy labels.npy --report page.html --items labels.txt", "labels.txt does not exist"),
        (
            "evaluate embeddings.npy labels.npy --report page.html --items three.txt",
            "items has 3 entries, but 30 were evaluated",
        ),
        ("run qrels.txt a.run --report page.html --items qrels.txt", "has name 'q1' a second time on line 2"),
        ("run qrels.txt a.run --report page.html --json page.html", "page.html would be written twice"),
    ],
)
def test_refused(run: Run, arguments: str, says: str) -> None:
    Path("three.txt").write_text("a\nb\nc")
    status, _, complaint = run(*arguments.split())
    assert status == 2
    assert says in complaint
    assert complaint.count("\n") == 1
    assert not Path("page.html").exists()


def test_the_same_page_as_from_python(run: Run) -> None:
    run(*COMMANDS["evaluate"].split(), "--report", "page.html")
    vectors, labels = np.load("embeddings.npy"), np.load("labels.npy")
    texts = Path("texts.txt").read_text().split("\n")
    tp.evaluate(vectors, labels, distance="hamming").report(
        "own.html", items=texts, embeddings=vectors, labels=labels
    )
    assert Path("own.html").read_bytes() == Path("page.html").read_bytes()
