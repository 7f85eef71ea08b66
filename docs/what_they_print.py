"""Compare what libraries print for one ranking with many ties with the true interval; write what_they_print.md.

Needs the libraries of the extra `heavy`, and downloads nothing. Given the name of a library, it prints its numbers.
"""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp

os.environ["HF_HUB_OFFLINE"] = "1"  # before libraries that would look for a hub are imported

PAGE = Path(__file__).with_suffix(".md")

VECTORS, COPIES, QUERIES = 10, 5, 5
RELEVANT = ((0, 1), (0, 1), (0, 3), (1, 4), (0, 2))
"""For each query, the copies of its nearest vector that are relevant."""

MEASURE = "nDCG@10"
DIGITS = 1e-5
"""Some libraries compute in float32, and MTEB rounds to five digits."""


class Toy(NamedTuple):
    """50 documents with ten different vectors, five copies of each, and five queries.

    Document i has the unit vector number i mod 10. The vector of query q contains its scores for the ten vectors; the
    nearest one is number 2 q, and the five copies of each vector are tied.

    names : the id of each document, in the order of the documents
    order : the documents in the order in which they are handed over
    """

    names: tuple[str, ...]
    order: tuple[int, ...]

    @property
    def documents(self) -> dict[str, list[float]]:
        """The vectors, by the ids, in the order in which they are handed over."""
        return {self.names[i]: np.eye(VECTORS)[i % VECTORS].tolist() for i in self.order}

    @property
    def queries(self) -> dict[str, list[float]]:
        """The vectors of the queries: scores from 1/16 to 10/16."""
        return {
            f"q{q}": [(VECTORS - (vector - 2 * q) % VECTORS) / 16 for vector in range(VECTORS)]
            for q in range(QUERIES)
        }

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """The score of each document for each query, the inner product of their vectors."""
        return {
            query: {name: float(np.dot(own, vector)) for name, vector in self.documents.items()}
            for query, own in self.queries.items()
        }

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Two relevant documents for each query, both of its nearest vector."""
        return {
            f"q{q}": {self.names[2 * q + VECTORS * copy]: 1 for copy in copies} for q, copies in enumerate(RELEVANT)
        }

    @property
    def matrices(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Scores and relevance, (queries, documents)."""
        rows = [
            (list(scores.values()), [self.qrels[q].get(name, 0) for name in scores]) for q, scores in self.run.items()
        ]
        return np.array([scores for scores, _ in rows]), np.array([relevant for _, relevant in rows])


ASCENDING = tuple(f"d{i:02}" for i in range(VECTORS * COPIES))
PLAIN = tuple(range(VECTORS * COPIES))
TOYS = {
    "as built": Toy(ASCENDING, PLAIN),
    "ids reversed": Toy(ASCENDING[::-1], PLAIN),
    "rows in another order": Toy(ASCENDING, tuple(7 * i % (VECTORS * COPIES) for i in PLAIN)),
}
"""The same ranking three times; only ids or rows are reordered."""


def mean_ndcg(toy: Toy, rank: Callable[[list[str]], list[str]]) -> float:
    """The mean nDCG@10 if `rank` orders the ids of equal scores, which it gets in the order of the rows."""
    found = []
    for query, scores in toy.run.items():
        levels = sorted(set(scores.values()), reverse=True)
        ranking = [
            name for level in levels for name in rank([name for name, score in scores.items() if score == level])
        ]
        relevant = toy.qrels[query]
        gain = sum(1 / log2(place + 2) for place, name in enumerate(ranking[:10]) if name in relevant)
        found.append(gain / sum(1 / log2(place + 2) for place in range(len(relevant))))
    return float(np.mean(found))


ORDERS: dict[str, Callable[[Toy], float]] = {
    "ids ascending": lambda toy: mean_ndcg(toy, sorted),
    "ids descending": lambda toy: mean_ndcg(toy, lambda ids: sorted(ids, reverse=True)),
    "rows as they come": lambda toy: mean_ndcg(toy, list),
    "rows, the last first": lambda toy: mean_ndcg(toy, lambda ids: ids[::-1]),
    "the mean over all orders": lambda toy: truth(toy).expected,
}
"""The value that a library prints if it breaks ties in this order."""


def truth(toy: Toy) -> "tp.Estimate[float]":
    """The lowest, the expected and the highest value over all orders of tied documents."""
    return tp.evaluate_run(toy.qrels, toy.run, measures=[MEASURE])[MEASURE]


