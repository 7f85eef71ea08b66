"""The page of attacks, from the lists of the audit. Writes attacks.md."""

from pathlib import Path

from tieproof.trials.audit import ATTACKS, Verdict

PAGE = Path(__file__).with_name("attacks.md")

SECTIONS = {
    "blind": """# Attacks and verdicts of an audit

[An audit](audit.md) tries these attacks on an evaluator. `--attack` names those to try, and `--skip` those to leave
out.

## Systems that never look at their input

Each is tried on labels in six layouts: sorted by class, interleaved, reversed, shuffled, and sorted with classes of
unequal size, the largest first and the smallest first. A blind system knows nothing of the classes, but the order of
the data may follow them. Attacks on the lists of a run are tried only if the evaluator takes a run, attacks on a new
process only with `--isolate`, and three and six vectors only with `--thorough`. Zeros and random vectors after a good
system must gain over random embeddings and over the same system without the good one before it.

| attack | what it hands in | why | seen in |
""",
    "order": """## The best order of the data

If the evaluator refuses equal vectors, the search takes equidistant ones. It reads scores, which a blind system
cannot do, so it shows only that a number depends on the order.

| attack | what it hands in | why | seen in |
""",
    "must not matter": """## Changes that must not matter

They are tried on tied data, on random data and on handwritten digits. The names of documents and queries move with
them, so that a hash of names gives the same number for permuted items. "Splitting queries" compares the number with
the mean over two halves, which have equally many queries of every class. A number that is not a mean over queries
fails this test, which is a fault only if a mean was declared. "Relabelling" uses only existing class numbers if the
evaluator refuses others, and also tries numbers that are 256 and 65,536 apart if it accepts them. "Zeros in the
middle of a good system" leaves the corners of the array as they are, which is all that its `repr` shows; the number
counts as remembered if it is that of the good system, and another one in another order.

| attack | what is changed | why | seen in |
""",
    "truth": """## The true interval

With `--measure`, and `--distance` for embeddings, the evaluator's numbers are compared with those of tieproof.

| attack | what is compared | why | seen in |
""",
    "recall": """## Evaluators of recall

[Their lists](audit.md#evaluators-of-recall) are made up, so that the recall of each is known.

| attack | what it hands in, or changes | why | seen in |
""",
}
"""What stands before the table of each kind of attacks."""

VERDICTS = """## Verdicts

The first three are not faults. The documents of a run are named in the order of the items, and most layouts sort the
items by class. An evaluator that breaks ties by the names of documents, as trec_eval does, is then exploitable. Its
finding has a second verdict, `renamed`, which holds for random names.

| verdict | meaning |
|---|---|
"""


def render() -> str:
    """The page."""
    parts = ["<!-- Written by docs/write_attacks.py from src/tieproof/trials/attacks.toml. -->\n"]
    for kind, introduction in SECTIONS.items():
        rows = (f"| {a.name} | {a.does} | {a.why} | {a.source} |\n" for a in ATTACKS.values() if a.kind == kind)
        parts.append(f"{introduction}|---|---|---|---|\n{''.join(rows)}")
    verdicts = (f"| {verdict} | {verdict.meaning} |\n" for verdict in Verdict)
    return "\n".join([*parts, VERDICTS + "".join(verdicts)])


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
