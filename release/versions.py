"""Run tests on versions of Python, each with the oldest and the newest versions of the dependencies.

All versions of Python use the same wheel. uv creates the environments: `lowest-direct` takes the oldest versions that
pyproject.toml allows and that have a wheel for this Python, and `highest` the newest versions. The results are
written to versions.json, which versions.md shows: `python release/versions.py --python python3.13 tests/engine`.
"""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = Path(__file__).with_name("versions.json")
UV = (sys.executable, "-m", "uv", "--quiet")
RESOLUTIONS = ("lowest-direct", "highest")

VERSIONS = """
import json, platform, sysconfig
from importlib.metadata import version
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(json.dumps([platform.python_version() + free, {name: version(name) for name in NAMES}]))
"""
NAMES = ("numpy", "threadpoolctl", "click", "rich")


def main() -> int:
    """Run the command line; the exit status is 1 if a test failed."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--python", action="append", required=True, help="path or version of a Python")
    asked.add_argument("--wheel", type=Path, help="wheel of tieproof for this machine; built by default")
    asked.add_argument(
        "--resolution", action="append", choices=RESOLUTIONS, help="versions of dependencies; both by default"
    )
    asked.add_argument("tests", nargs="*", help="folders of tests; all by default")
    given = asked.parse_args()
    tests, failed = given.tests or ["tests"], False
    with tempfile.TemporaryDirectory(prefix="versions-") as folder:
        wheel = given.wheel.resolve() if given.wheel else built(Path(folder))
        for number, (python, resolution) in enumerate(product(given.python, given.resolution or RESOLUTIONS)):
            try:
                made = tested(Path(folder, str(number)), wheel, python, resolution, tests)
            except subprocess.CalledProcessError as error:
                print(
                    f"{python}, {resolution}: no environment, since this failed: {shlex.join(error.cmd)}", flush=True
                )
                failed = True
                continue
            outcome = "failed" if made["exit"] else "passed"
            print(
                f"{made['python']}, {resolution}, {made['versions']['numpy']}: {outcome}", made["counts"], flush=True
            )
            keep(made)
            failed |= made["exit"] != 0
    return int(failed)


def built(folder: Path) -> Path:
    """Build a wheel for this machine in a folder."""
    subprocess.run([*UV, "build", "--wheel", "--out-dir", str(folder), "."], cwd=ROOT, check=True)
    return next(folder.glob("*.whl"))


def tested(folder: Path, wheel: Path, python: str, resolution: str, tests: list[str]) -> dict[str, Any]:
    """Create an environment in a folder, run tests in it, and return the versions and the results."""
    environment, report = folder / "environment", folder / "report.xml"
    install = [*UV, "pip", "install", "--python", str(environment)]
    subprocess.run([*UV, "venv", "--python", python, str(environment)], check=True)
    needed = ["--requirement", "pyproject.toml", "--extra", "test", "--no-build", "--resolution", resolution]
    subprocess.run([*install, *needed], cwd=ROOT, check=True)
    subprocess.run([*install, "--no-deps", str(wheel)], check=True)
    inside = str(environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    program = VERSIONS.replace("NAMES", repr(NAMES))
    said = subprocess.run([inside, "-c", program], check=True, capture_output=True, text=True).stdout
    version, versions = json.loads(said)
    wanted = ["--crossings", "all", "-m", "not heavy", f"--junit-xml={report}", *tests]
    run = [inside, "-m", "pytest", "-q", "-n", "auto", *wanted]
    alone = os.environ | {"PYTHONPATH": ""}  # no test may find the sources in place of the wheel
    done = subprocess.run(run, cwd=ROOT, env=alone, check=False)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": version,
        "resolution": resolution,
        "versions": versions,
        "tests": " ".join(tests),
        "counts": counts(report),
        "exit": done.returncode,
    }


def counts(report: Path) -> dict[str, int]:
    """The number of tests by their outcome; all 0 if pytest ended before it wrote its report."""
    if not report.exists():
        return {"passed": 0, "failed": 0, "skipped": 0}
    suite = next(ET.parse(report).iter("testsuite"))
    number = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    failed = number["failures"] + number["errors"]
    return {"passed": number["tests"] - failed - number["skipped"], "failed": failed, "skipped": number["skipped"]}


def keep(made: dict[str, Any]) -> None:
    """Write a run in place of an earlier one of the same system, Python, versions and tests."""
    same = ("system", "python", "resolution", "tests")
    runs = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() else []
    runs = [run for run in runs if any(run[name] != made[name] for name in same)]
    runs = sorted([*runs, made], key=lambda run: [run[name] for name in same])
    RUNS.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
