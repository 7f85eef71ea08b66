"""The page of verdicts, from the rules that give them. Writes verdicts.md."""

from pathlib import Path

from tieproof.results.verdicts import RULES

PAGE = Path(__file__).with_name("verdicts.md")

INTRODUCTION = """<!-- Written by docs/write_verdicts.py from the rules in src/tieproof/results/verdicts.py. -->

# Verdicts

What [tp.compare](compare.md) says of two systems and a measure. The rules are tried from the first on, and the first
whose condition holds gives the verdict; the last one holds for all that is left, so that there is always exactly one.
"Significant" is a corrected p-value of at most 1 - confidence. All is seen from the system that is ahead in
expectation, so that it does not matter which of two is named first.

| verdict | where | what it says |
|---|---|---|
"""


def render() -> str:
    """The page."""
    return INTRODUCTION + "".join(f"| *{rule.name}* | {rule.condition} | {rule.means} |\n" for rule in RULES)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
