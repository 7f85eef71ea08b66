"""Attacks on competitions: reading labels off everything that a scoring program shows to a participant."""

import hashlib
import io
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tieproof as tp
from bundles import write_table
from tieproof.trials.competition import Scoring, on_codabench, on_evalai, on_grand_challenge, on_kaggle

CLASSES, MEMBERS, PAIRS, SUBMISSIONS = 10, 6, 4, 5
ITEMS = CLASSES * MEMBERS
IDS = [f"{at:03}" for at in range(ITEMS)]
SCORING = Scoring("embeddings", ("AP", "P@1"))

Pairs = tuple[tuple[int, int], ...]


def handed_in(pairs: Pairs) -> np.ndarray:
    """Every item has a direction of its own, so that all are tied, except that the items of a pair share one."""
    rows = np.eye(ITEMS)
    for one, other in pairs:
        rows[other] = rows[one]
    return rows


def guessed(pairs: Pairs, same: Sequence[bool]) -> np.ndarray:
    """Labels of the right class sizes that are equal in exactly those pairs."""
    labels = np.full(ITEMS, -1)
    for number, ((one, other), equal) in enumerate(zip(pairs, same, strict=True)):
        labels[[one, other]] = number, number if equal else number + PAIRS
    for label in range(CLASSES):
        free = np.flatnonzero(labels < 0)
        labels[free[: MEMBERS - np.count_nonzero(labels == label)]] = label
    return labels


def prints_of(result: tp.Result) -> Iterator[str]:
    """What a program could show of the values of single queries: digests without a key, and the values themselves."""
    everything = [result.per_query(name) for name in result.measures]
    for measured in (everything, everything[:1]):
        for names in (("lower", "expected", "upper"), ("lower",)):
            values = b"".join(getattr(each, name).tobytes() for each in measured for name in names)
            for digest in (hashlib.sha256, hashlib.sha1, hashlib.md5, hashlib.blake2b):
                yield digest(values).hexdigest()[:16]
    yield str(everything[0].lower.tolist())


@cache
def guesses(pairs: Pairs) -> dict[tuple[bool, ...], list[str]]:
    """The prints of every guess at the relations of the pairs."""
    vectors = handed_in(pairs)
    return {
        same: [*prints_of(tp.evaluate(vectors, guessed(pairs, same), measures=SCORING.measures))]
        for same in product([False, True], repeat=len(pairs))
    }


def guessing_offline(pairs: Pairs, shown: str) -> list[tuple[bool, ...]]:
    """All relations of the pairs whose prints are somewhere in the text that a participant sees."""
    return [same for same, prints in guesses(pairs).items() if any(each in shown for each in prints)]


def old_program(labels: np.ndarray, vectors: np.ndarray, folder: Path) -> str:
    """What the programs of version 1.0.0 printed under the scores."""
    result, digest = tp.evaluate(vectors, labels, measures=SCORING.measures), hashlib.sha256()
    for measure in result.measures:
        for name in ("lower", "expected", "upper"):
            digest.update(getattr(result.per_query(measure), name).tobytes())
    return f"{result}\n\nFingerprint of the ranking: {digest.hexdigest()[:16]}"


def codabench(labels: np.ndarray, vectors: np.ndarray, folder: Path) -> str:
    for name in ("ref", "res", "out"):
        (folder / name).mkdir()
    write_table(folder / "ref" / "labels.csv", [("id", "label"), *zip(IDS, labels, strict=True)])
    np.save(folder / "res" / "embeddings.npy", vectors)
    assert on_codabench(SCORING, "x", str(folder), str(folder / "out")) == 0
    return "".join(path.read_text() for path in sorted((folder / "out").iterdir()))


def evalai(labels: np.ndarray, vectors: np.ndarray, folder: Path) -> str:
    write_table(folder / "labels.csv", [("id", "label"), *zip(IDS, labels, strict=True)])
    np.save(folder / "x.npy", vectors)
    return str(on_evalai(SCORING, str(folder / "labels.csv"), str(folder / "x.npy"), "final"))


