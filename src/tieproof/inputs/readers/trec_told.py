"""Tells qrels, runs and trials, by the first line of a file, from other files, and from each other."""

import os

from tieproof.errors import InputError
from tieproof.inputs.readers.lines import beginning, is_number, shown
from tieproof.inputs.readers.location import Piped
from tieproof.inputs.readers.trec import QRELS, RUN, TrecLayout, first_line
from tieproof.inputs.readers.trials import LABELS


def layout_of(line: bytes) -> TrecLayout | None:
    """Return the layout that a line has, qrels or a run; None for another line.

    >>> layout_of(b"q1 0 d1 1").kind, layout_of(b"q1 Q0 d1 1 0.5 tag").kind, layout_of(b"0.5 0.25")
    ('TREC qrels', 'a TREC run', None)
    """
    cells = line.split()
    usual = len(cells) > 1 and (cells[1].upper() in (b"0", b"Q0") or not is_number(cells[1]))
    if usual and len(cells) == len(QRELS.columns) and is_number(cells[3]):
        return QRELS
    return RUN if usual and len(cells) >= len(RUN.columns) and is_number(cells[3]) and is_number(cells[4]) else None


def is_trial(line: bytes) -> bool:
    """Whether a line has a pair with its label or its score, as files of trials do.

    >>> is_trial(b"1 a.wav b.wav"), is_trial(b"a.wav,b.wav,nontarget"), is_trial(b"a b 0.83"), is_trial(b"1 2 3")
    (True, True, True, False)
    """
    cells = line.replace(b",", b" ").split()
    value = [is_number(cell) or cell.lower().decode(errors="replace") in LABELS for cell in cells]
    return len(cells) == 3 and not all(value) and (value[0] or value[2])


def refuse_rankings(location: str | os.PathLike[str] | Piped, wanted: str, labels: bool = False) -> None:
    """Refuse qrels, runs and (unless as `labels`, such as Boeing 737 400) trials, and name the commands for them."""
    try:
        line = first_line(beginning(location), 0)[0]
    except (InputError, OSError):
        return
    layout, name = layout_of(line), os.fsdecode(location)
    if layout is not None and layout.kind != wanted:
        advice = (
            "Pass the qrels first, then the run."
            if wanted in (QRELS.kind, RUN.kind)
            else "To score a run, use tieproof run QRELS RUN (tp.evaluate_run); to compare runs, tieproof compare "
            "--qrels QRELS RUN RUN."
        )
        raise InputError(f"{name} contains {layout.kind}, not {wanted}. {advice}")
    is_told = layout is None and is_trial(line) and not labels
    if is_told and not (wanted == QRELS.kind and line.split()[-1].isdigit()):  # qrels of BEIR without their header
        raise InputError(
            f"{name} contains trials or their scores, such as '{shown(line)}', not {wanted}. Use tieproof det TRIALS "
            "SCORES (tp.det_curve_of_pairs); for a run of three columns, tieproof run QRELS RUN."
        )
