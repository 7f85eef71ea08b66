"""`tieproof demo`: what ties do to scores, shown on 1,797 handwritten digits that come with the package."""

from typing import Any

import click
import numpy as np
import numpy.typing as npt

from tieproof.calls.embeddings import evaluate
from tieproof.cli.documented import Command
from tieproof.cli.output import show
from tieproof.data import load_digits
from tieproof.results.results import Result
from tieproof.views.text.parts import NARROWEST, NUMBERS, WIDTH, count, numbers, paragraph, table

HELP = "Show what ties do to scores, on 1,797 handwritten digits that come with the package."

MEASURES = ("AP", "P@1", "P@10")

PIXELS, CODES, ZEROS = "pixels", "64-bit codes", "zeros"
DISTANCE = {PIXELS: "cosine", CODES: "hamming", ZEROS: "cosine"}


@click.command(cls=Command, help=HELP, examples=["tieproof demo"])
def command() -> None:
    """Evaluate the digits, and show what that tells."""
    show(render, run())


def representations(pixels: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """The pixels, one bit for each pixel (brighter than the mean of its image), and nothing at all."""
    return {
        PIXELS: pixels,
        CODES: pixels > pixels.mean(axis=1, keepdims=True),
        ZEROS: np.zeros_like(pixels),
    }


def run() -> dict[str, Result]:
    """Evaluate each representation of the digits, leave-one-out.

    >>> results = run()
    >>> results["zeros"]["P@1"].lower, results["zeros"]["P@1"].upper
    (0.0, 1.0)
    """
    pixels, labels = load_digits()
    return {
        name: evaluate(vectors, labels, distance=DISTANCE[name], measures=MEASURES)
        for name, vectors in representations(pixels).items()
    }


def render(results: dict[str, Result], width: int | None = None, color: bool = False) -> str:
    """A table of every measure and representation, and what it shows."""
    width = max(width or WIDTH, NARROWEST)
    sections = [
        [(measure, name, *numbers(result[measure])) for name, result in results.items()] for measure in MEASURES
    ]
    rows = table(("measure", "embeddings", *NUMBERS), sections, width, color)
    before, *after = (paragraph(text, width) for text in paragraphs(results))
    return "\n\n".join([before, rows, *after, COMMAND])


def paragraphs(results: dict[str, Result]) -> list[str]:
    """What was evaluated, and what one sees."""
    codes, zeros = results[CODES], results[ZEROS]
    code_score, zero_score, pixel_score = (result["P@1"] for result in (codes, zeros, results[PIXELS]))
    return [
        f"{count(codes.setting.queries, 'handwritten digit')} of 8 x 8 pixels, each a query for the others of its "
        f"class: once by all pixels ({DISTANCE[PIXELS]} distance), once by a code of one bit for each pixel, set "
        f"where it is brighter than the mean of its image ({DISTANCE[CODES]} distance), and once by zeros, which "
        "know nothing of the image.",
        f"The pixels leave {about_ambiguous(results[PIXELS])}, too few to matter: their P@1 is "
        f"{pixel_score.lower:.4f}. The codes leave {about_ambiguous(codes)}: what they score is an interval. Their "
        f"P@1 is anything from {code_score.lower:.4f} to {code_score.upper:.4f}, as the order of the file, the "
        "sorting algorithm or the machine happens to break the ties.",
        f"The zeros put everything in one tie. A program that breaks ties in their favour gives them a P@1 of "
        f"{zero_score.upper:.4f}, better than the pixels; their lower bound is {zero_score.lower:.4f}. The score "
        "to report is 'lower', for ties never pay there.",
        "For embeddings of your own, in .npy, .npz, .csv, .parquet, .h5, .safetensors or .pt files:",
    ]


COMMAND = "    tieproof evaluate embeddings.npy labels.npy"


def about_ambiguous(result: Result) -> str:
    """How many queries hold an ambiguous tie.

    >>> about_ambiguous(run()["zeros"])
    'all 1,797 queries with an ambiguous tie'
    """
    touched, queries = result.ties.queries_with_ambiguous_ties, result.ties.queries
    number = {0: "no", queries: f"all {queries:,}"}.get(touched, f"{touched:,} of {queries:,}")
    return f"{number} queries with an ambiguous tie"