def kaggle(labels: np.ndarray, vectors: np.ndarray, folder: Path) -> str:
    ids = pd.Series(IDS, name="id")
    submission = pd.concat([ids, pd.DataFrame(vectors)], axis=1)
    return repr(on_kaggle(SCORING, pd.DataFrame({"id": ids, "label": labels}), submission, "id"))


def grand_challenge(labels: np.ndarray, vectors: np.ndarray, folder: Path) -> str:
    (folder / "truth").mkdir()
    write_table(folder / "truth" / "labels.csv", [("id", "label"), *zip(IDS, labels, strict=True)])
    jobs = []
    for name, row in zip(IDS, vectors.tolist(), strict=True):
        (folder / name / "output").mkdir(parents=True)
        (folder / name / "output" / "x.json").write_text(json.dumps(row))
        output = {"interface": {"relative_path": "x.json"}}
        jobs.append({"pk": name, "inputs": [{"image": {"name": f"{name}.mha"}}], "outputs": [output]})
    (folder / "predictions.json").write_text(json.dumps(jobs))
    assert on_grand_challenge(SCORING, *map(str, (folder, folder, folder / "truth"))) == 0
    return (folder / "metrics.json").read_text()


PLATFORMS = [codabench, evalai, kaggle, grand_challenge]


def shown(program, labels: np.ndarray, vectors: np.ndarray, folder: Path) -> str:  # type: ignore[no-untyped-def]
    """Everything that a participant sees: what is printed, and what is written or returned."""
    folder.mkdir()
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        found = program(labels, vectors, folder)
    return f"{out.getvalue()}\n{err.getvalue()}\n{found}"


def campaign() -> tuple[np.ndarray, list[Pairs]]:
    """The labels that the organizer keeps, and the pairs of each submission; some pairs share a label."""
    random = np.random.default_rng(7)
    labels = random.permutation(np.repeat(np.arange(CLASSES), MEMBERS))
    campaigns = []
    for number in range(SUBMISSIONS):
        order = random.permutation(ITEMS)
        alike = [int(at) for at in order if labels[at] == labels[order[0]]]
        others = [int(at) for at in order if labels[at] != labels[order[0]]]
        pairs = [(alike[2 * at], alike[2 * at + 1]) for at in range(1 + number % 2)]
        pairs += [(others[2 * at], others[2 * at + 1]) for at in range(PAIRS - len(pairs))]
        campaigns.append(tuple(pairs[at] for at in random.permutation(PAIRS)))
    return labels, campaigns


def test_guessing_offline_recovered_every_relation_from_the_old_fingerprint(tmp_path: Path) -> None:
    labels, campaigns = campaign()
    for number, pairs in enumerate(campaigns):
        text = shown(old_program, labels, handed_in(pairs), tmp_path / str(number))
        true = tuple(bool(labels[one] == labels[other]) for one, other in pairs)
        assert guessing_offline(pairs, text) == [true]


@pytest.mark.parametrize("program", PLATFORMS)
def test_guessing_offline_finds_nothing_in_what_a_participant_sees(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    labels, campaigns = campaign()
    for number, pairs in enumerate(campaigns[:2]):
        assert guessing_offline(pairs, shown(program, labels, handed_in(pairs), tmp_path / str(number))) == []


@pytest.mark.trials
@pytest.mark.parametrize("program", PLATFORMS)
def test_running_the_program_on_every_guess_tells_no_more_than_the_score(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Whoever has the program can compare all that it shows. Equally many pairs that share a label look alike."""
    _, (pairs, *_) = campaign()
    texts: dict[str, set[int]] = {}
    for number, same in enumerate(product([False, True], repeat=PAIRS)):
        text = shown(program, guessed(pairs, same), handed_in(pairs), tmp_path / str(number))
        texts.setdefault(text, set()).add(number)
    assert sorted(map(len, texts.values())) == sorted(math.comb(PAIRS, same) for same in range(PAIRS + 1))
