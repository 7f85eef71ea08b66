"""`tieproof mteb`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tieproof.cli import options
from tieproof.cli.exits import BAD_INPUT, complain, is_terminal
from tieproof.cli.options import COUNT, FOLDER, Option, Text, argument, check_options, command
from tieproof.cli.output import Outputs, answer, written
from tieproof.errors import InputError
from tieproof.evaluation.scoring import parse_measures
from tieproof.integrations.mteb_lists.report import files_beside, files_in, folder_ties
from tieproof.show.printable import in_one_line

DEFAULT_MEASURES = ("nDCG@10", "RR@10", "AP@1000", "R@1000")

HELP = (
    "Show the intervals that equal scores, and the cut at 1,000 documents, leave open in saved predictions of MTEB."
    "\n\n"
    "PREDICTIONS is the prediction_folder of mteb.evaluate, or a file in it; its subfolders are searched, too. "
    "Judgments are read from --qrels, or else from the data of the task if mteb has stored them on this machine. "
    "Nothing is downloaded unless HF_HUB_OFFLINE=0 is in the environment. Without judgments only the lists with ties "
    "are counted, and no measure is evaluated. The table shows each interval and the number that MTEB printed, from "
    "a file {Task}.json in the folder of the predictions or in --results.\n\n"
    "A damaged file is named on standard error, and the other files are still evaluated; the exit status is then 2."
)

EXAMPLES = (
    "tieproof mteb predictions/",
    "tieproof mteb predictions/ --results results/ -m nDCG@10,R@100",
    "tieproof mteb predictions/SciFact_predictions.json --qrels qrels/ --json ties.json",
)


@command(
    None,
    HELP,
    EXAMPLES,
    predictions=argument("A folder of files {Task}_predictions.json, or one of them."),
    qrels=Option(
        "The folder of the judgments: {Task}_qrels.json, which write_qrels of tieproof.integrations.mteb writes, or "
        "{Task}/{subset}/{split}.tsv or .txt in the format of BEIR or TREC, without {subset}/ if the subset is "
        "default. Default: the folder of the predictions.",
        FOLDER,
    ),
    results=Option(
        "The folder of MTEB's results, or its cache, such as ~/.cache/mteb. Default: the folder of the predictions.",
        FOLDER,
    ),
    measures=options.measures(
        "A measure such as nDCG@10, or several with commas between them; repeat it for more.",
        default=DEFAULT_MEASURES,
    ),
    longest=Option(
        "The largest number of documents in a list; a list of that length counts as cut off. Default: the largest k "
        "at which MTEB printed a measure, or that it has for the task, or else 1000.",
        COUNT,
    ),
    **options.shared("json"),
)
def mteb(
    outputs: Outputs, predictions: str, qrels: Text, results: Text, measures: Sequence[str], longest: int | None
) -> None:
    """Read the predictions, evaluate them, write and show the intervals."""
    check_options(measures=measures)
    for name, folder in (("--qrels", qrels), ("--results", results)):
        if folder is not None and not Path(folder).is_dir():
            raise InputError(f"{name}: {folder} is not a folder. Give the folder that contains the files.")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    wanted = parse_measures(measures)
    place = Path(predictions)
    folders = {name: Path(folder) for name, folder in (("qrels", qrels), ("results", results)) if folder}
    report = written(
        lambda: folder_ties(place, wanted, **folders, longest=longest, progress=is_terminal(sys.stderr)),
        [file for path in files_in(place) for file in files_beside(path, **folders)],
        outputs,
    )
    if report.splits or report.no_rankings:
        answer(outputs, report)
    for line in report.damaged:
        complain(f"Error: {in_one_line(line)}")
    if report.damaged:
        click.get_current_context().exit(BAD_INPUT)