def sentence_transformers(toy: Toy) -> float:
    """By a model that gives each text, which is an id, its vector."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    vectors = toy.queries | toy.documents
    words = {word: at for at, word in enumerate([*vectors, "[UNK]"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    weights = np.array([*vectors.values(), [0.0] * VECTORS], dtype=np.float32)
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights)], device="cpu", similarity_fn_name="dot")
    queries: dict[str, Any] = dict(zip(toy.queries, toy.queries, strict=True))
    corpus: dict[str, Any] = dict(zip(toy.documents, toy.documents, strict=True))
    relevant = {query: set(grades) for query, grades in toy.qrels.items()}
    found = InformationRetrievalEvaluator(queries, corpus, relevant, ndcg_at_k=[10], show_progress_bar=False)(model)
    return float(found["dot_ndcg@10"])


def mteb(toy: Toy) -> float:
    """By a task in memory and an encoder that reads the vector from the text."""
    import mteb as library
    from datasets import Dataset
    from mteb.abstasks import AbsTaskRetrieval
    from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import ModelMeta

    class Encoder:
        mteb_model_meta = ModelMeta.create_empty(overwrites={"name": "toy/encoder", "revision": "1"})

        def encode(self, inputs: Any, **options: Any) -> Any:
            texts = [text for batch in inputs for text in batch["text"]]
            return np.array([[float(word) for word in text.split()] for text in texts], dtype=np.float32)

        def similarity(self, queries: Any, documents: Any) -> Any:
            return np.asarray(queries) @ np.asarray(documents).T

        def similarity_pairwise(self, queries: Any, documents: Any) -> Any:
            return (np.asarray(queries) * np.asarray(documents)).sum(axis=1)

    unknown: dict[str, Any] = dict.fromkeys(
        ("date", "domains", "task_subtypes", "license", "annotations_creators", "dialect", "sample_creation")
    )
    about = TaskMetadata(
        name="Toy",
        description="A toy",
        dataset={"path": "none", "revision": "1"},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
        reference=None,
        bibtex_citation=None,
        **unknown,
    )
    rows = [
        Dataset.from_list([{"id": name, "text": " ".join(map(repr, vector))} for name, vector in side.items()])
        for side in (toy.documents, toy.queries)
    ]
    task = type("Task", (AbsTaskRetrieval,), {"metadata": about})()
    split = RetrievalSplitData(corpus=rows[0], queries=rows[1], relevant_docs=toy.qrels, top_ranked=None)
    task.dataset, task.data_loaded = {"default": {"test": split}}, True
    result = library.evaluate(Encoder(), task, cache=None, show_progress_bar=False, co2_tracker=False)
    return float(result.task_results[0].scores["test"][0]["ndcg_at_10"])


def pytrec_eval(toy: Toy) -> float:
    """trec_eval, called from Python."""
    import pytrec_eval as library

    found = library.RelevanceEvaluator(toy.qrels, {"ndcg_cut.10"}).evaluate(toy.run)
    return float(np.mean([of["ndcg_cut_10"] for of in found.values()]))


def ir_measures(toy: Toy) -> float:
    """By the provider that it takes by itself."""
    import ir_measures as library

    measure = library.nDCG @ 10
    return float(library.calc_aggregate([measure], toy.qrels, toy.run)[measure])


def pyterrier(toy: Toy) -> float:
    """By an experiment with a finished run."""
    import pandas as pd
    import pyterrier as library

    run = [(query, name, score) for query, scores in toy.run.items() for name, score in scores.items()]
    qrels = [(query, name, grade) for query, grades in toy.qrels.items() for name, grade in grades.items()]
    topics = pd.DataFrame({"qid": list(toy.run), "query": list(toy.run)})
    found = library.Experiment(
        [library.Transformer.from_df(library.model.add_ranks(pd.DataFrame(run, columns=["qid", "docno", "score"])))],
        topics,
        pd.DataFrame(qrels, columns=["qid", "docno", "label"]),
        ["ndcg_cut_10"],
        names=["run"],
    )
    return float(found["ndcg_cut_10"][0])


def ranx(toy: Toy) -> float:
    """By dictionaries."""
    import ranx as library

    return float(library.evaluate(library.Qrels(toy.qrels), library.Run(toy.run), "ndcg@10"))


def sklearn_averaging(toy: Toy) -> float:
    """As it is called by default."""
    from sklearn.metrics import ndcg_score

    scores, relevant = toy.matrices
    return float(ndcg_score(relevant, scores, k=10))


def sklearn_ignoring(toy: Toy) -> float:
    """As it is called to save time."""
    from sklearn.metrics import ndcg_score

    scores, relevant = toy.matrices
    return float(ndcg_score(relevant, scores, k=10, ignore_ties=True))


def torchmetrics(toy: Toy) -> float:
    """By the class, query by query."""
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    scores, relevant = map(torch.tensor, toy.matrices)
    query = torch.arange(QUERIES)[:, None].expand_as(scores)
    return float(RetrievalNormalizedDCG(top_k=10)(scores.flatten(), relevant.flatten(), indexes=query.flatten()))


LIBRARIES: dict[str, tuple[str, Callable[[Toy], float]]] = {
    "sentence-transformers": ("`InformationRetrievalEvaluator`", sentence_transformers),
    "MTEB": ("`mteb.evaluate`", mteb),
    "pytrec_eval": ("`RelevanceEvaluator`", pytrec_eval),
    "ir_measures": ("`calc_aggregate`", ir_measures),
    "PyTerrier": ("`Experiment`", pyterrier),
    "ranx": ("`evaluate`", ranx),
    "scikit-learn": ("`ndcg_score`", sklearn_averaging),
    "scikit-learn, ignoring ties": ("`ndcg_score(ignore_ties=True)`", sklearn_ignoring),
    "torchmetrics": ("`RetrievalNormalizedDCG`", torchmetrics),
}

INTRODUCTION = f"""---
file_format: mystnb
kernelspec: {{{{name: python3}}}}
---

