"""Which steps the processor time of an evaluation goes to, as shares that `perf` of Linux samples.

    python benchmarks/steps.py

The cases are those of product.py. Without perf, nothing is measured.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from measuring import Call, Measured, parse, report, table, where
from product import cases

SIZES = {"count": 8_000, "dimensions": 512}

STEPS = {
    "pages": r"\[k\]",
    "product": r"gemm|_by_(?:\d+_bits|loop)|differ_|add_differing|short_sums|sift_|multiply_codes",
    "convert": r"encode|aligned_contig_cast|row_units|digest|transpose",
    "near": r"reaching|list_|count_in_|count_near|leave_out|place_listed|add_up",
    "buckets": r"table|bucket|closer|show_|widen|slots|count_exactly|compare_|level|nearness_of",
    "open": r"settle|place_|leading|multiply_pairs|dots_of|products|exact",
    "ranks": r"sort|fill_guide|reverse|partition|pair_up|put_entries|merge_ends|ties_of|find_|sum_|scan_block",
    "Python": r"",
}
"""The functions of each step, which is the first one that fits; NumPy is counted as Python."""

SAMPLES = 3000  # per second of processor time


def shares(call: Call) -> dict[str, float]:
    """The share of each step in the processor time of a call."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "samples"))
        record = ["perf", "record", "--quiet", "--freq", str(SAMPLES), "--pid", str(os.getpid()), "--output", file]
        with subprocess.Popen(record) as recording:
            time.sleep(1.0)  # perf needs a moment to begin
            call()
            recording.send_signal(signal.SIGINT)
        show = ["perf", "report", "--stdio", "--no-children", "--input", file, "--fields", "overhead,sym"]
        text = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    found = dict.fromkeys(STEPS, 0.0)
    for share, function in re.findall(r"^ *([\d.]+)% +(.+?) *$", text, re.MULTILINE):
        found[next(step for step, names in STEPS.items() if re.search(names, function))] += float(share) / 100
    return found


def render(measured: Measured) -> str:
    """The table of shares."""
    title = f"percent of processor time, N = {measured['count']:,}, D = {measured['dimensions']}"
    rows = [(row["case"], *(f"{100 * row['shares'][step]:.0f}" for step in STEPS)) for row in measured["cases"]]
    return table(title, ("case", *STEPS), rows) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, [case.name for case in cases(0, 0)])
    if shutil.which("perf") is None:
        print("perf is not installed, so nothing is measured.")
        return
    measured: Measured = {"count": options.count, "dimensions": options.dimensions, "cases": []}
    for case in cases(options.count, options.dimensions):
        if case.name in options.only:
            _, evaluate = case.prepare()
            measured["cases"].append({"case": case.name, "shares": shares(evaluate)})
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
