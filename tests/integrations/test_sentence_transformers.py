"""TieproofEvaluator, compared with InformationRetrievalEvaluator without ties, and with all orderings of ties."""

import csv
import math
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import permutations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.ties import Array
from toy_encoders import numbered_model, word_model

pytestmark = pytest.mark.heavy

BOUNDS = ("lower", "expected", "upper")
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
CUTOFFS: dict[str, list[int]] = {
    "accuracy_at_k": [1, 4, 100],
    "precision_recall_at_k": [1, 3, 100],
    "mrr_at_k": [2, 10],
    "ndcg_at_k": [1, 5, 100],
    "map_at_k": [3, 100],
}


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def ours(*arguments: Any, **options: Any) -> Any:
    return import_module("tieproof.integrations.sentence_transformers").TieproofEvaluator(*arguments, **options)


def theirs(*arguments: Any, **options: Any) -> Any:
    return original("InformationRetrievalEvaluator")(*arguments, **options)


def original(name: str, package: str = "evaluation") -> Any:
    try:
        return getattr(import_module(f"sentence_transformers.sentence_transformer.{package}"), name)
    except ModuleNotFoundError:  # before version 5.4
        return getattr(import_module(f"sentence_transformers.{package}"), name)


def task(queries: int, documents: int, relevant: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Queries w0 …, then documents, of a `numbered_model`; one query has nothing relevant, one judged id is new."""
    random = np.random.default_rng(seed)
    judged = {
        f"q{at}": {f"d{item}" for item in random.choice(documents, random.integers(1, relevant + 1), replace=False)}
        for at in range(queries - 1)
    }
    texts = {f"q{at}": f"w{at}" for at in range(queries)}
    corpus = {f"d{at}": f"w{queries + at}" for at in range(documents)}
    return texts, corpus, {**judged, f"q{queries - 1}": set(), "nobody": {"d0"}}


def untied(seed: int = 0, count: int = 60, dimensions: int = 12) -> Array:
    return np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)


def tied(seed: int = 0, count: int = 60, dimensions: int = 3) -> Array:
    """Small whole numbers, whose dot products and distances float32 represents exactly."""
    return np.random.default_rng(seed).integers(-1, 2, size=(count, dimensions)).astype(np.float32)


def plain(found: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in found.items() if not name.endswith(tuple(f"_{bound}" for bound in BOUNDS))}


def assert_inside(value: dict[str, float], found: dict[str, float]) -> None:
    for name, number in value.items():
        assert found[f"{name}_lower"] <= number + 1e-12, name
        assert number <= found[f"{name}_upper"] + 1e-12, name


# Parity


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_without_ties_the_numbers_are_theirs(similarity: str) -> None:
    model = numbered_model(untied(), similarity_fn_name=similarity)
    data = task(10, 50, 8)
    expected_by, evaluator = theirs(*data, **CUTOFFS), ours(*data, **CUTOFFS)
    expected, found = expected_by(model), evaluator(model)
    assert plain(found) == pytest.approx(expected, rel=1e-12)
    assert set(found) == {name + end for name in expected for end in ("", *(f"_{bound}" for bound in BOUNDS))}
    for name, value in plain(found).items():
        assert value == found[f"{name}_lower"] == found[f"{name}_upper"] == found[f"{name}_expected"]
    assert evaluator.primary_metric == expected_by.primary_metric == f"{similarity}_ndcg@100"
    assert evaluator.greater_is_better is expected_by.greater_is_better is True


def test_defaults_are_theirs() -> None:
    model, data = numbered_model(untied(1)), task(10, 50, 8)
    assert plain(ours(*data)(model)) == pytest.approx(theirs(*data)(model), rel=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"name": "toy"},
        {"truncate_dim": 5},
        {"query_prompt": "w3 "},
        {"query_prompt_name": "asked", "corpus_prompt_name": "stored"},
        {"corpus_prompt": "w7 w8 "},
        {"main_score_function": "cosine", "batch_size": 7},
    ],
)
def test_options_mean_what_they_mean_there(options: dict[str, Any]) -> None:
    model = numbered_model(untied(2), prompts={"asked": "w1 ", "stored": "w2 "})
    data = task(10, 50, 8)
    evaluators = theirs(*data, **options), ours(*data, **options)
    expected, found = (evaluator(model) for evaluator in evaluators)
    assert plain(found) == pytest.approx(expected, rel=1e-12)
    assert evaluators[0].primary_metric == evaluators[1].primary_metric
    assert evaluators[0].get_config_dict() == evaluators[1].get_config_dict()


def test_several_score_functions() -> None:
    import torch
    from sentence_transformers import util

    def chebyshev(queries: Any, documents: Any) -> Any:
        return -torch.cdist(queries, documents, p=torch.inf)

    functions = {"dot": util.dot_score, "angle": util.cos_sim, "chebyshev": chebyshev}
    model, data = numbered_model(untied(3)), task(10, 50, 8)
    evaluators = [make(*data, score_functions=functions) for make in (theirs, ours)]
    expected, found = (evaluator(model) for evaluator in evaluators)
    assert plain(found) == pytest.approx(expected, rel=1e-12)
    assert evaluators[0].primary_metric == evaluators[1].primary_metric
    assert [result.setting.distance for result in evaluators[1].results.values()] == [
        "cosine",
        "function chebyshev",
        "dot",
    ]


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("seed", range(3))
def test_with_ties_their_number_is_inside(similarity: str, seed: int) -> None:
    model = numbered_model(tied(seed), similarity_fn_name=similarity)
    data = task(10, 50, 8, seed)
    found = ours(*data, **CUTOFFS)(model)
    if similarity == "cosine":  # in float32, vectors of the same direction have different cosines
        directions = untied(seed, 60, 3)
        directions[10:] = directions[10 + np.arange(50) % 7]
        model = numbered_model(directions)
        found = ours(*data, **CUTOFFS)(model)
    assert_inside(theirs(*data, **CUTOFFS)(model), found)
    assert found[f"{similarity}_ndcg@5_lower"] < found[f"{similarity}_ndcg@5_expected"]
    assert found[f"{similarity}_ndcg@5_expected"] < found[f"{similarity}_ndcg@5_upper"]


def orderings(scores: dict[str, float]) -> Iterator[list[str]]:
    """All orders of documents in which larger scores come first."""
    levels = [[name for name in scores if scores[name] == level] for level in sorted(set(scores.values()))[::-1]]
    for parts in product(*map(permutations, levels)):
        yield [name for part in parts for name in part]


def test_interval_is_over_all_orderings_by_their_own_code() -> None:
    embeddings = tied(5, count=11, dimensions=2)
    data = task(4, 7, 4, seed=1)
    model = numbered_model(embeddings, similarity_fn_name="dot")
    found = ours(*data, **CUTOFFS)(model)
    scores = embeddings[:3] @ embeddings[4:].T
    values: list[dict[str, list[float]]] = []
    for at in range(3):
        evaluator = theirs({f"q{at}": ""}, data[1], data[2], **CUTOFFS)
        values.append({})
        for order in orderings({f"d{item}": float(score) for item, score in enumerate(scores[at])}):
            hits = [{"corpus_id": name, "score": -rank} for rank, name in enumerate(order)]
            for family, at_k in evaluator.compute_metrics([hits]).items():
                for k, value in at_k.items():
                    values[at].setdefault(f"dot_{family[:-1]}{k}", []).append(float(value))
    for name in values[0]:
        ends: dict[str, Callable[[list[float]], float]] = {"lower": min, "expected": mean, "upper": max}
        for bound, of in ends.items():
            expected = mean([of(query[name]) for query in values])
            assert found[f"{name}_{bound}"] == pytest.approx(expected, rel=1e-12), (name, bound)
        assert found[name] == found[f"{name}_lower"]
    assert {name.rpartition("_")[0] for name in found if name.endswith("_upper")} == set(values[0])


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


# Sentences with labels


def test_sentences_are_queries_for_the_others_of_their_label() -> None:
    embeddings, labels = untied(4, count=12), ["cat", "dog", "cat", "owl", "dog", "cat"] * 2
    labels[3] = "elk"
    labels[9] = "yak"
    model = numbered_model(embeddings)
    evaluator = ours(sentences=[f"w{at}" for at in range(12)], labels=labels, name="toy", **CUTOFFS)
    found = evaluator(model)
    expected: dict[str, list[float]] = {}
    for at in range(12):
        relevant = {item for item in range(12) if item != at and labels[item] == labels[at]}
        if relevant:
            others = {item: f"w{item}" for item in range(12) if item != at}
            alone = theirs({at: f"w{at}"}, others, {at: relevant}, name="toy", **CUTOFFS)(model)
            for name, value in alone.items():
                expected.setdefault(name, []).append(value)
    assert len(expected["toy_cosine_map@3"]) == 10
    assert plain(found) == pytest.approx({name: mean(values) for name, values in expected.items()}, rel=1e-12)
    assert evaluator.primary_metric == "toy_cosine_ndcg@100"
    assert evaluator.results["cosine"].setting.leave_one_out


def test_prompt_of_sentences() -> None:
    model = numbered_model(untied(5, count=12))
    sentences, labels = [f"w{at}" for at in range(12)], list(range(6)) * 2
    found = ours(sentences=sentences, labels=labels, query_prompt="w0 w1 ")(model)
    assert found == ours(sentences=[f"w0 w1 {text}" for text in sentences], labels=labels)(model)
    assert found != ours(sentences=sentences, labels=labels)(model)


# Embeddings of few bits


def test_codes_are_ranked_by_their_hamming_distance() -> None:
    signs = np.where(untied(6, dimensions=13) > 0, 1, -1).astype(np.float32)
    data = task(10, 50, 8)
    # The dot product of vectors of ±1 decreases as more bits differ.
    expected = ours(*data)(numbered_model(signs, similarity_fn_name="dot"))
    value = theirs(*data)(numbered_model(signs, similarity_fn_name="dot"))
    for precision in ("binary", "ubinary"):
        evaluator = ours(*data, precision=precision)
        found = evaluator(numbered_model(signs * np.float32(0.3)))
        assert found == {name.replace("dot", "hamming"): number for name, number in expected.items()}
        assert_inside({name.replace("dot", "hamming"): number for name, number in value.items()}, found)
        assert evaluator.primary_metric == "hamming_ndcg@10"
        assert evaluator.get_config_dict() == {"precision": precision}
        assert evaluator.results["hamming"].setting.dimensions == 16  # whole bytes


@pytest.mark.parametrize("precision", ["int8", "uint8"])
def test_integers_are_calibrated_by_the_corpus(precision: str) -> None:
    from sentence_transformers import quantize_embeddings

    embeddings, data = untied(7, dimensions=30), task(10, 50, 8)
    stored = quantize_embeddings(embeddings, precision, calibration_embeddings=embeddings[10:])
    for similarity in SIMILARITIES:
        expected = theirs(*data)(numbered_model(stored.astype(np.float32), similarity_fn_name=similarity))
        found = ours(*data, precision=precision)(numbered_model(embeddings, similarity_fn_name=similarity))
        assert_inside(expected, found)
        assert plain(found) == pytest.approx(expected, abs=0.1)


def test_score_functions_of_integers_are_given_floats() -> None:
    from sentence_transformers import util

    def halved(queries: Any, documents: Any) -> Any:
        return util.cos_sim(queries, documents) / 2

    model, data = numbered_model(untied(8)), task(10, 50, 8)
    found = ours(*data, precision="int8", score_functions={"halved": halved})(model)
    exact = ours(*data, precision="int8")(model)
    expected = {name.replace("cosine", "halved"): value for name, value in plain(exact).items()}
    assert plain(found) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("kind", ["float64", "bfloat16", "uint8", "numpy"])
def test_scores_are_ranked_as_they_are(kind: str) -> None:
    """Scores that float32 would round to one number stay different, and no type is too small for negated scores."""
    import torch

    def by_number(queries: Any, documents: Any) -> Any:
        rows = 3 - documents[:, 1].double().expand(len(queries), -1)
        small = {"float64": 1 + rows * 2.0**-40, "numpy": rows.numpy()}
        return small[kind] if kind in small else rows.to(getattr(torch, kind))

    model = numbered_model([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    corpus = {"first": "w1", "second": "w2", "third": "w3"}
    found = ours({"q": "w0"}, corpus, {"q": {"second"}}, score_functions={"own": by_number})(model)
    assert found["own_mrr@10_lower"] == found["own_mrr@10_upper"] == 0.5


def test_float32_changes_nothing() -> None:
    model, data = numbered_model(untied(9)), task(10, 50, 8)
    assert ours(*data, precision="float32")(model) == ours(*data)(model)


def test_sentences_as_codes() -> None:
    embeddings, labels = untied(10, count=24, dimensions=8), np.arange(24) % 4
    found = ours(sentences=[f"w{at}" for at in range(24)], labels=labels, precision="ubinary")(
        numbered_model(embeddings)
    )
    apart = (embeddings[:, None] > 0) != (embeddings[None] > 0)
    expected = tp.evaluate_distances(apart.sum(axis=2), labels=labels, measures=["RR@10"])["RR@10"]
    assert [found[f"hamming_mrr@10_{bound}"] for bound in BOUNDS] == [
        expected.lower,
        expected.expected,
        expected.upper,
    ]


# Same bits


@pytest.mark.parametrize("precision", [None, "int8", "ubinary"])
def test_neither_chunks_nor_order_change_a_bit(precision: Any) -> None:
    model = numbered_model(tied(11))
    queries, corpus, relevant = task(10, 50, 8)
    expected = ours(queries, corpus, relevant, precision=precision)(model)
    for size in (1, 7, 50):
        assert ours(queries, corpus, relevant, size, precision=precision)(model) == expected
    turned = (dict(reversed(queries.items())), dict(reversed(corpus.items())), relevant)
    assert ours(*turned, precision=precision, show_progress_bar=True)(model) == expected


def test_results_have_every_query() -> None:
    model, data = numbered_model(tied(12)), task(10, 50, 8)
    evaluator = ours(*data, accuracy_at_k=[1])
    found = evaluator(model)
    result = evaluator.results["cosine"]
    assert result.query_ids.tolist() == [f"q{at}" for at in range(9)]
    assert result["Success@1"].upper == found["cosine_accuracy@1_upper"]
    integers = [{int(name[1:]): text for name, text in side.items()} for side in data[:2]]
    judged = {int(q[1:]): {int(d[1:]) for d in found} for q, found in data[2].items() if q != "nobody"}
    assert ours(*integers, judged, accuracy_at_k=[1])(model) == found


def test_results_are_compared_and_kept(tmp_path: Path) -> None:
    model, data = numbered_model(untied(12)), task(10, 50, 8)
    floats, codes = ours(*data), ours(*data, precision="ubinary")
    floats(model)
    codes(model)
    found = tp.compare({"floats": floats.results["cosine"], "codes": codes.results["hamming"]})
    difference = found["floats", "codes", "nDCG@10"]
    assert difference.upper == pytest.approx(
        floats.results["cosine"]["nDCG@10"].upper - codes.results["hamming"]["nDCG@10"].lower, rel=1e-12
    )
    floats.results["cosine"].save(tmp_path / "floats.tieproof")
    assert tp.load(tmp_path / "floats.tieproof").to_json() == floats.results["cosine"].to_json()


# CSV and card


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_for_each_evaluation(tmp_path: Path) -> None:
    model, data = numbered_model(tied(13)), task(10, 50, 8)
    evaluator, original = ours(*data, name="toy"), theirs(*data, name="toy")
    folder = tmp_path / "new" / "eval"
    found = evaluator(model, str(folder), 0.5, 10)
    evaluator(model, str(folder), 1.0, 20)
    original(model, str(folder), 0.5, 10)
    path = folder / "Tieproof_evaluation_toy_results.csv"
    first, second = rows_of(path)
    (beside,) = rows_of(folder / original.csv_file)
    columns = [name for name in first if not name.endswith(tuple(BOUNDS))]
    assert columns == list(beside)
    assert (first["epoch"], first["steps"], second["epoch"], second["steps"]) == ("0.5", "10", "1.0", "20")
    for column, value in first.items():
        if column not in ("epoch", "steps"):
            assert float(value) == found[f"toy_{column.replace('-', '_').lower()}"]
            assert second[column] == value
    assert sorted(path.name for path in folder.iterdir()) == [original.csv_file, evaluator.csv_file]


def test_no_table_is_written(tmp_path: Path) -> None:
    model, data = numbered_model(untied(14)), task(10, 50, 8)
    ours(*data, write_csv=False)(model, str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_table_with_other_columns_is_refused_before_anything_is_encoded(tmp_path: Path) -> None:
    data = task(10, 50, 8)
    ours(*data)(numbered_model(untied(14)), str(tmp_path))
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    with pytest.raises(tp.InputError, match=r"other columns .*'cosine-Accuracy@1', where 'dot-Accuracy@1' is"):
        ours(*data)(numbered_model(untied(14), similarity_fn_name="dot"), str(tmp_path))
    with pytest.raises(tp.InputError, match=r"'no column', where 'cosine-MAP@10' is expected.*Move the file away"):
        ours(*data, map_at_k=[100, 10])(numbered_model(untied(14)), str(tmp_path))
    evaluator = ours(*data)
    del evaluator.metrics[-1]
    with pytest.raises(tp.InputError, match=r"'cosine-MAP@100', where 'no column' is expected"):
        evaluator(numbered_model(untied(14)), str(tmp_path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"\n"])
def test_an_empty_table_is_begun_anew(content: bytes, tmp_path: Path) -> None:
    evaluator = ours(*task(10, 50, 8))
    path = tmp_path / evaluator.csv_file
    path.write_bytes(content)
    evaluator(numbered_model(untied(14)), str(tmp_path))
    assert [row["epoch"] for row in rows_of(path)] == ["-1"]


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    evaluator = ours(*task(10, 50, 8))
    (tmp_path / evaluator.csv_file).write_bytes(b"\x89PNG\xff\n")
    with pytest.raises(tp.InputError, match=r"has other columns than this evaluation: "):
        evaluator(numbered_model(untied(14)), str(tmp_path))


@pytest.mark.parametrize("in_the_way", ["eval", "eval/Tieproof_evaluation_results.csv/x"])
def test_a_place_without_room_for_a_table_is_refused_before_anything_is_encoded(
    in_the_way: str, tmp_path: Path
) -> None:
    (tmp_path / in_the_way).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / in_the_way).write_text("a file")
    evaluator = ours(*task(10, 50, 8))
    with pytest.raises(tp.InputError, match=r"csv cannot be written \(.*\)\. Pass another output_path, or write_csv"):
        evaluator(numbered_model(untied(14)), str(tmp_path / "eval"))
    assert not evaluator.results


def test_a_table_without_a_line_end_goes_on(tmp_path: Path) -> None:
    model, evaluator = numbered_model(untied(14)), ours(*task(10, 50, 8))
    evaluator(model, str(tmp_path))
    path = tmp_path / evaluator.csv_file
    path.write_text(path.read_text().rstrip("\n"))
    evaluator(model, str(tmp_path))
    assert len(rows_of(path)) == 2


def test_card_of_a_model(tmp_path: Path) -> None:
    model, data = numbered_model(tied(15)), task(10, 50, 8)
    found = ours(*data, name="toy", precision="ubinary")(model, epoch=1, steps=5)
    model.save_pretrained(str(tmp_path))
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "#### Information Retrieval with Ties" in card
    assert "TieproofEvaluator</code>" in card
    for name in ("**hamming_ndcg@10**", "hamming_ndcg@10_upper"):
        (value,) = re.findall(rf"^\| {re.escape(name)} +\| \**([\d.]+)\** +\|$", card, re.MULTILINE)
        assert float(value) == round(found[f"toy_{name.strip('*')}"], 4)
    assert '"precision": "ubinary"' in card


# Training


def trainer_with(evaluator: Any, folder: Path, best: str) -> Any:
    """A trainer for three epochs of pairs of words, as small as possible."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments

    model = numbered_model(tied(16))
    pairs = Dataset.from_dict(
        {"anchor": [f"w{at}" for at in range(8)], "positive": [f"w{at + 20}" for at in range(8)]}
    )
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        num_train_epochs=3,
        per_device_train_batch_size=4,
        learning_rate=0.5,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="no",
        report_to="none",
        load_best_model_at_end=True,
        metric_for_best_model=best,
        use_cpu=True,
        disable_tqdm=True,
        seed=0,
    )
    loss = original("MultipleNegativesRankingLoss", "losses")(model)
    return SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=pairs, loss=loss, evaluator=evaluator
    )


