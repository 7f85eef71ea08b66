"""Hugging Face Trainer: `compute_metrics` returns the flat dictionary, and `metric_for_best_model` is a key of it."""

from toy import Model, labels, pixels, test, train
from transformers import Trainer, TrainingArguments

import tieproof as tp


class Embedder(Model):
    """The model of a Trainer: returns the loss, and embeddings that become the predictions."""

    def forward(self, pixels, labels):
        return {"loss": self.loss(pixels, labels), "embeddings": self.embed(pixels)}


def compute_metrics(evaluated):
    """The measures of all evaluated items."""
    codes = evaluated.predictions > 0
    return tp.evaluate(codes, evaluated.label_ids, distance="hamming", measures=["AP", "P@1"]).to_flat_dict()


def rows(part):
    """The items in the format of a Trainer."""
    return [{"pixels": x, "labels": y} for x, y in zip(pixels[part], labels[part], strict=True)]


options = TrainingArguments(
    output_dir="trainer",
    eval_strategy="epoch",
    save_strategy="epoch",
    load_best_model_at_end=True,
    metric_for_best_model="ap_expected",
    num_train_epochs=5,
    per_device_train_batch_size=50,
    per_device_eval_batch_size=200,
    learning_rate=0.003,
    label_names=["labels"],
    report_to="none",
)
trainer = Trainer(
    Embedder(), options, train_dataset=rows(train), eval_dataset=rows(test), compute_metrics=compute_metrics
)
trainer.train()
print(trainer.state.best_model_checkpoint, f"{trainer.state.best_metric:.4f}")
