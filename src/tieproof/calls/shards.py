"""`open`: embeddings in many files as one data set."""

from tieproof.errors import InputError, about
from tieproof.inputs.shards.columns import column, usual_labels
from tieproof.inputs.shards.places import Paths, located
from tieproof.inputs.shards.shard import Shard, shard_at
from tieproof.inputs.shards.shards import Shards
from tieproof.inputs.shards.stored import StoredRows
from tieproof.native.threads import in_order

OPENING = 8
"""Files that are looked into at a time."""


def open(paths: Paths, labels: Paths | None = None, *, groups: Paths | None = None) -> Shards:  # noqa: A001
    """Open embeddings that lie in many files, without reading more of them than what they say of themselves.

    Parameters
    ----------
    paths : a folder, a pattern such as "gallery/*.parquet", or a list of these and of files
        Files of this machine, or URLs of other places, such as "s3://bucket/gallery/*.parquet" (extra `remote`, and
        the library of that storage). Files end in .npy, .fbin, .u8bin, .i8bin, .parquet (a column of lists), .h5,
        .hdf5 or .safetensors. One of several arrays in each, or one column, is named behind a colon:
        "gallery/*.parquet:vector". A folder and a pattern give their files in natural order (part-2 before part-10),
        a list as it is. Rows are numbered through, from the first file to the last.
    labels : a name, or files
        The name of a column or array in every file; for files that hold vectors alone, the word that the files beside
        them add: with "label", part-0.label.txt or part-0.label.npy belongs to part-0.fbin. Or the files themselves,
        named as `paths` are: one for each shard, in the same order, or one for all. Default: what goes by a usual
        name (`labels`, `label`, `class`, …) in the files or beside them, if anything does.
    groups : likewise
        For `evaluate`, which excludes items with the query's label and group.

    Returns
    -------
    Shards
        With `labels` and `groups` in memory. Vectors are read when they are needed, in blocks, and never all at once.

    Raises
    ------
    InputError
        A file that is missing, cut short, empty or of another width or type than the first; labels that are not one
        for each row, or integers here and strings there. Later, at the read: a file that is gone or changed since it
        was opened, or a row with NaN or infinity, by its file and its number.
    MissingExtraError
        The library of the format or of the storage is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import tieproof as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         np.save(f"{folder}/part-{part}.npy", np.eye(4, dtype=np.float32))
    ...         np.save(f"{folder}/part-{part}.labels.npy", np.arange(4))
    ...     shards = tp.open(folder)
    ...     result = tp.evaluate(shards, shards.labels, measures=["AP"])
    >>> len(shards), shards.shape, shards.labels[:6].tolist()
    (12, (12, 4), [0, 1, 2, 3, 0, 1])
    >>> result["AP"].lower
    1.0

    """
    with about("paths"):
        words = [name for name in (labels, groups) if isinstance(name, str)]
        found = list(in_order(shard_at, located(paths, words), OPENING))
        rows = StoredRows(check_alike(found))
    with about("labels"):
        own = usual_labels(rows.shards) if labels is None else column(found, labels, "labels")
    with about("groups"):
        others = None if groups is None else column(found, groups, "groups")
    return Shards(rows, found, own, others)


def check_alike(shards: list[Shard]) -> list[Shard]:
    """Those that hold vectors; refused where none does, or their lengths or types differ."""
    filled = [shard for shard in shards if shard.rows]
    if not filled:
        raise InputError(f"{shards[0].name} holds no vectors, nor does any other of the files; give some that do.")
    first = filled[0]
    for shard in filled:
        if shard.width != first.width:
            raise InputError(
                f"{shard.name} holds vectors of length {shard.width:,} and {first.name} of length {first.width:,}; "
                "all shards must come from the same model."
            )
        if shard.dtype != first.dtype:
            raise InputError(
                f"{shard.name} holds {shard.dtype.name} and {first.name} {first.dtype.name}; write all shards as one "
                "type."
            )
    return filled
