"""Evaluators of judgments and a run, as dicts of dicts."""

from typing import Any

import numpy as np

import tieproof as tp

Dicts = dict[str, dict[str, Any]]

RANX = (
    "map",
    "mrr",
    "ndcg",
    "ndcg_burges",
    "precision@10",
    "recall@10",
    "f1@10",
    "r-precision",
    "hit_rate@1",
    "rbp.95",
    "bpref",
)


def ranx(qrels: Dicts, run: Dicts) -> dict[str, float]:
    """Evaluate, from a Qrels and a Run made of dictionaries; bpref needs the judgments of 0, too."""
    import ranx as library

    relevant = {
        query: {document: grade for document, grade in judged.items() if grade} for query, judged in qrels.items()
    }
    ranked = library.Run(run)
    found = library.evaluate(library.Qrels(relevant), ranked, list(RANX[:-1]))
    found["bpref"] = library.evaluate(library.Qrels(qrels), ranked, "bpref")
    return {name: float(value) for name, value in found.items()}


def pytrec_eval_map(qrels: Dicts, run: Dicts) -> float:
    """RelevanceEvaluator; the mean is ours, as in its example."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    return float(np.mean([values["map"] for values in found.values()]))


def ir_measures_ap(qrels: Dicts, run: Dicts) -> float:
    """AP by `calc_aggregate` of ir_measures."""
    import ir_measures

    return float(ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP])


def tieproof_run(qrels: Dicts, run: Dicts) -> float:
    """The lower bound of tieproof, of a run."""
    return tp.evaluate_run(qrels, run, measures=["AP"])["AP"].lower
