"""The other end of `isolation.py`: reads cases from standard input, and answers each with a line of JSON."""

import json
import os
import sys
from typing import IO

from tieproof.audit.cases import Case
from tieproof.audit.conventions import CONVENTIONS
from tieproof.audit.isolation import HEADER, READY
from tieproof.audit.outcomes import attempt
from tieproof.audit.targets import load


def main() -> None:
    """Serve until there is nothing more to read.

    What the evaluator prints, in native code too, goes to standard error, so that answers stay alone.
    """
    name, takes = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    evaluator, convention = load(name), CONVENTIONS[takes]
    say(READY, answers)
    while header := requests.read(HEADER.size):
        packed, options = (requests.read(length) for length in HEADER.unpack(header))
        outcome = attempt(evaluator, convention, Case.unpack(packed), json.loads(options), None)
        say(outcome._asdict(), answers)


def say(answer: object, answers: IO[str]) -> None:
    """A line for the other process."""
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
