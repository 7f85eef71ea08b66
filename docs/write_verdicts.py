"""The table of verdicts on the page of comparisons, from the rules that give them. Rewrites it in compare.md."""

from pathlib import Path

from tieproof.analyses.compare.verdicts import RULES

PAGE = Path(__file__).with_name("compare.md")
HEADING = "| verdict | condition | meaning |\n|---|---|---|\n"


def render() -> str:
    """The page."""
    before, _, after = PAGE.read_text(encoding="utf-8").partition(HEADING)
    _, _, rest = after.partition("\n\n")
    rows = (f"| *{rule.name}* | {rule.condition} | {rule.means} |\n" for rule in RULES)
    return f"{before}{HEADING}{''.join(rows)}\n{rest}"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
