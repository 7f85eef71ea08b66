"""The tests of other libraries, run with ours under their names: a plugin for the pytest that runs them.

TIEPROOF_PEERS names a folder with clones, as by

    git clone -b v1.9.0 https://github.com/Lightning-AI/torchmetrics
    git clone https://github.com/KevinMusgrave/pytorch-metric-learning
    git clone https://github.com/OML-Team/open-metric-learning
    git clone -b v5.1.2 https://github.com/UKPLab/sentence-transformers
    git clone https://github.com/AmenRa/ranx
    git clone -b v10.0 https://github.com/usnistgov/trec_eval

Errors are compared by their types, those of torchmetrics by their texts, too. Tests of several processes are left
out. The tests of trec_eval are the files that its program must print, so that each of their values is a test here.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import types
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import pytest

import tieproof as tp
from studies.can_we_hack_map.evaluators import placeholders
from tieproof.measures.libraries import meanings_of

PEERS = Path(os.environ.get("TIEPROOF_PEERS", "/nowhere"))

OURS, THEIRS, LACKING = "ours on purpose", "theirs", "not offered"
"""Why a test fails: our value differs on purpose, the library itself fails here, too, or we lack what is tested."""

Failures = dict[str, str]
"""The message of each test that failed."""


class Peer(NamedTuple):
    """The tests of a library, and what they are run with.

    tested : the version and the tests, in words
    root : the folder from which the tests are run
    tests : files and folders, and options of pytest
    ours : our module, or a function of this file that returns one
    modules : those whose names are replaced
    libraries : the folder of the library itself
    reasons : (pattern of a test and its message, why it fails, the same in a sentence)
    texts : whether errors are compared by their texts, too
    """

    tested: str
    root: str = "."
    tests: tuple[str, ...] = ()
    ours: str = ""
    modules: tuple[str, ...] = ()
    libraries: str = "."
    reasons: tuple[tuple[str, str, str], ...] = ()
    texts: bool = False


KNOWN = {
    "torchmetrics": Peer(
        "1.9.0, AUROC, and arguments and corner cases of all metrics, in one process",
        "tests",
        ("unittests/retrieval", "-k", "(test_auroc or arguments or all_zero or corner) and not True"),
        "tieproof.compat.torchmetrics",
        ("torchmetrics.retrieval", "torchmetrics.functional.retrieval"),
        "../src",
        (
            ("all_zero_predictions", OURS, "scores of 0, which are ranked like any other score"),
            ("tied_scores", OURS, "a mean over tied scores, where the lower bound is returned"),
        ),
        texts=True,
    ),
    "pytorch-metric-learning": Peer(
        "2.8.1, accuracies",
        ".",
        ("tests/utils/test_calculate_accuracies.py",),
        "tieproof.compat.pml",
        ("pytorch_metric_learning.utils.accuracy_calculator",),
        "src",
        (
            ("test_many_tied_distances", OURS, "a mean over tied distances, where the lower bound is returned"),
            ("get_function_dict", LACKING, "`get_function_dict`, by which subclasses define metrics"),
            ("'knn_func'", LACKING, "the attribute `knn_func`, whose index is never built"),
            ("test_k_warning", LACKING, "a warning in the log of the library"),
        ),
    ),
    "open-metric-learning": Peer(
        "4.0.0, metrics",
        ".",
        ("tests/test_oml/test_functional/test_metrics", "tests/test_oml/test_metrics/test_embedding_metrics.py"),
        "tieproof.compat.oml",
        ("oml.functional.metrics", "oml.metrics.embeddings", "oml.retrieval.retrieval_results"),
        ".",
        (("'acc'", LACKING, "the attribute `acc` of `EmbeddingMetrics`"),),
    ),
    "sentence-transformers": Peer(
        "5.1.2, information retrieval",
        "tests",
        ("evaluation/test_information_retrieval_evaluator.py",),
        "of_sentence_transformers",
        ("sentence_transformers.evaluation",),
        reasons=(("https://huggingface.co", THEIRS, "a model that it downloads"),),
    ),
    "ranx": Peer(
        "0.3.21, `evaluate`",
        ".",
        ("tests/unit/ranx/meta/evaluate_test.py",),
        "of_ranx",
        ("ranx",),
        ".",
        (
            ("it is a number of hits", LACKING, "`hits`, a count"),
            ("it is a sum that nothing bounds", LACKING, "DCG, which is not normalized"),
            ("test_std", LACKING, "the standard deviation over queries, and values kept in the run"),
        ),
    ),
    "trec_eval": Peer(
        "10.0, values of its test data",
        reasons=(
            ("is not offered", LACKING, "precision at multiples of R, geometric means, utility and others, by name"),
            ("Unknown measure", LACKING, "parameters of such measures, and texts"),
            ("of trec_eval with a parameter", LACKING, "parameters of other measures than cutoffs"),
        ),
    ),
}


def of_sentence_transformers() -> Any:
    """Our evaluator, under the name of theirs."""
    from tieproof.integrations.sentence_transformers import TieproofEvaluator

    return types.SimpleNamespace(InformationRetrievalEvaluator=TieproofEvaluator)


def of_ranx() -> Any:
    """`evaluate_run` with the arguments of `ranx.evaluate`, whose arrays are rankings: their scores are not read."""

    def ids(values: Any, ranked: bool) -> Any:
        if isinstance(values, dict) or hasattr(values, "to_dict"):
            return values
        return {
            f"q{query}": {f"d{row[0]}": -place if ranked else row[1] for place, row in enumerate(rows)}
            for query, rows in enumerate(values)
        }

    def evaluate(qrels: Any, run: Any, metrics: Any) -> Any:
        names = [metrics] if isinstance(metrics, str) else metrics
        ours = {name: next(each.ours or name for each in meanings_of(name) if each.owner == "ranx") for name in names}
        options: Any = {"measures": list(ours.values()), "missing": "error", "empty": "zero"}
        result = tp.evaluate_run(ids(qrels, False), ids(run, True), **options)
        values = {name: result[measure].lower for name, measure in ours.items()}
        return values[metrics] if isinstance(metrics, str) else values

    return types.SimpleNamespace(evaluate=evaluate)


def run(name: str, *options: str, ours: bool = True) -> tuple[int, Failures]:
    """Run the tests of a library in a process of its own: how many passed, and the others.

    options : options of pytest, and tests, which are all tests without any
    ours : whether to run them with ours, and not with the library itself
    """
    if name == "trec_eval":
        return _values_of_trec_eval()
    peer = KNOWN[name]
    root = (PEERS / name / peer.root).resolve()
    paths = [str(Path(__file__).parent), str(root), str((root / peer.libraries).resolve())]
    with tempfile.TemporaryDirectory() as folder:
        settings, found = Path(folder) / "empty.ini", Path(folder) / "found.json"
        settings.write_text("[pytest]\n")  # instead of the library's settings, which may ask for plugins
        command = ["-m", "pytest", "-c", str(settings), f"--rootdir={root}", "-q", "-W", "ignore", "--tb=line"]
        plugins = ["-p", "peer_tests", "-p", "no:cacheprovider"]
        tests = [] if any(option.startswith(peer.tests) for option in options) else peer.tests
        finished = subprocess.run(
            [sys.executable, *command, *plugins, "-m", "not DDP", *options, *tests],
            cwd=root,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "TIEPROOF_PEER": name if ours else f"{name} itself",
                "TIEPROOF_PEER_FOUND": str(found),
                "MPLBACKEND": "agg",
                "TEST_DEVICE": "cpu",
                "HF_HUB_OFFLINE": "1",
            },
            capture_output=True,
            text=True,
        )
        if not found.exists():
            raise AssertionError(finished.stdout + finished.stderr)
        messages: dict[str, str] = json.loads(found.read_text())
    failures = {test: message for test, message in messages.items() if message}
    return len(messages) - len(failures), failures


def explained(name: str, failures: Failures) -> list[tuple[str, str]]:
    """Why each test failed, in a word and in a sentence; AssertionError for a test without a reason."""
    if not failures:
        return []
    reasons = KNOWN[name].reasons
    found: list[tuple[str, str]] = []
    unknown: Failures = {}
    for test, message in failures.items():
        for pattern, why, sentence in reasons:
            if re.search(pattern, f"{test} {message}"):
                found.append((why, sentence))
                break
        else:
            unknown[test] = message
    if unknown and KNOWN[name].tests:
        _, theirs = run(name, *unknown, ours=False)
        found += [(THEIRS, "fail here with the library itself")] * len(theirs)
        for test in theirs:
            del unknown[test]
    if unknown:
        raise AssertionError("\n".join(f"{test}: {message}" for test, message in unknown.items()))
    return found


_TREC_EVAL: dict[str, tuple[str, str, dict[str, Any]]] = {
    "out.test": ("qrels.test.with-comments", "results.test", {"missing": "skip"}),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", {"missing": "skip"}),
    "out.test.a": ("qrels.test", "results.test", {"missing": "skip"}),
    "out.test.aq": ("qrels.test", "results.test", {"missing": "skip"}),
    "out.test.aqc": ("qrels.test", "results.trunc", {"missing": "zero"}),
    "out.test.aql": ("qrels.rel_level", "results.test", {"missing": "skip", "level": 2}),
    "out.test.meas_params": ("qrels.test", "results.test", {"missing": "skip"}),
}
"""Files of values, and the judgments, the run and our options that belong to its options (-c, -l 2)."""


def _values_of_trec_eval() -> tuple[int, Failures]:
    """Compare each printed value, which is rounded to four digits, with our interval."""
    passed = 0
    failures: Failures = {}
    folder = PEERS / "trec_eval" / "test"
    for file, (qrels, ranked, options) in _TREC_EVAL.items():
        lines = [line.split() for line in (folder / file).read_text(encoding="utf-8").splitlines()]
        ours: dict[str, Any] = {}
        for name in dict.fromkeys(line[0] for line in lines):
            meant = [each.ours for each in meanings_of(name) if each.owner == "trec_eval" and each.ours]
            try:
                ours[name] = tp.measures.parse(meant[0] if meant else name)
            except tp.InputError as error:
                failures |= {f"{file} {' '.join(line[:2])}": str(error) for line in lines if line[0] == name}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tp.InputWarning)
            result = tp.evaluate_run(
                folder / qrels, folder / ranked, measures=list(ours.values()), empty="zero", **options
            )
        measures = dict(zip(ours, result.measures, strict=True))
        queries = ["all", *result.query_ids.tolist()]
        for name, query, value in (line for line in lines if line[0] in ours):
            at, each = queries.index(query), result.per_query(measures[name])
            mean = result[measures[name]]
            lower, upper = (mean.lower, mean.upper) if not at else (each.lower[at - 1], each.upper[at - 1])
            if lower - 5.1e-5 <= float(value) <= upper + 5.1e-5:
                passed += 1
            else:
                failures[f"{file} {name} {query}"] = f"{value} is outside {lower} to {upper}"
    return passed, failures


# In the process that runs the tests of a library

_found: dict[str, str] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the message of each test that failed, and an empty one of each that passed."""
    if report.failed:
        _found[report.nodeid] = str(getattr(report.longrepr, "reprcrash", report.longrepr))
    elif report.when == "call" and report.passed:
        _found.setdefault(report.nodeid, "")


