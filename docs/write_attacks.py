"""The page of attacks, from the lists of the audit. Writes attacks.md."""

from pathlib import Path

from tieproof.trials.audit import ATTACKS, Verdict

PAGE = Path(__file__).with_name("attacks.md")

SECTIONS = {
    "blind": """# Attacks and verdicts of an audit

[An audit](audit.md) tries these attacks on an evaluator. `--attack` names those to try, and `--skip` those to leave
out.

## Systems that never look at their input

They are tried on labels in five layouts: shuffled, interleaved, sorted with classes of unequal size, the largest
first and the smallest first, and two classes. A blind system knows nothing of the classes, but the order of the data
may follow them. Systems for ties of a special shape are tried only on shuffled labels, and much data only in one
order. Systems with a dimension for each item must also gain over random vectors of the same width. Attacks on the
lists of a run are tried only if the evaluator takes a run, attacks on a new process only with `--isolate`, and three
and six vectors only with `--thorough`. What is handed in after a good system must gain over random embeddings and
over the same system without the good one before it.

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
evaluator refuses others, and also tries numbers on both sides of what a byte, two and four bytes, float16 and float32
tell apart, if it accepts them; numbers above 2^17 only if it accepts numbers below 0, because others may need as many
places. Shifting and bytes are tried on whole numbers from 0 to 255. "Zeros in the middle of a good system" leaves the
corners of the array as they are, which is all that its `repr` shows, and "only the first rows of a good system" its
first half; the number counts as remembered if it is that of the good system, and another one in another order.

| attack | what is changed | why | seen in |
""",
    "good system": """## Systems that know the labels

They have equal vectors for all items of a class, or scores of 1 for relevant items and 0 for others. The one that
must not score less than random embeddings is tried with a little noise, too, and the better number counts. Which
queries are answered does not depend on how hard they are, but a system could leave out hard ones.

| attack | what it hands in | why | seen in |
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

The first four are not faults. The documents of a run are named in the order of the items, and most layouts sort the
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
