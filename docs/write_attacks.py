"""The attacks and verdicts on the page of audits, from the lists of the audit. Rewrites the end of audit.md."""

from pathlib import Path

from tieproof.trials.audit import ATTACKS, Verdict

PAGE = Path(__file__).with_name("audit.md")
START = "<!-- From here on written by docs/write_attacks.py from src/tieproof/trials/attacks.toml. -->\n"

ATTACKS_OF = {
    "blind": """
## All attacks

`--attack` names those to try, and `--skip` those to leave out. Each row has the attacks that are made for one
reason, and in parentheses where such an evaluator was seen. A finding says what its attack hands in, and so
does `ATTACKS[name].does`.

### Systems that never look at their input

They are tried on labels in five layouts: shuffled, interleaved, sorted with classes of unequal size, the largest
first and the smallest first, and two classes; those for ties of a special shape only on shuffled labels, and much
data only in one order, if zeros gain nothing. Attacks on the lists of a run are tried only if the evaluator takes a
run, attacks on a new process only with `--isolate`, and three and six vectors only with `--thorough`.
""",
    "order": """
### The best order of the data

The search reads scores, which a blind system cannot do, so it shows only that a number depends on the order.
""",
    "must not matter": """
### Changes that must not matter

They are tried on tied data, on random data and on handwritten digits. The names of documents and queries move with
them. A number that is not a mean over queries fails "splitting queries", which is a fault only if a mean was
declared. "Relabelling" also tries numbers on both sides of what a byte, two and four bytes, float16 and float32 tell
apart, if the evaluator accepts them; numbers above 2^17 only if it accepts numbers below 0. Shifting and bytes are
tried on whole numbers from 0 to 255, and other sizes only if permuting items changes nothing.
""",
    "good system": """
### Systems that know the labels

They have equal vectors for all items of a class, or scores of 1 for relevant items and 0 for others. The one that
must not score less than random embeddings is tried with a little noise, too, and the better number counts.
""",
    "truth": """
### The true interval

With `--measure`, and `--distance` for embeddings, the evaluator's numbers are compared with those of tieproof.
""",
    "recall": """
### Lists of neighbors
""",
}
"""What stands before the table of each kind of attacks."""

VERDICTS = """
## Verdicts

The first four are not faults. The documents of a run are named in the order of the items, and most layouts sort the
items by class. An evaluator that breaks ties by the names of documents, as trec_eval does, is then exploitable. Its
finding has a second verdict, `renamed`, which holds for random names.

| verdict | meaning |
|---|---|
"""


def render() -> str:
    """The page."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(START)
    parts = [before + table_of(kind) for kind, before in ATTACKS_OF.items()]
    verdicts = [f"| {verdict} | {verdict.meaning} |\n" for verdict in Verdict]
    return "".join([written, START, *parts, VERDICTS, *verdicts])


def table_of(kind: str) -> str:
    """The attacks of a kind, in a row for each reason."""
    reasons: dict[str, list[str]] = {}
    for attack in ATTACKS.values():
        if attack.kind == kind:
            reasons.setdefault(attack.why, []).append(
                f"*{attack.name}*" + f" ({attack.source})" * bool(attack.source)
            )
    return "\n| attacks | why |\n|---|---|\n" + "".join(
        f"| {', '.join(of)} | {why} |\n" for why, of in reasons.items()
    )


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
