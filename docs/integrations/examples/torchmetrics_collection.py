"""torchmetrics: a MetricCollection whose metrics give the interval; its state is synchronized between processes."""

import torch
from torchmetrics import MetricCollection
from toy import Model, labels, pixels, test, train

from tieproof.compat.torchmetrics import RetrievalMAP, RetrievalPrecision

metrics = MetricCollection(
    {
        "ap": RetrievalMAP(ties="interval", ignore_index=-1),
        "p_at_1": RetrievalPrecision(top_k=1, ties="interval", ignore_index=-1),
    }
)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
best = -1.0
for epoch in range(5):
    for batch in torch.randperm(1000).split(50):
        optimizer.zero_grad()
        model.loss(pixels[train][batch], labels[train][batch]).backward()
        optimizer.step()
    codes, own = model.codes(pixels[test]).float(), labels[test]
    for queries in torch.arange(len(codes)).split(200):
        scores = -torch.cdist(codes[queries], codes, p=1)
        target = (own[queries, None] == own).long()
        target[torch.arange(len(queries)), queries] = -1  # no query is ranked for itself
        metrics.update(scores, target, indexes=queries[:, None].expand_as(scores))
    found = metrics.compute()
    metrics.reset()
    print(f"epoch {epoch}:", ", ".join(f"{name} {value:.4f}" for name, value in found.items()))
    if found["ap_expected"] > best:
        best = found["ap_expected"]
        torch.save(model.state_dict(), "best.pt")