@pytest.mark.filterwarnings("ignore")
def test_a_trainer_chooses_the_best_model_by_it(tmp_path: Path) -> None:
    data = task(10, 50, 8)
    evaluator = ours(*data, name="toy")
    trainer = trainer_with(evaluator, tmp_path, "eval_toy_cosine_ndcg@10")
    trainer.train()
    rows = rows_of(tmp_path / "eval" / evaluator.csv_file)
    assert [row["epoch"] for row in rows] == ["1.0", "2.0", "3.0"]
    best = max(float(row["cosine-NDCG@10_lower"]) for row in rows)
    assert trainer.state.best_metric == best
    assert ours(*data, name="toy")(trainer.model)["toy_cosine_ndcg@10"] == best
    logged = [entry for entry in trainer.state.log_history if "eval_toy_cosine_ndcg@10_upper" in entry]
    assert len(logged) == 3
    card = trainer.model.model_card_data
    assert [entry["toy_cosine_ndcg@10"] for entry in card.training_logs if "toy_cosine_ndcg@10" in entry][:3] == [
        float(row["cosine-NDCG@10"]) for row in rows
    ]


@pytest.mark.filterwarnings("ignore")
def test_several_evaluators_in_a_trainer(tmp_path: Path) -> None:
    data = task(10, 50, 8)
    several = [
        theirs(*data, name="theirs"),
        ours(*data, name="floats"),
        ours(*data, name="codes", precision="ubinary"),
    ]
    trainer = trainer_with(several, tmp_path, "eval_sequential_score")
    trainer.train()
    rows = rows_of(tmp_path / "eval" / several[-1].csv_file)
    assert trainer.state.best_metric == max(float(row["hamming-NDCG@10"]) for row in rows)


