"""Write the table of other libraries' own tests in migration.md, beside this script, from a run of these tests.

TIEPROOF_PEERS names a folder of clones (tests/tools/peer_tests.py). With names of libraries as arguments, only their
rows are written again.
"""

import re
import sys
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).with_name("migration.md")
TESTS = PAGE.parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "tools")]
try:
    from peer_tests import KNOWN, LACKING, OURS, THEIRS, explained, run
finally:
    del sys.path[:2]


def row(name: str) -> str:
    """The row of a library: how many tests pass, how many fail for each kind of reason, and the reasons."""
    passed, failures = run(name)
    found = explained(name, failures)
    kinds = Counter(why for why, _ in found)
    numbers = " | ".join(f"{count:,}" for count in (passed, *(kinds[why] for why in (OURS, THEIRS, LACKING))))
    sentences = "; ".join(f"{count}: {text}" for (_, text), count in Counter(found).items())
    return f"| {name} {KNOWN[name].tested} | {numbers} | {sentences} |"


def rows(page: str) -> dict[str, str]:
    """The rows of the page by the names of the libraries."""
    names = (f"| {name} " for name in KNOWN)
    found = re.findall(rf"(?m)^(?:{'|'.join(map(re.escape, names))}).*\|.*\|.*\|.*\|.*\|$", page)
    return {line.split()[1]: line for line in found}


def main() -> None:
    """Write the rows."""
    for name in sys.argv[1:] or KNOWN:
        found = row(name)  # this takes minutes, in which somebody may change the page
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page.replace(rows(page)[name], found), encoding="utf-8")
        print(found)


if __name__ == "__main__":
    main()
