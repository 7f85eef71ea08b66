"""Plain PyTorch: the weights of the epoch with the highest expected value are kept."""

import torch
from toy import Model, labels, pixels, test, train

import tieproof as tp

model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
best = -1.0
for epoch in range(8):
    for batch in torch.randperm(1000).split(50):
        optimizer.zero_grad()
        model.loss(pixels[train][batch], labels[train][batch]).backward()
        optimizer.step()
    result = tp.evaluate(model.codes(pixels[test]), labels[test], distance="hamming", measures=["AP", "P@1"])
    print(f"epoch {epoch}: AP {result['AP']:.4f}, P@1 {result['P@1']:.4f}")
    if result["P@1"].expected > best:
        best = result["P@1"].expected
        torch.save(model.state_dict(), "best.pt")
