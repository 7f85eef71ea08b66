"""`det_curve`: both error rates of a verification system at every threshold, from the distances of its pairs."""

from typing import Any

import numpy as np

from tieproof.analyses.rates.curve import DetCurve, OfSubjects
from tieproof.analyses.rates.fnmr import as_both_distances
from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array, check_count
from tieproof.inputs.labels import as_labels
from tieproof.inputs.mapped import unchanged_files


@unchanged_files
def det_curve(relevant: Any, others: Any, *, subjects: tuple[Any, Any] | None = None) -> DetCurve:
    """Compute both error rates of a verification system at every threshold, from the distances of pairs.

    Parameters
    ----------
    relevant, others : arrays of any shape, smaller is nearer
        The distances of the relevant pairs (genuine, target, mated) and of all other pairs (impostor, non-target,
        non-mated). They are compared as the numbers given. For scores, where larger is nearer, pass -scores.
    subjects : (of the relevant pairs, of the other pairs), a name for each pair, for `curve.interval`
        The person or speaker to whom the pair belongs; of two different ones, the one who is compared (the probe).

    Returns
    -------
    DetCurve
        `curve.eer`, `curve.tar(0.001)`, `curve.min_dcf(0.05)`, `curve.fmr`, `curve.fnmr`, `curve.plot()`.

    Raises
    ------
    InputError
        If a distance is not finite or is an integer beyond 2^53, if an array is empty, or if subjects are missing;
        also if one array holds only 0 and 1 and the other has as many numbers, as labels and scores of scikit-learn.

    Notes
    -----
    The curve of embeddings, whose pairs are too many for an array, is counted by `fnmr_at_fmr(curve=True)`.

    Examples
    --------
    >>> import tieproof as tp
    >>> curve = tp.det_curve([0.1, 0.2, 0.3, 0.5, 0.5], [0.5, 0.5, 0.7, 0.8, 0.9])
    >>> curve.eer.lower, curve.eer.interpolated, curve.eer.upper
    (0.0, 0.2, 0.4)
    >>> curve.tar(0.1).lower, curve.min_dcf(0.05)
    (0.6, Bounds(lower=0.0, upper=0.4))

    """
    near, far = as_both_distances(relevant, others, "det_curve")
    near, far = near + 0.0, far + 0.0  # no negative zeros
    thresholds = np.unique(np.concatenate([near, far]))
    accepted, matches = (np.searchsorted(np.sort(pairs), thresholds, side="right") for pairs in (near, far))
    pairs = None
    if subjects is not None:
        places = tuple(np.searchsorted(thresholds, each) + 1 for each in (near, far))
        pairs = _of_subjects(subjects, places)
    return DetCurve(
        np.concatenate([[-np.inf], thresholds]),
        np.concatenate([[0], matches]).astype(np.int64),
        len(near) - np.concatenate([[0], accepted]).astype(np.int64),
        pairs,
    )


def _of_subjects(subjects: Any, threshold: Any) -> OfSubjects:
    if not isinstance(subjects, tuple | list) or len(subjects) != 2:
        raise InputError(
            "subjects must be two arrays, the subject of each relevant pair and that of each other pair, not "
            f"{type(subjects).__name__}.",
            "subjects",
        )
    given = [as_array(each, "subjects").ravel().tolist() for each in subjects]
    for each, places, what in zip(given, threshold, ("relevant", "other"), strict=True):
        check_count(len(each), "subjects", len(places), f"{what} pairs")
    names = as_labels(given[0] + given[1], len(given[0]) + len(given[1]), "subjects", "pairs", columns=False)
    known, number = np.unique(names, return_inverse=True)
    of_relevant, of_others = np.split(number, [len(given[0])])
    return OfSubjects(len(known), threshold, (of_relevant, of_others))
