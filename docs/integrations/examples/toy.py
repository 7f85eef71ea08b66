"""What the examples share: handwritten digits, and a small model whose signs are codes of 16 bits."""

import torch
from torch import nn

from tieproof.data import load_digits

torch.manual_seed(0)
pixels, labels = (torch.tensor(values) for values in load_digits())
pixels = pixels.float() / 16
train, test = slice(0, 1000), slice(1000, None)


class Model(nn.Module):
    """A classifier, whose embeddings are computed on the way to the classes."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16), nn.Tanh())
        self.classify = nn.Linear(16, 10)

    def loss(self, pixels, labels):
        """The cross-entropy of the predicted classes."""
        return nn.functional.cross_entropy(self.classify(self.embed(pixels)), labels)

    @torch.no_grad()
    def codes(self, pixels):
        """The signs of the embeddings, as a system stores them."""
        return self.embed(pixels) > 0
