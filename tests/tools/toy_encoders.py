"""Models of sentence-transformers that need no download: the mean of the vectors of known words."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def word_model(vectors: Mapping[str, Sequence[float]], **options: Any) -> Any:
    """A model that gives each word its vector, a text the mean of its words, and other words a vector of zeros."""
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer, models, pre_tokenizers

    try:
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    except ModuleNotFoundError:  # before version 5.4
        from sentence_transformers.models import StaticEmbedding

    vocabulary = {word: at for at, word in enumerate([*vectors, "[UNK]"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    dimensions = len(next(iter(vectors.values())))
    weights = np.array([*vectors.values(), [0.0] * dimensions], dtype=np.float32)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights)], device="cpu", **options)


def numbered_model(embeddings: Any, **options: Any) -> Any:
    """A model that gives the text "w3" the row 3 of some embeddings."""
    return word_model({f"w{at}": row.tolist() for at, row in enumerate(np.asarray(embeddings))}, **options)
