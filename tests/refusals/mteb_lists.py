"""Files of MTEB that cannot be read."""

from collections.abc import Callable
from pathlib import Path

from refusals.case import Case
from tieproof.integrations.mteb_lists.files import FolderOfQrels, Predictions, read_printed
from tieproof.integrations.mteb_lists.report import files_in


def empty_folder(folder: Path) -> object:
    """Look for predictions in an empty folder."""
    (folder / "predictions").mkdir()
    return files_in(folder / "predictions")


def predictions(text: str | bytes) -> Callable[[Path], object]:
    """Read a file of predictions."""

    def call(folder: Path) -> object:
        path = folder / "SciFact_predictions.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return list(Predictions(path))

    return call


def beside(name: str, text: str, read: Callable[[Path], object]) -> Callable[[Path], object]:
    """Read a file in a folder of predictions."""

    def call(folder: Path) -> object:
        (folder / name).write_text(text)
        return read(folder)

    return call


CASES: dict[str, Case] = {
    "a prediction folder that does not exist": Case(
        lambda folder: files_in(folder / "predictions"),
        r"predictions does not exist\. Pass the prediction_folder of mteb\.evaluate",
        in_folder=True,
    ),
    "a folder without MTEB predictions": Case(
        empty_folder, r"predictions has no file that ends in _predictions\.json\.", in_folder=True
    ),
    "MTEB predictions that were cut short": Case(
        predictions('{"default": {"test": {"q1": {"d1": 0.5, "d2"'),
        r"is not a complete file as MTEB writes it: Expecting ':' delimiter, at its end\. It was cut short",
        in_folder=True,
    ),
    "MTEB predictions with extra text at the end": Case(
        predictions("{}{}"), r"the file should end here, at character 2", in_folder=True
    ),
    "MTEB predictions that are not UTF-8": Case(
        predictions(b'{"\xe9": {}}'), r"is not written in UTF-8", in_folder=True
    ),
    "MTEB predictions with a document twice for a query": Case(
        predictions('{"default": {"test": {"q1": {"d1": 0.5, "d1": 0.25}}}}'),
        r"'d1' occurs twice in one object\. Keep one of them",
        in_folder=True,
    ),
    "a file whose name does not end in _predictions.json": Case(
        beside("SciFact_qrels.json", "{}", lambda folder: files_in(folder / "SciFact_qrels.json")),
        r"SciFact_qrels\.json is not a file of predictions: the names of these files end in _predictions\.json",
        in_folder=True,
    ),
    "MTEB predictions with a score of NaN": Case(
        predictions('{"default": {"test": {"q1": {"d1": NaN}}}}'),
        r"the number of document 'd1' for query 'q1' is nan\. Every score and grade must be a finite number",
        in_folder=True,
    ),
    "MTEB predictions of a task other than retrieval and reranking": Case(
        predictions('{"default": {"test": [[0, 1, 1]]}}'),
        r"does not contain \{subset: \{split: \{query: \{document: score\}\}\}\}",
        in_folder=True,
    ),
    "MTEB qrels with lists in place of grades": Case(
        beside(
            "SciFact_qrels.json",
            '{"default": {"test": {"q1": ["d1"]}}}',
            lambda folder: FolderOfQrels(folder, "SciFact"),
        ),
        r"SciFact_qrels\.json does not contain \{subset: .*document: grade\}\}\}\}\. Write it again",
        in_folder=True,
    ),
    "MTEB qrels with incomplete tieproof_conventions": Case(
        beside(
            "SciFact_qrels.json",
            '{"tieproof_conventions": {"longest": "all"}}',
            lambda folder: FolderOfQrels(folder, "SciFact"),
        ),
        r"tieproof_conventions must have longest, ignore_identical_ids and skip_first_result, but is",
        in_folder=True,
    ),
    "an MTEB result file that contains a list": Case(
        beside("SciFact.json", "[]", lambda folder: read_printed("SciFact", {}, folder)),
        r"SciFact\.json does not contain results of MTEB",
        in_folder=True,
    ),
}
