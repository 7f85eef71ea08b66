"""The form of a submission, taken from a sample, for writing submissions with other ids and numbers."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np

from tieproof.errors import InputError
from tieproof.kit import Array, fits, is_number, npy, reading
from tieproof.trials.competition.inspection.tasks import part_of
from tieproof.trials.competition.scoring import name_of
from tieproof.trials.competition.truth import rows_in, table

SUBMISSION = "a submission"
LISTS = "documents"  # the column with lists of documents, on Kaggle


class SubmissionForm(NamedTuple):
    """A sample of a submission, and the function that writes others like it."""

    place: str  # the path of its file within the submission
    ids: tuple[str, ...]  # the ids of the rows, as in the file; for runs, "query document"
    rows: Array  # numbers of shape (n, d); for runs, scores of shape (n, 1)
    write: Callable[[Path, Sequence[str], Array], None]  # writes ids and rows to a path, in the form of the sample
    names_rows: bool = True  # whether the file contains ids; otherwise the order of the rows identifies the items
    is_run: bool = False  # whether rows are documents of queries

    def place_in(self, folder: Path) -> Path:
        """The path of the file of a submission in a folder, whose folder is made."""
        place = folder / self.place
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def handing_in(self, ids: Sequence[str], rows: Array) -> Callable[[Path], None]:
        """What writes a submission with these ids and rows into a folder."""
        return lambda folder: self.write(self.place_in(folder), ids, np.asarray(rows))


def form_of(sample: Path) -> SubmissionForm:
    """The form of a file, or of the only file of a folder whose numbers can be replaced; InputError without one."""
    if (sample / "predictions.json").is_file():
        return _of_jobs(sample)
    files = [sample] if sample.is_file() else sorted(path for path in sample.rglob("*") if path.is_file())
    known = [path for path in files if path.suffix.lower() in FORMS and not path.name.startswith(".")]
    with reading(sample, SUBMISSION):
        forms = [(path, FORMS[path.suffix.lower()](path)) for path in known]
    usable = [(path, form) for path, form in forms if form is not None and len(form.rows)]
    if len(usable) != 1:
        there = ", ".join(path.name for path in files) or "nothing"
        raise InputError(
            f"{sample} must contain exactly one file with rows of numbers; found: {there}. Give a sample with "
            f"one file of {', '.join(FORMS)}."
        )
    ((path, form),) = usable
    return form._replace(place=path.name if sample.is_file() else path.relative_to(sample).as_posix())


def _of_npz(path: Path) -> SubmissionForm | None:
    """The form of an archive with a matrix of numbers, and optionally a list of ids."""
    arrays = {entry.name: entry.load() for entry in npy.archive(path)}
    matrices = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiu"]
    if len(matrices) != 1:
        return None
    (matrix,) = matrices
    rows = arrays[matrix]
    lists = [name for name, each in arrays.items() if each.shape == rows.shape[:1]]
    ids = tuple(map(str, arrays[lists[0]].tolist() if lists else range(len(rows))))

    def write(path: Path, ids: Sequence[str], rows: Array) -> None:
        kept = {name: array for name, array in arrays.items() if name not in (matrix, *lists[:1])}
        given = {name: np.array(ids).astype(arrays[name].dtype.kind, copy=False) for name in lists[:1]}
        with ZipFile(path, "w") as archive:  # not savez, whose own arguments would collide with names of arrays
            for name, array in {**kept, **given, matrix: rows}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)

    return SubmissionForm("", ids, rows, write, bool(lists))


def _of_npy(path: Path) -> SubmissionForm | None:
    """The form of a matrix of numbers, whose rows are in a known order."""
    rows = np.load(path, allow_pickle=False)
    if rows.ndim != 2 or rows.dtype.kind not in "fiu":
        return None

    def write(path: Path, ids: Sequence[str], rows: Array) -> None:
        with path.open("wb") as file:
            np.save(file, rows, allow_pickle=False)

    return SubmissionForm("", tuple(map(str, range(len(rows)))), rows, write, names_rows=False)


def _of_csv(path: Path) -> SubmissionForm | None:
    """The form of a table, with or without a header, whose first column has ids and whose others have numbers."""
    cells = rows_in(path)
    if cells[0][1:] == [LISTS]:
        return _of_lists(cells)
    headers = [] if all(map(is_number, cells[0][1:])) and cells[0][0].lower() != "id" else cells[:1]
    body = cells[len(headers) :]
    try:
        rows = np.array([[float(cell) for cell in row[1:]] for row in body], dtype=np.float64)
    except ValueError:
        return None
    if rows.ndim != 2 or not rows.size:
        return None

    def write(path: Path, ids: Sequence[str], rows: Array) -> None:
        width = rows.shape[1]
        head = headers if width == len(cells[0]) - 1 else [[header[0], *range(width)] for header in headers]
        lines = [(each, *row) for each, row in zip(ids, rows.tolist(), strict=True)]
        path.write_text(table([*head, *lines]), encoding="utf-8")

    return SubmissionForm("", tuple(row[0] for row in body), rows, write)


def _of_lists(cells: Sequence[Sequence[str]]) -> SubmissionForm:
    """The form of a table with lists of documents, the best first, in its second column; their ranks give scores."""
    ranked = [(row[0], document, rank) for row in cells[1:] for rank, document in enumerate(row[1].split())]
    rows = np.array([[-float(rank)] for _, _, rank in ranked])

    def write(path: Path, ids: Sequence[str], rows: Array) -> None:
        scored = _by_query(ids, rows)
        ranked = {query: sorted(pairs, key=lambda pair: -pair[1]) for query, pairs in scored.items()}
        lines = [(query, " ".join(document for document, _ in pairs)) for query, pairs in ranked.items()]
        path.write_text(table([cells[0], *lines]), encoding="utf-8")

    return SubmissionForm("", tuple(f"{query} {document}" for query, document, _ in ranked), rows, write, is_run=True)


def _by_query(ids: Sequence[str], rows: Array) -> dict[str, list[tuple[str, float]]]:
    """The documents with scores for each query; empty lists if there are no scores."""
    scored: dict[str, list[tuple[str, float]]] = {each.partition(" ")[0]: [] for each in ids}
    for each, score in zip(ids, rows[:, 0].tolist(), strict=True) if rows.shape[1] else ():
        query, _, document = each.partition(" ")
        scored[query].append((document, score))
    return scored


def _of_run(path: Path) -> SubmissionForm | None:
    lines = [line.split() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if any(len(line) != 6 or not is_number(line[4]) for line in lines):
        return None
    rows = np.array([[float(line[4])] for line in lines])

    def write(path: Path, ids: Sequence[str], rows: Array) -> None:
        """Write a line for each document; without scores there are no lines."""
        pairs = zip(ids, rows[:, 0].tolist(), strict=True) if rows.shape[1] else ()
        text = (f"{each.partition(' ')[0]} Q0 {each.partition(' ')[2]} 1 {score!r} run\n" for each, score in pairs)
        path.write_text("".join(text), encoding="utf-8")

    return SubmissionForm("", tuple(f"{line[0]} {line[2]}" for line in lines), rows, write, is_run=True)


def _of_jobs(sample: Path) -> SubmissionForm:
    """The form of the outputs of an algorithm's jobs: lists of numbers or, for runs, objects of scores."""
    with reading(sample / "predictions.json", SUBMISSION):
        jobs = json.loads((sample / "predictions.json").read_text(encoding="utf-8"))
        names = [name_of(job["inputs"][0]).replace(" ", "_") for job in jobs]
        places = [part_of(sample, f"{job['pk']}/output/{_output_of(job)}") for job in jobs]
        answers = [json.loads(place.read_text(encoding="utf-8")) for place in places]
    is_run = fits(answers, list[dict[str, float]])
    if is_run:
        ids = [f"{name} {document}" for name, answer in zip(names, answers, strict=True) for document in answer]
        numbers = [[score] for answer in answers for score in answer.values()]
    elif fits(answers, list[list[float]]) and len({*map(len, answers)}) == 1:
        ids, numbers = names, answers
    else:
        raise InputError(
            f"{sample} has outputs that are neither lists of equally many numbers nor objects of numbers. Give a "
            "sample with such outputs."
        )
    models = dict(zip(names, jobs, strict=True))

    def write(path: Path, ids: Sequence[str], rows: Array) -> None:
        """Write predictions.json and the output of each job; unknown items copy the first job of the sample."""
        outputs: Any = zip(ids, rows.tolist(), strict=True)
        if is_run:
            outputs = ((query, dict(pairs)) for query, pairs in _by_query(ids, rows).items())
        written = []
        for number, (name, output) in enumerate(outputs):
            model = models.get(name) or next(iter(models.values()))
            job = model | {"pk": f"job-{number:05}"}
            if name not in models:
                job["inputs"] = [model["inputs"][0] | {"image": {"name": f"{name}.mha"}}]
            place = path.parent / job["pk"] / "output" / _output_of(job)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(output), encoding="utf-8")
            written.append(job)
        path.write_text(json.dumps(written), encoding="utf-8")

    return SubmissionForm("predictions.json", tuple(ids), np.array(numbers, dtype=np.float64), write, is_run=is_run)


def _output_of(job: dict[str, Any]) -> str:
    return str(job["outputs"][0]["interface"]["relative_path"])


# The functions that read the form of a file, by its extension.
FORMS = {".npz": _of_npz, ".npy": _of_npy, ".csv": _of_csv, ".txt": _of_run, ".run": _of_run}
