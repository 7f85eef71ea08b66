"""`tieproof evaluate`."""

from typing import Any

import tieproof
from tieproof.cli import options
from tieproof.cli.files import as_sides, evaluated
from tieproof.cli.options import Option, OptionKind, Text, command, shared
from tieproof.cli.output import Outputs, answer, measures_of, showing, with_page
from tieproof.inputs.options import FORMATS, NAMED_NOISE
from tieproof.inputs.readers import FILE_FORMATS, read_embeddings, read_labels


def noise_of(text: str) -> float | str:
    """Return a number, or else the name of a format or of a file."""
    try:
        return float(text)
    except ValueError:
        return options.file_path(text)


@command(
    tieproof.evaluate,
    f"Score embeddings exactly, with the whole interval that ties leave open. {options.TIE_STD}\n\n"
    "Without --gallery every item queries all the others (leave-one-out); with it, EMBEDDINGS are the queries.\n\n"
    f"Files end in {', '.join(FILE_FORMATS)}. Name one of several arrays in a file, or one column of a table, after "
    "a colon: data.npz:features.\n\n"
    "Embeddings in several files or on another machine are given as a folder, a pattern in quotes, or a URL. They "
    "are read block by block within --memory; LABELS is then the name of a column, or a pattern of files.",
    (
        "tieproof evaluate embeddings.npy labels.npy",
        "tieproof evaluate queries.npz --gallery gallery.npz -d euclidean -m P@10",
        "tieproof evaluate embeddings.npy labels.npy --ci 0.95",
        "tieproof evaluate embeddings.npy labels.npy --distribution AP",
        "tieproof evaluate embeddings.npy labels.npy --categories labels.npy -m AP",
        "tieproof evaluate embeddings.npy labels.npy --confidence confidences.npy",
        "tieproof evaluate data.npz --json result.json --per-query queries.csv --plot result.svg",
        "tieproof evaluate embeddings.npy labels.npy --precision float16",
        "tieproof evaluate embeddings.npy labels.npy --noise float16",
        "tieproof evaluate embeddings.npy labels.npy --save embeddings.tieproof",
        "tieproof evaluate embeddings.npy labels.npy --report report.html --items texts.txt",
        "tieproof evaluate queries.npz --gallery 'gallery/*.parquet' --gallery-labels label --memory 4GiB",
        "tieproof evaluate embeddings.npy labels.npy --cluster auto --checkpoint done",
    ),
    **shared("embeddings labels gallery gallery_labels"),
    distance=options.distance(several=True),
    **shared("measures groups gallery_groups categories average"),
    **shared("confidence bits"),
    precision=Option("Round every distance to this format before ranking. Default: exact.", options.choice(FORMATS)),
    noise=Option(
        "Also show the range of each measure over all rankings that are possible if every distance may be off: by "
        f"this number, by what a name stands for ({', '.join(NAMED_NOISE)}: embeddings rounded to a format, or "
        "products of this precision), or as far as in a file of the same items computed again.",
        OptionKind("NOISE", noise_of, options.complete_file),
    ),
    **shared("empty memory threads cluster"),
    checkpoint=Option(
        "Save the counts of each finished part in this folder, so that the same command resumes where it stopped.",
        options.FOLDER,
    ),
    **shared("ci distribution explain json latex markdown per_query plot plot_precision_recall save"),
    report="Write the result as a page (.html).",
    items="For --report: a text or the path of an image for each row of EMBEDDINGS, such as one per line.",
    gallery_items="For --report: the same for each item of the gallery.",
)
def evaluate(
    outputs: Outputs,
    ci: float | None,
    distribution: Text,
    report: Text,
    items: Text,
    gallery_items: Text,
    **settings: Any,
) -> None:
    """Read the files, evaluate them, write and show the result."""
    noise = settings["noise"]
    if isinstance(noise, str) and noise not in NAMED_NOISE:
        settings["noise"] = read_embeddings(noise)
    settings["measures"] = measures_of(outputs, settings["measures"])
    sides = as_sides(settings)

    def read(location: str) -> list[str]:
        return [str(item) for item in read_labels(location).tolist()]

    function, page = with_page(tieproof.evaluate, report, items, gallery_items, read)
    result = evaluated(showing(function, ci), sides, [*outputs, (report, page)], **settings)
    answer(outputs, result.distribution(distribution) if distribution else result)