def test_sequential_evaluator() -> None:
    model, data = numbered_model(tied(17)), task(10, 50, 8)
    several = [ours(*data, name="floats"), ours(*data, name="codes", precision="ubinary")]
    found = original("SequentialEvaluator")(several, main_score_function=sum)(model)
    assert found["sequential_score"] == found["floats_cosine_ndcg@10"] + found["codes_hamming_ndcg@10"]
    assert found["codes_hamming_map@100_upper"] == several[1].results["hamming"]["AP(norm=min)@100"].upper


def test_the_primary_metric_stays_that_of_the_first_evaluation() -> None:
    from sentence_transformers.util import cos_sim, dot_score

    functions = {"cosine": cos_sim, "dot": dot_score}
    queries, corpus, relevant = {"q": "w0"}, {"near": "w1", "long": "w2"}, {"q": {"near"}}
    good_by_cosine = numbered_model([[1.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    good_by_both = numbered_model([[1.0, 0.0], [9.0, 0.0], [5.0, 5.0]])
    evaluator = ours(queries, corpus, relevant, score_functions=functions)
    evaluator(good_by_cosine)
    assert evaluator.primary_metric == "cosine_ndcg@10"
    evaluator(good_by_both)
    assert evaluator.primary_metric == "cosine_ndcg@10"
    follows = ours(queries, corpus, relevant)
    follows(good_by_both)
    other = numbered_model([[1.0, 0.0], [1.0, 0.0], [5.0, 5.0]], similarity_fn_name="euclidean")
    follows(other)
    assert follows.primary_metric == "euclidean_ndcg@10"


# Predictions


def test_their_predictions_are_read(tmp_path: Path) -> None:
    model, data = numbered_model(tied(18), similarity_fn_name="dot"), task(10, 50, 8)
    original = theirs(*data, write_predictions=True, name="toy")
    value = original(model, str(tmp_path))
    path = tmp_path / "Information-Retrieval_evaluation_toy_predictions_dot.jsonl"
    qrels = {query: dict.fromkeys(documents, 1) for query, documents in data[2].items() if documents}
    del qrels["nobody"]
    result = tp.evaluate_run(qrels, path, measures=["nDCG@10", "RR@10"], truncated=True, n_items=50)
    found = ours(*data)(model)
    for bound in BOUNDS:  # 50 documents, and lists of at most 100: whole
        assert getattr(result["nDCG@10"], bound) == found[f"dot_ndcg@10_{bound}"]
        assert getattr(result["RR@10"], bound) == found[f"dot_mrr@10_{bound}"]
    assert result["nDCG@10"].lower <= value["toy_dot_ndcg@10"] <= result["nDCG@10"].upper
    short = theirs(*data, write_predictions=True, name="short", map_at_k=[10])
    short(model, str(tmp_path))
    cut = tmp_path / "Information-Retrieval_evaluation_short_predictions_dot.jsonl"
    of_cut = tp.evaluate_run(qrels, cut, measures=["nDCG@10"], truncated=True, n_items=50)
    assert of_cut.ties.queries_with_open_last_tie > 0
    assert of_cut["nDCG@10"].lower <= result["nDCG@10"].lower
    assert result["nDCG@10"].upper <= of_cut["nDCG@10"].upper


# The page

PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "sentence_transformers.md"


@pytest.mark.filterwarnings("ignore")
def test_the_page_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not PAGE.exists():
        pytest.skip("no docs beside the tests")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?"
    for code, printed in re.findall(blocks, PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(code, names)
        said = capsys.readouterr().out
        assert said == printed or not printed, code


@pytest.mark.parametrize("precision", [None, "int8", "binary"])
def test_a_model_that_returns_tensors(precision: Any) -> None:
    import torch

    model, (queries, corpus, relevant) = numbered_model(untied()), task(20, 40, 5)
    expected = ours(queries, corpus, relevant, precision=precision)(model)
    for name in ("encode_query", "encode_document"):
        encode = getattr(model, name)
        setattr(model, name, lambda *texts, encode=encode, **options: torch.as_tensor(encode(*texts, **options)))
    assert ours(queries, corpus, relevant, precision=precision)(model) == expected


def test_grades_are_the_gains_of_ndcg() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    embeddings = untied()
    queries, corpus, _ = task(20, 40, 5)
    random = np.random.default_rng(1)
    grades = random.choice([0, 0, 0, 1, 2, 3.5], size=(20, 40))
    relevant = {f"q{at}": {f"d{item}": grade for item, grade in enumerate(row)} for at, row in enumerate(grades)}
    relevant["q0"]["not in the corpus"] = 0
    found = ours(queries, corpus, relevant, ndcg_at_k=[5])(numbered_model(embeddings))
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    scores = unit[:20] @ unit[20:].T
    assert found["cosine_ndcg@5"] == pytest.approx(sklearn.ndcg_score(grades, scores, k=5), rel=1e-6)
    binary = {query: {document for document, grade in row.items() if grade > 0} for query, row in relevant.items()}
    plain = ours(queries, corpus, binary, ndcg_at_k=[5])(numbered_model(embeddings))
    assert {name: value for name, value in found.items() if "ndcg" not in name} == {
        name: value for name, value in plain.items() if "ndcg" not in name
    }


# Refusals

QUERIES, CORPUS, RELEVANT = {"q": "w0"}, {"d": "w1", "e": "w2"}, {"q": {"d"}}

REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "nothing": ((), {}, r"queries must be a dictionary from ids to texts, not NoneType"),
    "a list of queries": (
        (["w0"], CORPUS, RELEVANT),
        {},
        r"queries must be a dictionary from ids to texts, not list",
    ),
    "no judgments": (
        (QUERIES, CORPUS),
        {},
        r"relevant_docs must be a dictionary from ids to sets of ids or to grades, not NoneTyp",
    ),
    "one id as a string": (
        (QUERIES, CORPUS, {"q": "d"}),
        {},
        r"a set of ids for each query, or a dictionary from ids to grades, but for query 'q' it has str",
    ),
    "a negative grade": (
        (QUERIES, CORPUS, {"q": {"d": -1}}),
        {},
        r"-1 as the grade of document 'd' for query 'q'\. A grade is a finite number of at least 0",
    ),
    "a grade that is no number": (
        (QUERIES, CORPUS, {"q": {"d": "high"}}),
        {},
        r"'high' as the grade of document 'd' for query 'q'",
    ),
    "strangers": ((QUERIES, CORPUS, {"p": {"d"}}), {}, r"None of 1 queries has a relevant document in relevant_docs"),
    "a document that is not there": (
        (QUERIES, CORPUS, {"q": {"d", "f"}}),
        {},
        r"relevant_docs names document 'f' for query 'q', but the corpus has no document with this id",
    ),
    "ids that are tuples": (({("q", 1): "w0"}, CORPUS, {("q", 1): {"d"}}), {}, r"The ids of the queries"),
    "ids of two kinds": (({"q": "w0", 1: "w0"}, CORPUS, {"q": {"d"}, 1: {"d"}}), {}, r"The ids of the queries"),
    "no sentence": (
        (),
        {"sentences": [], "labels": []},
        r"sentences is empty\. Pass at least two sentences with the same label",
    ),
    "labels alone": ((), {"labels": [0]}, r"labels were passed without sentences\. Pass sentences= with"),
    "sentences alone": ((), {"sentences": ["w0"]}, r"sentences were passed without labels\. Pass labels= with"),
    "fewer labels": ((), {"sentences": ["w0", "w1"], "labels": [0]}, r"number of labels is 1, but"),
    "one text as sentences": ((), {"sentences": "w0", "labels": [0, 0]}, r"must be a list of texts, not str"),
    "sentences by id": ((), {"sentences": {"a": "w0"}, "labels": [0]}, r"must be a list of texts, not dict"),
    "one label": ((), {"sentences": ["w0"], "labels": 0}, r"The labels must have the shape \(items,\)"),
    "a label for each": (
        (),
        {"sentences": ["w0", "w1"], "labels": ["a", "b"]},
        r"No two of 2 sentences share a label, so none is a query for another",
    ),
    "columns of labels that nothing shares": (
        (),
        {"sentences": ["w0", "w1"], "labels": [[0, 1], [1, 0]]},
        r"No two of 2 sentences share a label, so none is a query for another",
    ),
    "labels of two kinds": ((), {"sentences": ["w0", "w1", "w2"], "labels": [0, "a", 0]}, r"but contain int, str"),
    "labels of NaN": ((), {"sentences": ["w0", "w1"], "labels": [0, math.nan]}, r"labels .* row 1 contains nan"),
    "integers for strings": (
        (QUERIES, {"7": "w1"}, {"q": {7}}),
        {},
        r"document 7 for query 'q', .* It has '7', but integers and strings differ",
    ),
    "strings for integers": ((QUERIES, {7: "w1"}, {"q": {"7"}}), {}, r"It has 7, but integers and strings differ"),
    "queries of another kind": (({7: "w0"}, CORPUS, {"7": {"d"}}), {}, r"queries have 7, relevant_docs has '7'"),
    "many queries and nothing relevant": (
        ({1: "a", 2: "b", 3: "c", 4: "d"}, CORPUS, {}),
        {},
        r"queries have 1, 2, 3, …, relevant_docs has none\.",
    ),
    "a number as name": ((QUERIES, CORPUS, RELEVANT), {"name": 5}, r"name must be a string, not int"),
    "names of score functions": (
        (QUERIES, CORPUS, RELEVANT),
        {"score_functions": ["cosine"]},
        r"must be a dictionary such as .* not list",
    ),
    "a name for a score function": (
        (QUERIES, CORPUS, RELEVANT),
        {"score_functions": {"cosine": "cosine"}},
        r"must map names to functions of two tensors, but contains 'cosine': 'cosine'",
    ),
    "both": ((QUERIES, CORPUS, RELEVANT), {"sentences": ["w0"], "labels": [0]}, r"Pass either queries, corpus and"),
    "no cutoff": (
        (QUERIES, CORPUS, RELEVANT),
        {"mrr_at_k": []},
        r"mrr_at_k must be a list of cutoffs such as \[10\]",
    ),
    "a cutoff of 0": (
        (QUERIES, CORPUS, RELEVANT),
        {"map_at_k": [0]},
        r"map_at_k must be a whole number of at least 1",
    ),
    "a cutoff alone": (
        (QUERIES, CORPUS, RELEVANT),
        {"ndcg_at_k": 10},
        r"ndcg_at_k must be a list of cutoffs such as",
    ),
    "chunks of nothing": (
        (QUERIES, CORPUS, RELEVANT, 0),
        {},
        r"corpus_chunk_size must be a whole number of at least",
    ),
    "a precision": (
        (QUERIES, CORPUS, RELEVANT),
        {"precision": "int4"},
        r"Known: float32, int8, uint8, binary, ubinar",
    ),
    "no score function": (
        (QUERIES, CORPUS, RELEVANT),
        {"score_functions": {}},
        r"not an empty one\. Leave it out to use the similarity of the model",
    ),
    "a similarity of codes": (
        (QUERIES, CORPUS, RELEVANT),
        {"precision": "binary", "score_functions": {"dot": min}},
        r"cannot be used with precision='binary', whose codes are compared by Hamming distance",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    arguments, options, message = REFUSED[name]
    with pytest.raises(tp.InputError, match=message):
        ours(*arguments, **options)


def test_models_that_do_not_fit_are_refused() -> None:
    model = numbered_model([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(tp.InputError, match=r"main_score_function is 'dot', but the evaluation has only cosine"):
        ours(QUERIES, CORPUS, RELEVANT, main_score_function="dot")(model)
    methods = dict.fromkeys(("encode", "encode_query", "encode_document"), str)
    unknown = SimpleNamespace(similarity_fn_name="xtr", **methods)
    with pytest.raises(tp.InputError, match=r"The similarity of the model is 'xtr', which is not one of cosine"):
        ours(QUERIES, CORPUS, RELEVANT)(unknown)
    with pytest.raises(
        tp.InputError, match=r"model is of type str, which has no encode_query\. Pass a SentenceTransf"
    ):
        ours(QUERIES, CORPUS, RELEVANT)("a name of a model")
    spoilt = word_model({"w0": [1.0, 0.0], "w1": [float("nan"), 0.0], "w2": [0.0, 1.0]})
    with pytest.raises(tp.InputError, match=r"The gallery must contain only finite numbers, but row 0 contains nan"):
        ours(QUERIES, CORPUS, RELEVANT)(spoilt)


# The corpus given


@pytest.mark.parametrize("precision", [None, "int8", "ubinary"])
def test_embeddings_and_another_model_of_the_corpus(precision: Any) -> None:
    import torch

    embeddings, data = untied(14), task(10, 50, 8)
    model, other = numbered_model(embeddings), numbered_model(np.roll(embeddings, 3, axis=1))
    expected = ours(*data, precision=precision)(model)
    for form in (np.asarray, torch.from_numpy):
        found = ours(*data, precision=precision)(other, corpus_model=model)
        queries = ours(*data, precision=precision)(model, corpus_embeddings=form(embeddings[10:]))
        assert queries == expected
    if precision is None:
        assert plain(found) == pytest.approx(theirs(*data)(other, corpus_model=model), rel=1e-12)
        given = torch.from_numpy(embeddings[10:])
        assert plain(expected) == pytest.approx(theirs(*data)(model, corpus_embeddings=given), rel=1e-12)


def test_what_is_no_corpus_is_refused() -> None:
    embeddings, data = untied(15), task(10, 50, 8)
    model = numbered_model(embeddings)
    sentences = ours(sentences=["w1", "w2"], labels=[0, 0])
    calls: dict[str, Callable[[], Any]] = {
        r"corpus_embeddings has shape \(49, 12\), but the corpus has 50": lambda: ours(*data)(
            model, corpus_embeddings=embeddings[11:]
        ),
        "not both": lambda: ours(*data)(model, corpus_model=model, corpus_embeddings=embeddings[10:]),
        "sentences have no corpus": lambda: sentences(model, corpus_model=model),
        "contains nan": lambda: ours(*data)(model, corpus_embeddings=embeddings[10:] * np.nan),
        "must be the floats of a model": lambda: ours(*data, precision="int8")(
            model, corpus_embeddings=np.ones((50, 12), np.int8)
        ),
        "no encode_document": lambda: ours(*data)(model, corpus_model=7),
    }
    for message, call in calls.items():
        with pytest.raises(tp.InputError, match=message):
            call()


# Reranking


def reranking(samples: Any, **options: Any) -> Any:
    module = import_module("tieproof.integrations.sentence_transformers")
    return module.TieproofRerankingEvaluator(samples, **options)


def samples_of(seed: int, count: int = 12, documents: int = 48) -> list[dict[str, Any]]:
    """Candidates of a `numbered_model`; some samples have no text of a kind."""
    random = np.random.default_rng(seed)
    found = []
    for at in range(count):
        names = [f"w{count + item}" for item in random.choice(documents, 9, replace=False)]
        cut = int(random.integers(0, 5))
        found.append({"query": f"w{at}", "positive": names[:cut], "negative": names[cut:]})
    found[3]["negative"] = []
    return found


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("batched", [True, False])
def test_reranking_without_ties_has_their_numbers(similarity: str, batched: bool, tmp_path: Path) -> None:
    from sentence_transformers import SimilarityFunction

    model = numbered_model(untied(16))
    options = {"similarity_fct": SimilarityFunction.to_similarity_fn(similarity), "use_batched_encoding": batched}
    options |= {"at_k": 3, "name": "toy", "truncate_dim": 7}
    expected_by, evaluator = (make(samples_of(1), **options) for make in (original("RerankingEvaluator"), reranking))
    expected, found = (each(model, str(tmp_path)) for each in (expected_by, evaluator))
    assert plain(found) == pytest.approx(expected, rel=1e-12)
    assert evaluator.primary_metric == expected_by.primary_metric == "toy_ndcg@3"
    assert evaluator.get_config_dict() == expected_by.get_config_dict()
    for name, value in plain(found).items():
        assert value == found[f"{name}_lower"] == found[f"{name}_upper"] == found[f"{name}_expected"]
    samples = [{**each, **{key: each[key][0] for key in each if len(each[key]) == 1}} for each in samples_of(1)]
    assert reranking(samples, **options)(model) == found
    (row,) = rows_of(tmp_path / "Tieproof_reranking_toy_results_@3.csv")
    assert float(row["MRR@3"]) == found["toy_mrr@3"]


@pytest.mark.parametrize("seed", range(3))
def test_reranking_with_ties_is_over_all_orderings(seed: int) -> None:
    from sentence_transformers import util

    embeddings, samples = tied(seed, dimensions=2), dict(enumerate(samples_of(seed)))
    model, options = numbered_model(embeddings), {"at_k": 4, "similarity_fct": util.dot_score}
    evaluator = reranking(samples, **options)
    found, value = evaluator(model), original("RerankingEvaluator")(samples, **options)(model)
    assert found["ndcg@4_expected"] == pytest.approx(value["ndcg@4"], rel=1e-12)  # theirs averages over ties
    assert found["mrr@4_lower"] - 1e-12 <= value["mrr@4"] <= found["mrr@4_upper"] + 1e-12
    assert found["mrr@4_lower"] < found["mrr@4_expected"] < found["mrr@4_upper"]
    measures = {"map": "AP", "mrr@4": "RR@4", "ndcg@4": "nDCG@4"}
    for number, (query, positive, negative) in enumerate(evaluator.samples):
        texts = [int(text[1:]) for text in positive + negative]
        scores = embeddings[texts] @ embeddings[int(query[1:])]
        relevant = [1] * len(positive) + [0] * len(negative)
        exact = tp.evaluate_scores([scores], [relevant], measures=list(measures.values()))
        for name, measure in measures.items():
            assert evaluator.per_query[name].lower[number] == exact[measure].lower
            assert evaluator.per_query[name].upper[number] == exact[measure].upper


def test_reranking_by_a_function_of_ones_own() -> None:
    import torch

    def chebyshev(query: Any, documents: Any) -> Any:
        return -torch.cdist(query.reshape(1, -1), documents, p=torch.inf)

    model = numbered_model(untied(17))
    options = {"similarity_fct": chebyshev, "mrr_at_k": 5}
    found, expected = (make(samples_of(2), **options)(model) for make in (reranking, original("RerankingEvaluator")))
    assert plain(found) == pytest.approx(expected, rel=1e-12)


def test_samples_that_are_refused() -> None:
    good = {"query": "w1", "positive": "w2", "negative": ["w3"]}
    calls: dict[str, Callable[[], Any]] = {
        "Sample 1 must be a dictionary with query, positive, negative": lambda: reranking([good, {"query": "w1"}]),
        "Sample 0 must be .*: str": lambda: reranking(["w1"]),
        "None of 1 samples has both": lambda: reranking([{**good, "negative": []}]),
        "at_k must be": lambda: reranking([good], at_k=0),
        "similarity_fct must be": lambda: reranking([good], similarity_fct="cosine"),
        "no encode_query": lambda: reranking([good])(7),
    }
    for message, call in calls.items():
        with pytest.raises(tp.InputError, match=message):
            call()


# NanoBEIR


def test_nano_beir_in_its_own_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small data sets in place of downloads; without ties the numbers and the table are those of the library."""
    package = import_module("tieproof.integrations.sentence_transformers")
    library = original("NanoBEIREvaluator")
    texts, corpus, relevant = task(10, 50, 8)

    def subset(self: Any, subset: str, split: str, required_columns: list[str]) -> list[dict[str, str]]:
        kept = [*texts][: 6 if split == "NanoNQ" else 9]
        rows: dict[str, list[dict[str, str]]] = {
            "queries": [{"_id": query, "text": texts[query]} for query in kept],
            "corpus": [{"_id": document, "text": text} for document, text in corpus.items()],
            "qrels": [{"query-id": query, "corpus-id": name} for query in kept for name in sorted(relevant[query])],
        }
        return rows[subset]

    monkeypatch.setattr(library, "_load_dataset_subset_split", subset)
    found, evaluators = {}, {}
    for name, cls in {"ours": package.TieproofNanoBEIREvaluator, "theirs": library}.items():
        evaluators[name] = cls(["nq", "scifact"])
        found[name] = evaluators[name](numbered_model(untied()), str(tmp_path / name))
    assert plain(found["ours"]) == pytest.approx(found["theirs"], rel=1e-12)
    assert evaluators["ours"].primary_metric == evaluators["theirs"].primary_metric
    tables = [
        (tmp_path / name / "NanoBEIR_evaluation_mean_results.csv").read_text(encoding="utf-8").split("\n")
        for name in found
    ]
    assert tables[0][0] == tables[1][0]
    rows = [[float(cell) for cell in table[1].split(",")] for table in tables]
    assert rows[0] == pytest.approx(rows[1], rel=1e-12)
    between = evaluators["ours"](numbered_model(tied()))
    for bound in BOUNDS:
        of_sets = [between[f"{name}_cosine_ndcg@10_{bound}"] for name in ("NanoNQ", "NanoSciFact")]
        assert between[f"NanoBEIR_mean_cosine_ndcg@10_{bound}"] == np.mean(of_sets)
    assert between["NanoBEIR_mean_cosine_ndcg@10_lower"] < between["NanoBEIR_mean_cosine_ndcg@10_upper"]
    with pytest.raises(tp.InputError, match="write_predictions=True would cut lists off"):
        package.TieproofNanoBEIREvaluator(["nq"], write_predictions=True)


def test_cross_encoders_are_refused_by_name() -> None:
    from sentence_transformers import CrossEncoder

    package = import_module("tieproof.integrations.sentence_transformers")
    samples = [{"query": "cat", "positive": "a cat", "negative": "a dog"}]
    for evaluator in (ours(QUERIES, CORPUS, RELEVANT), package.TieproofRerankingEvaluator(samples)):
        with pytest.raises(tp.InputError, match=r"CrossEncoder scores pairs of texts, .* tieproof\.evaluate_scores"):
            evaluator(CrossEncoder.__new__(CrossEncoder))
