"""The study of MTEB's compression: only scales of several calls depend on the order of documents."""

import warnings

import numpy as np
import pytest

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("mteb")

import tieproof as tp  # noqa: E402
from studies.compression import study  # noqa: E402

RANDOM = np.random.default_rng(1)
LABELS = RANDOM.integers(0, 4, 120)
EMBEDDINGS = (RANDOM.standard_normal((120, 6)) + LABELS[:, None]).astype(np.float32)


def test_only_scales_of_several_calls_depend_on_the_order() -> None:
    forward, backward = (np.flatnonzero(np.arange(120) % study.EVERY)[::step] for step in (1, -1))
    shuffled = RANDOM.permutation(forward)
    for way in study.WAYS:
        found = {study.printed(way, EMBEDDINGS, LABELS, order) for order in (forward, shuffled)}
        assert len(found) == 1 or way.kind is not None, way
        if way.at_once or way.calls == 1 or study.calls_of(way) == "no scale":
            assert len(found) == 1, way
    (several,) = [way for way in study.WAYS if way.name == "int8" and way.calls == 8]
    assert len({study.printed(several, EMBEDDINGS, LABELS, order) for order in (forward, backward, shuffled)}) > 1


def test_the_score_of_floats_is_ours() -> None:
    queries, documents = (np.flatnonzero((np.arange(120) % study.EVERY > 0) == kind) for kind in (False, True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tp.evaluate(
            EMBEDDINGS[queries],
            LABELS[queries],
            gallery=EMBEDDINGS[documents],
            gallery_labels=LABELS[documents],
            measures="nDCG@10",
        )
    assert study.printed(study.WAYS[0], EMBEDDINGS, LABELS, documents) == pytest.approx(
        result["nDCG@10"].expected, abs=0.51e-5
    )
