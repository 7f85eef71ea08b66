"""What is audited: a function, the name of one, or a command that reads TREC files."""

import importlib
import os
import shlex
import subprocess
import sys
import tempfile
from typing import Any

from tieproof.audit.conventions import Evaluator
from tieproof.audit.outcomes import MOST_LETTERS, described, too_much_printed
from tieproof.errors import InputError

MEAN = "all"
"""What trec_eval calls the mean over all queries."""


def load(name: str) -> Evaluator:
    """The function called `package.module:function`; its module is imported, which runs it.

    Modules in the current folder are found, then and later.

    >>> load("math:hypot")(3, 4)
    5.0
    """
    module_name, colon, path = name.partition(":")
    if not (module_name and colon and path):
        raise InputError(f"'{name}' is no evaluator; write package.module:function.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise InputError(f"{module_name} cannot be imported: {described(error)}.") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module_name} has no '{path}'; write package.module:function.")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"'{name}' is a {type(found).__name__}, not a function.")
    return found  # type: ignore[no-any-return]


def name_of(evaluator: Evaluator) -> str | None:
    """The name by which another process finds the same function, if there is one.

    >>> import math
    >>> name_of(math.hypot), name_of(lambda x: x)
    ('math:hypot', None)
    """
    module, path = getattr(evaluator, "__module__", None), getattr(evaluator, "__qualname__", None)
    found: Any = sys.modules.get(module or "")
    if found is None or path is None or module == "__main__":
        return None
    for part in path.split("."):
        found = getattr(found, part, None)
    return f"{module}:{path}" if found is evaluator else None


class Command:
    """An evaluator that is a program: it reads a file of judgments and a run, and prints numbers.

    template : such as `trec_eval -m map {qrels} {run}`; no shell reads it

    Its numbers are those of lines `measure all number`, as trec_eval prints them, or the last number it prints.
    """

    def __init__(self, template: str) -> None:
        for field in ("{qrels}", "{run}"):
            if field not in template:
                raise InputError(f"The command lacks {field}, where the path of that file goes: {template}")
        try:
            self.words = shlex.split(template)
        except ValueError as error:
            raise InputError(f"The command cannot be split into words ({error}): {template}") from error
        self.template = template

    def __call__(self, qrels: str, run: str) -> float | dict[str, float]:
        """Run it on two files; ValueError with its last words where it fails."""
        words = [word.replace("{qrels}", qrels).replace("{run}", run) for word in self.words]
        with tempfile.TemporaryFile() as printed:
            process = self.start(words, printed)
            try:
                status = self.wait(process, printed)
            finally:
                process.kill()
                process.wait()
            printed.seek(0)
            text = printed.read(MOST_LETTERS).decode(errors="replace")
        if status < 0:
            raise ChildProcessError(f"the command was ended by signal {-status}")
        if status:
            raise ValueError(f"the command exited with status {status}: {text.strip()[-200:]}")
        return numbers_of(text)

    def start(self, words: list[str], printed: Any) -> "subprocess.Popen[bytes]":
        """Start the command as a process that prints into a file."""
        try:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT)
        except OSError as error:
            raise InputError(f"The command cannot be run: {words[0]}: {error.strerror}.") from error

    def wait(self, process: "subprocess.Popen[bytes]", printed: Any) -> int:
        """The exit status of a process, unless it prints too much; the alarm of the call ends what takes too long."""
        while True:
            try:
                return process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                if os.fstat(printed.fileno()).st_size > MOST_LETTERS:
                    raise too_much_printed() from None


def numbers_of(text: str) -> float | dict[str, float]:
    r"""The numbers that a command prints.

    >>> numbers_of("map\tall\t0.25\nP_10\tall\t0.1\n"), numbers_of("the mean is 0.5")
    ({'map': 0.25, 'P_10': 0.1}, 0.5)
    """
    rows = [line.split() for line in text.splitlines()]
    means = {row[0]: float(row[2]) for row in rows if len(row) == 3 and row[1] == MEAN and is_number(row[2])}
    if means:
        return means
    found = [word for word in text.split() if is_number(word)]
    if not found:
        raise ValueError(f"the command printed no number: {text.strip()[-200:]!r}")
    return float(found[-1])


def is_number(word: str) -> bool:
    """Whether a word is a number, or nan."""
    try:
        float(word)
    except ValueError:
        return False
    return True
