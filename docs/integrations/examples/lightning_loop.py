"""Lightning: embeddings come batch by batch, and ModelCheckpoint and EarlyStopping read the expected value."""

import lightning
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset
from toy import Model, labels, pixels, test, train

import tieproof as tp


class Digits(lightning.LightningModule):
    """The model, its training, and its evaluation."""

    def __init__(self):
        super().__init__()
        self.model = Model()
        self.evaluator = tp.Evaluator(distance="hamming", measures=["AP", "P@1"])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.003)

    def training_step(self, batch, index):
        return self.model.loss(*batch)

    def on_validation_epoch_start(self):
        self.evaluator.reset()

    def validation_step(self, batch, index):
        self.evaluator.update(self.model.codes(batch[0]), batch[1])

    def on_validation_epoch_end(self):
        self.log_dict(self.evaluator.compute().to_flat_dict())


best = ModelCheckpoint(monitor="ap_expected", mode="max", dirpath="checkpoints")
patience = EarlyStopping(monitor="ap_expected", mode="max", patience=2)
trainer = lightning.Trainer(max_epochs=8, callbacks=[best, patience], logger=False, accelerator="cpu")
trainer.fit(
    Digits(),
    DataLoader(TensorDataset(pixels[train], labels[train]), batch_size=50, shuffle=True),
    DataLoader(TensorDataset(pixels[test], labels[test]), batch_size=200),
)
print(best.best_model_path, f"{best.best_model_score:.4f}")
