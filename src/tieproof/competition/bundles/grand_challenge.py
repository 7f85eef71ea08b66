"""A bundle for Grand Challenge: a container that reads /input/predictions.json, and the ground truth of each phase.

Interface: grand_challenge_forge/partials/example-evaluation-method of
https://github.com/DIAGNijmegen/rse-grand-challenge-forge (commit 306db6e9), and app/grandchallenge/evaluation of
https://github.com/comic/grand-challenge.org (commit 9957bfc2).
"""

import json
import tarfile
from io import BytesIO
from typing import Any

import numpy as np

from tieproof.competition import texts
from tieproof.competition.bundles.columns import columns_of
from tieproof.competition.hosting import Hosted, HostedPhase
from tieproof.competition.kit import WIDTH, Files, handed_out, kit_files
from tieproof.competition.programs import TRUTH
from tieproof.competition.truth import read_judgments
from tieproof.competition.words import fillings, program_values

PAGES = ("overview", "evaluation", "data", "terms")
OUTPUT = {"embeddings": "embedding", "run": "ranking"}
"""The name of an algorithm's output socket, by task."""


def files(settings: Hosted) -> Files:
    """All files of the bundle, by their paths in it."""
    values, task = fillings(settings, "grand-challenge"), settings.scoring.task
    found: Files = {
        "Dockerfile": texts.filled("grand_challenge_Dockerfile.txt", program_values(settings)),
        "evaluate.py": texts.filled("grand_challenge.py.txt", program_values(settings)),
        "phase_settings.json": json.dumps(phase_settings(settings), indent=4).encode(),
    }
    found |= {f"pages/{name}.html": texts.page(name, values) for name in PAGES}
    if settings.platform.terms is not None:
        found["pages/terms.html"] = settings.platform.terms
    found |= kit_files(settings, "starting_kit", "grand-challenge")
    for phase in settings.phases:
        codename, truth = phase.codename, phase.content
        found[f"ground_truth_{codename}/{TRUTH[task]}"] = truth
        found[f"ground_truth_{codename}.tar.gz"] = packed(TRUTH[task], truth)
        found |= {f"test/{codename}/input/{name}": content for name, content in jobs_of(settings, phase).items()}
        found |= handed_out(phase, f"archive_{codename}")
    return found


def phase_settings(settings: Hosted) -> dict[str, Any]:
    """The values to enter in the settings of each phase, by the platform's names."""
    first, *others = columns_of(settings.scoring)
    return {
        "score_title": first.title,
        "score_jsonpath": f"aggregates.{first.key}",
        "score_default_sort": "desc",
        "score_decimal_places": settings.scoring.digits,
        "extra_results_columns": [
            {"path": f"aggregates.{key}", "order": "desc", "title": title, "exclude_from_ranking": True}
            for title, key in others
        ],
        "display_all_metrics": False,
    }


def jobs_of(settings: Hosted, phase: HostedPhase) -> dict[str, bytes]:
    """The container's input if an algorithm answered at random, to try the container, and for `check`."""
    random, output = np.random.default_rng(0), OUTPUT[settings.scoring.task]
    answers: dict[str, Any]
    if settings.scoring.task == "run":
        judged = read_judgments(phase.judged)
        documents = sorted({document for grades in judged.values() for document in grades})
        answers = {
            query: dict(zip(documents, random.random(len(documents)).tolist(), strict=True)) for query in judged
        }
    else:
        rows = random.normal(size=(len(phase.ids), WIDTH)).tolist()
        answers = dict(zip(phase.ids, rows, strict=True))
    found, jobs = {}, []
    for number, (name, answer) in enumerate(answers.items()):
        pk = f"job-{number:05}"
        jobs.append(job(pk, name, output))
        found[f"{pk}/output/{output}.json"] = json.dumps(answer).encode()
    return {"predictions.json": json.dumps(jobs, indent=4).encode(), **found}


def job(pk: str, name: str, output: str) -> dict[str, Any]:
    """A job in predictions.json, with only the keys that an evaluation reads."""
    return {
        "pk": pk,
        "inputs": [{"interface": {"slug": "item"}, "file": None, "image": {"name": f"{name}.mha"}, "value": None}],
        "outputs": [{"interface": {"slug": output, "relative_path": f"{output}.json"}, "file": None, "image": None}],
        "status": "Succeeded",
    }


def packed(name: str, content: bytes) -> bytes:
    """A compressed tarball of one file; the same content gives the same bytes."""
    import gzip

    written = BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, BytesIO(content))
    return gzip.compress(written.getvalue(), mtime=0)
