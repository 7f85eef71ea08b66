"""`tieproof noise`, and `--noise` of the commands that evaluate."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from command_line import exit_status as run

ROWS = np.random.default_rng(3).normal(size=(40, 6)).astype(np.float32)
LABELS = np.arange(40) % 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", ROWS)
    np.save("again.npy", ROWS.astype(np.float16))
    np.save("labels.npy", LABELS)
    Path("qrels.txt").write_text("q 0 a 1\nq 0 b 0\n", encoding="utf-8")
    Path("run.txt").write_text("q Q0 a 1 0.9 x\nq Q0 b 2 0.8 x\n", encoding="utf-8")
    return tmp_path


def noise_of(*command: str) -> Any:
    assert run(*command, "--json", "result.json") == 0
    return json.loads(Path("result.json").read_text(encoding="utf-8"))


@pytest.mark.usefixtures("folder")
def test_evaluate() -> None:
    for given, noise in (("0.25", 0.25), ("bfloat16", "bfloat16"), ("again.npy", ROWS.astype(np.float16))):
        told = noise_of("evaluate", "rows.npy", "labels.npy", "-m", "AP", "--noise", given)
        assert told == tp.evaluate(ROWS, LABELS, measures=["AP"], noise=noise).to_dict()


@pytest.mark.usefixtures("folder")
def test_run(capsys: pytest.CaptureFixture[str]) -> None:
    told = noise_of("run", "qrels.txt", "run.txt", "-m", "RR", "--noise", "0.1")
    assert told["measures"]["RR"]["noise"] == {"lower": 0.5, "upper": 1.0}
    for wrong in ("-1", "nan", "few"):
        assert run("run", "qrels.txt", "run.txt", "--noise", wrong) == 2
        assert "number" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_noise(capsys: pytest.CaptureFixture[str]) -> None:
    told = noise_of("noise", "rows.npy", "again.npy", "labels.npy", "-m", "AP")
    report = tp.noise(ROWS, ROWS.astype(np.float16), LABELS, measures=["AP"])
    assert told == json.loads(report.to_json())
    assert report.first["AP"].noise.lower <= report.second["AP"].lower <= report.first["AP"].noise.upper
    assert run("noise", "rows.npy", "again.npy", "labels.npy", "-m", "AP") == 0
    assert capsys.readouterr().out.endswith(f"{report}\n")
    assert run("noise", "rows.npy", "labels.npy", "labels.npy") == 2
    assert "labels.npy" in capsys.readouterr().err
