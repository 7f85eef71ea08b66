"""`tieproof demo` shows how ties affect scores, on 1,797 handwritten digits that come with the package."""

import numpy as np

from tieproof.cli.options import command
from tieproof.cli.output import show
from tieproof.data import load_digits
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.result import Result
from tieproof.show.parts import NARROWEST, NUMBERS, WIDTH, count, numbers, paragraph, table

MEASURES = ("AP", "P@1", "P@10")

PIXELS, CODES, ZEROS = "pixels", "64-bit codes", "zeros"
DISTANCE = {PIXELS: "cosine", CODES: "hamming", ZEROS: "cosine"}


@command(
    None, "Show how ties affect scores, on 1,797 handwritten digits that come with the package.", ["tieproof demo"]
)
def demo() -> None:
    """Evaluate the digits, and show the scores with an explanation."""
    show(render, run())


def run() -> dict[str, Result]:
    """Evaluate each representation of the digits, leave-one-out."""
    pixels, labels = load_digits()
    codes = pixels > pixels.mean(axis=1, keepdims=True)
    embeddings = {PIXELS: pixels, CODES: codes, ZEROS: np.zeros_like(pixels)}
    return {
        name: evaluate(vectors, labels, distance=DISTANCE[name], measures=MEASURES)
        for name, vectors in embeddings.items()
    }


def render(results: dict[str, Result], width: int | None = None, color: bool = False) -> str:
    """Return a table of every measure and representation, with the text that explains it."""
    width = max(width or WIDTH, NARROWEST)
    sections = [
        [(measure, name, *numbers(result[measure])) for name, result in results.items()] for measure in MEASURES
    ]
    rows = table(("measure", "embeddings", *NUMBERS), sections, width, color)
    before, *after = (paragraph(text, width) for text in paragraphs(results))
    return "\n\n".join([before, rows, *after, COMMAND])


def paragraphs(results: dict[str, Result]) -> list[str]:
    """Return the paragraphs that tell what was evaluated and what the scores show."""
    codes, zeros = results[CODES], results[ZEROS]
    code_score, zero_score, pixel_score = (result["P@1"] for result in (codes, zeros, results[PIXELS]))
    return [
        f"This demo evaluates {count(codes.setting.queries, 'handwritten digit')} of 8 x 8 pixels. Each digit is a "
        f"query for the others of its class, with three kinds of embeddings: all pixels ({DISTANCE[PIXELS]} "
        f"distance); a code of one bit for each pixel, set where the pixel is brighter than the mean of its image "
        f"({DISTANCE[CODES]} distance); and zeros, which contain nothing of the image.",
        f"The pixels leave {about_ambiguous(results[PIXELS])}, too few to matter: their P@1 is "
        f"{pixel_score.lower:.4f}. The codes leave {about_ambiguous(codes)}, so their score is an interval. Their "
        f"P@1 can be anything from {code_score.lower:.4f} to {code_score.upper:.4f}, depending on how the order of "
        "the file, the sorting algorithm or the machine happens to break the ties.",
        f"The zeros put everything in one tie. A program that breaks ties in their favor gives them a P@1 of "
        f"{zero_score.upper:.4f}, better than the pixels; their lower bound is {zero_score.lower:.4f}. Report "
        "'lower', the score that no tie can raise.",
        "To evaluate your own embeddings, in .npy, .npz, .csv, .parquet, .h5, .safetensors or .pt files, run:",
    ]


COMMAND = "    tieproof evaluate embeddings.npy labels.npy"


def about_ambiguous(result: Result) -> str:
    """Return in words how many queries have an ambiguous tie."""
    touched, queries = result.ties.queries_with_ambiguous_ties, result.ties.queries
    number = {0: "no", queries: f"all {queries:,}"}.get(touched, f"{touched:,} of {queries:,}")
    return f"{number} queries with an ambiguous tie"
