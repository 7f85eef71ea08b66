"""MLflow and TensorBoard: every epoch's flat dictionary is logged under names that both take."""

import mlflow
import torch
from torch.utils.tensorboard import SummaryWriter
from toy import Model, labels, pixels, test, train

import tieproof as tp

model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
with mlflow.start_run() as run, SummaryWriter("tensorboard") as writer:
    for epoch in range(5):
        for batch in torch.randperm(1000).split(50):
            optimizer.zero_grad()
            model.loss(pixels[train][batch], labels[train][batch]).backward()
            optimizer.step()
        result = tp.evaluate(model.codes(pixels[test]), labels[test], distance="hamming", measures=["AP", "P@1"])
        logged = result.to_flat_dict()
        mlflow.log_metrics(logged, step=epoch)
        for name, value in logged.items():
            writer.add_scalar(name, value, epoch)

history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "ap_lower")
best = max(history, key=lambda metric: metric.value)
print(f"epoch {best.step}: {best.value:.4f}")
