"""The page of verdicts, from the rules that give them. Writes verdicts.md."""

from pathlib import Path

from tieproof.analyses.compare.verdicts import RULES

PAGE = Path(__file__).with_name("verdicts.md")

INTRODUCTION = """<!-- Written by docs/write_verdicts.py from src/tieproof/analyses/compare/verdicts.py. -->

# Verdicts

[tp.compare](compare.md) gives a verdict on two systems for each measure. The rules below are tried from top to
bottom, and the first one whose condition is met gives the verdict. The last rule applies to all remaining cases, so
there is always exactly one verdict. "Significant" means that the corrected p-value is at most 1 - confidence. The
conditions refer to the system that is ahead in expectation, so it does not matter which of the two is named first.

| verdict | condition | meaning |
|---|---|---|
"""


def render() -> str:
    """The page."""
    return INTRODUCTION + "".join(f"| *{rule.name}* | {rule.condition} | {rule.means} |\n" for rule in RULES)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