<!-- Written by docs/what_they_print.py from what the libraries print. -->

# What they print, and what is true

A library that breaks ties in an order of its own prints one point of the interval that ties leave open. Below,
several libraries score one small ranking; for a run of your own,
[`result.as_printed`](#where-does-a-published-number-lie) shows where a published number lies. The ranking has five
queries and 50 documents, `d00` to `d49`. There are ten vectors, and document i has the vector number i mod 10. Each
vector thus belongs to five documents, which a user would call duplicates. The score of query q for vector v is (10 -
(v - 2 q) mod 10) / 16, which every float type represents exactly. The nearest vector of query q is number 2 q, and
two of the five documents with this vector are relevant:

| query | relevant | tied with |
|---|---|---|
{{relevant}}
Over all orders of tied documents the mean nDCG@10 is {{truth}}: lower ≤ **expected** ≤ upper.

Each library below scored this ranking three times: as built, with the ids of the documents reversed (`d49` to `d00`),
and with the rows in another order. These changes say nothing about which document is better, so the number should not
change:

| library | call | {" | ".join(TOYS)} | order of equal scores |
|---|---|{"--:|" * len(TOYS)}---|
"""

END = r"""
The last column, "order of equal scores", names the order of tied documents that gives all three numbers. If
none of the orders tried does, the library's sorting algorithm is not stable. NumPy's sort, by which scikit-learn
ignores ties, differs between processors, so on your machine this row may contain other numbers.

@OUTSIDE@
## Where does a published number lie?

With the run and the judgments behind a published number, you can compute the interval, and see where the number lies
in it. Here is a run of four queries whose scores have a single decimal:

```{code-cell}
import numpy as np
import tieproof as tp

random = np.random.default_rng(0)
documents = [f"d{number:02}" for number in range(12)]
run = {
    query: dict(zip(random.permutation(documents).tolist(), (random.integers(0, 5, 12) / 10).tolist()))
    for query in ["q1", "q2", "q3", "q4"]
}
qrels = {query: {name: 1 for name in random.choice(documents, 3, replace=False).tolist()} for query in run}

result = tp.evaluate_run(qrels, run, measures=["AP", "nDCG@10", "P@5"])
printed = result.as_printed("trec_eval", qrels=qrels, run=run)
print(printed.to_text(explain=True))
```

The last column is what trec_eval prints. A result does not keep its data, so the data is passed again.
`printed.printed.per_query("AP")` has the numbers of all queries. The same files on the command line:

```{code-cell}
with open("run.txt", "w") as file:
    file.writelines(f"{query} Q0 {name} 1 {score} toy\n" for query, row in run.items() for name, score in row.items())
with open("qrels.txt", "w") as file:
    file.writelines(f"{query} 0 {name} {grade}\n" for query, row in qrels.items() for name, grade in row.items())
!tieproof run qrels.txt run.txt -m map,P.5 --as position --explain
```

| rule | order of equal scores | who ranks so |
|---|---|---|
| `trec_eval` | document id, the largest first | trec_eval 10.0, whose scores are doubles |
| `pytrec_eval` | scores are rounded to single precision, then document id, the largest first | pytrec_eval, trec_eval up to 9.0.8, and what is built on them: MTEB, ir_measures, PyTerrier |
| `ranx` | in the order given up to 15 documents, then by a sort that is not stable | ranx; needs `pip install 'tieproof[ranx]'` |
| `descending`, `ascending` | document id | sentence-transformers ranks ascending |
| `position` | in the order given | a stable sort of the negative scores |
| `reversed` | in the reverse of the order given | a stable sort of the scores, read from its end |

Ids are compared by their bytes in UTF-8, as `strcmp` does. The comparison of trec_eval is `comp_sim_docno` in its
`form_res_rels.c`; its scores became doubles in [commit
dc0c991](https://github.com/usnistgov/trec_eval/commit/dc0c991c80bae2087de774ed76278e11d9d9f4c6) of 2023. `ranx` takes
the order from the installed library.

Lists of scores or distances have no ids, so that only `position` and `reversed` apply to `evaluate_scores` and
`evaluate_distances`:

```{code-cell}
scores, relevance = [[0.5, 0.5, 0.25]], [[0, 1, 0]]
listed = tp.evaluate_scores(scores, relevance, measures=["RR"])
print(listed["RR"], listed.as_printed("position", scores=scores, relevance=relevance).printed["RR"])
```

- Scores that differ by less than single precision are equal for `pytrec_eval`, and the value can then lie outside
  of the interval, which compares scores as they are. The text below the table says so.
- trec_eval reads grades by `atol`, which cuts off fractions: 0.5 and -0.5 are 0, and 1.5 is 1. `trec_eval` and
  `pytrec_eval` show what it prints for such grades; the interval is about the grades as they are. pytrec_eval
  itself takes no fractions.
- Both columns show `IPrec` as [that version](measures.md#iprec) counts, whatever `hits=` is.
- Queries count as in the result. trec_eval leaves out queries that are missing from the run, as `missing="skip"`
  does; `trec_eval -c` counts them as 0, as `missing="zero"` does. Both count queries without relevant documents as
  0 (`empty="zero"`).
- For lists that were cut off, the value is that of the given part.
"""  # noqa: E501

BY_PROCESSOR = "scikit-learn, ignoring ties"
"""The library whose row depends on the processor."""


def printed(name: str) -> list[float]:
    """What a library prints for each toy, in a process of its own, since the thread pools of libraries interfere."""
    found = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
    values: list[float] = json.loads(found.stdout.splitlines()[-1])
    return values


def order_of(values: list[float]) -> str:
    """The order of equal scores that gives these values."""
    for name, value in ORDERS.items():
        if all(abs(value(toy) - found) <= DIGITS for toy, found in zip(TOYS.values(), values, strict=True)):
            return name
    return "none of these"


def interval(estimate: "tp.Estimate[float]") -> str:
    """Lower, expected and upper value as the page has them."""
    return f"{estimate.lower:.4f} ≤ **{estimate.expected:.4f}** ≤ {estimate.upper:.4f}"


def rows() -> Iterator[str]:
    """The lines of the table."""
    for name, (call, _) in LIBRARIES.items():
        values = printed(name)
        yield f"| {name} | {call} | {' | '.join(f'{value:.4f}' for value in values)} | {order_of(values)} |\n"
    intervals = [interval(truth(toy)) for toy in TOYS.values()]
    yield f"| tieproof | `evaluate_run` | {' | '.join(intervals)} | all of them |\n"


def relevant_rows() -> Iterator[str]:
    """The relevant documents of each query, and those that are tied with them."""
    toy = TOYS["as built"]
    for query, scores in toy.run.items():
        relevant = toy.qrels[query]
        tied = [name for name, score in scores.items() if score == max(scores.values()) and name not in relevant]
        yield f"| {query} | {', '.join(relevant)} | {', '.join(tied)} |\n"


def outside() -> str:
    """The section about numbers outside the interval, from the script that computes them."""
    return str(runpy.run_path(str(PAGE.with_name("other_libraries.py")))["section"]())


def render() -> str:
    """The page."""
    one = interval(truth(TOYS["as built"]))
    return (
        INTRODUCTION.format(relevant="".join(relevant_rows()), truth=one)
        + "".join(rows())
        + END.replace("@OUTSIDE@", outside())
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps([LIBRARIES[sys.argv[1]][1](toy) for toy in TOYS.values()]))
    else:
        PAGE.write_text(render(), encoding="utf-8")
