"""A toy competition, and programs as systems for it: items are words, and a system sees their spelling."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tieproof as tp

WORDS = ["cat", "cats", "kitten", "dog", "dogs", "puppy", "cow", "calf", "cows", "catty", "doggy", "cowy"]
LABELS = ["cat", "cat", "cat", "dog", "dog", "dog", "cow", "cow", "cow", "cat", "dog", "cow"]
SEED = "0123456789abcdef, which the organizer keeps"

HEAD = "import os, sys\nitems, answers = sys.argv[1:3]\nnames = sorted(os.listdir(items))\n"
"""The first lines of a program that is called with {items} and {answers}."""

PRINT = "import os, sys\nlines = [line.rstrip('\\n').split('\\t') for line in open(sys.argv[1])]\n"
"""The first lines of a program that is called with {lines}, and prints its answers."""

VECTOR = "def vector(word): return [word.count('c'), word.count('d'), len(word), ord(word[-1])]\n"

HONEST = PRINT + VECTOR + "for name, word in lines: print(name, *vector(word), sep=',')\n"


def vector(word: str) -> list[int]:
    """The answer of the honest system for a word."""
    return [word.count("c"), word.count("d"), len(word), ord(word[-1])]


EMBEDDINGS = np.array([vector(word) for word in WORDS], dtype=np.float64)


def edit_distance(a: str, b: str) -> int:
    """The smallest number of insertions, deletions and changes of letters."""
    row = list(range(len(b) + 1))
    for at, letter in enumerate(a, 1):
        before, row[0] = row[0], at
        for place, other in enumerate(b, 1):
            changed = before + (letter != other)
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, changed)
    return row[-1]


def organize(folder: Path, **entries: Any) -> Path:
    """Write the files of a competition, with entries of its tables such as `judge_batch=5`. Returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.txt").write_text("".join(f"{word}\n" for word in WORDS))
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in LABELS))
    (folder / "seed.txt").write_text(SEED)
    given = {
        "title": "Words",
        "distance": "euclidean",
        "measures": ["AP", "P@1"],
        "phases_name": "Final",
        "phases_items": "items.txt",
        "phases_labels": "labels.txt",
        "judge_seed": "seed.txt",
        "judge_batch": 5,
        "judge_repeats": 3,
        "judge_seconds": 120,
    } | entries
    tables: dict[str, list[str]] = {"": [], "[phases]": [], "judge": []}
    for name, value in given.items():
        table, underline, key = name.partition("_")
        if value is not None:
            table, key = (table, key) if underline else ("", name)
            tables[f"[{table}]" if table == "phases" else table].append(f"{key} = {as_toml(value)}")
    text = "\n".join(line for table, lines in tables.items() for line in ([f"[{table}]"] if table else []) + lines)
    place = folder / "competition.toml"
    place.write_text(f"{text}\n")
    return place


def as_toml(value: Any) -> str:
    """A value in the syntax of TOML."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def program(folder: Path, code: str, arguments: str = "{lines}", name: str = "system.py") -> str:
    """Write a system as a Python program; return its command."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / name
    place.write_text(code)
    return f"{sys.executable} -I -S {place} {arguments}"


def write_examples() -> None:
    """The files of the help texts, in the current folder: a competition, three systems, and a board of two others."""
    organize(Path(), judge_batch=100, judge_repeats=0)
    head = HEAD.replace("items, answers = sys.argv[1:3]", "items = sys.argv[1]")
    code = f"{head}for name in names: print(name[:-4], os.path.getsize(os.path.join(items, name)), sep=',')\n"
    Path("system").write_text(f"#!{sys.executable} -IS\n{code}")
    Path("system").chmod(0o755)
    Path("model").mkdir()
    as_file = HONEST.replace(", sep=','", ", sep=',', file=open(sys.argv[2], 'a')")
    Path("embed.py").write_text(as_file)
    Path("my_system.py").write_text("def embed(words): return [[len(word), word.count('c')] for word in words]\n")
    Path("judged").mkdir()
    for name, embeddings in {"ours": EMBEDDINGS, "theirs": EMBEDDINGS[:, 2:]}.items():
        np.savez(f"{name}.npz", embeddings=embeddings, labels=LABELS)
        tp.evaluate(embeddings, LABELS, measures=["AP", "P@1"]).save(Path("judged", f"{name}.tieproof"))
