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


def late_model(words: Sequence[str], folder: Any, **options: Any) -> Any:
    """A model with several vectors for each text: a small network with random weights, which is saved in a folder."""
    from sentence_transformers import MultiVectorEncoder
    from transformers import BertModel

    return MultiVectorEncoder(_saved(BertModel, words, folder), device="cpu", **options)


def sparse_model(words: Sequence[str], folder: Any, **options: Any) -> Any:
    """A model with a sparse row for each text, as SPLADE has: a small network with random weights in a folder."""
    from sentence_transformers import SparseEncoder
    from transformers import BertForMaskedLM

    return SparseEncoder(_saved(BertForMaskedLM, words, folder), device="cpu", **options)


def _saved(network: Any, words: Sequence[str], folder: Any) -> str:
    """Save a network of this class, and a tokenizer with these words; return the folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, PreTrainedTokenizerFast

    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    vocabulary = {word: at for at, word in enumerate([*special.values(), *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    network(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=32, **sizes)).save_pretrained(folder)
    return str(folder)