def pytest_sessionfinish() -> None:
    """Write the messages."""
    Path(os.environ["TIEPROOF_PEER_FOUND"]).write_text(json.dumps(_found))


def _replace(name: str) -> None:
    """Replace the names, before the tests of a library import any of them."""
    peer = KNOWN[name.removesuffix(" itself")]
    sys.modules.setdefault("cachier", MagicMock(cachier=lambda **_: lambda function: function))
    if peer.ours == "tieproof.compat.oml":
        called = (each for each in placeholders.NEVER_CALLED if each != "oml.inference")
        placeholders.NEVER_CALLED = tuple(called)
        sys.meta_path.insert(0, placeholders.Placeholders())
    for module in peer.modules:
        import_module(module)
    if not peer.texts:
        raises: Any = pytest.raises
        pytest.raises = lambda kind, match=None, **options: raises(kind, **options)  # type: ignore[assignment]
    if name not in KNOWN:
        return
    ours = import_module(peer.ours) if "." in peer.ours else globals()[peer.ours]()
    names = getattr(ours, "__all__", vars(ours))
    for inside in [inside for module, inside in sys.modules.items() if module.startswith(peer.modules)]:
        for each in set(names) & set(vars(inside)):
            setattr(inside, each, getattr(ours, each))


if "TIEPROOF_PEER" in os.environ:
    _replace(os.environ["TIEPROOF_PEER"])
