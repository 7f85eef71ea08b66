"""Checks that the data of an HDF5 data set is present, where the library reads missing data as zeros, and its own.

A virtual data set may name any file. Sources outside the folder of its file are refused, because whoever wrote the
file might thus learn what other files contain.
"""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.inputs.readers.location import Location

PREFIX = "HDF5_VDS_PREFIX"


def check_stored(dataset: Any, where: Location) -> None:
    """Refuse a data set that is not stored completely in its file, or in the data sets that it refers to.

    Space that was reserved when the data set was created, and never filled, cannot be told from written zeros.
    """
    if 0 in dataset.shape:
        return
    if dataset.is_virtual:
        _check_virtual(dataset, where)
    elif dataset.external:
        _refuse(where, f"its data is in the separate file '{dataset.external[0][0]}': save it in one file")
    elif dataset.chunks:
        chunks = math.prod(-(-length // part) for length, part in zip(dataset.shape, dataset.chunks, strict=True))
        written = dataset.id.get_num_chunks()
        if written < chunks:
            _refuse(
                where, f"only {written} of its {chunks} chunks were written: write the missing chunks, or all again"
            )
    elif dataset.id.get_storage_size() == 0:
        _refuse(where, "it was created and never filled: write it again")


def _refuse(where: Location, reason: str) -> NoReturn:
    raise InputError(f"{where} is not stored completely, and missing data would be read as zeros; {reason}.")


def _check_virtual(dataset: Any, where: Location) -> None:
    """Refuse a virtual data set that lacks one of its sources, or is not covered by them."""
    if not isinstance(where.path, Path):
        _refuse(where, "its sources are only searched on this machine: save a copy that is not virtual")
    h5py = import_extra("h5py", f"Reading {where.path}", "h5")
    sources = dataset.virtual_sources()
    for source in sources:
        name = f"'{source.dset_name}' of '{source.file_name}'"
        if "%" in source.file_name + source.dset_name or not _is_limited(source.vspace):
            _refuse(where, f"its source {name} has no fixed length: save a copy that is not virtual")
        own = source.file_name == "."
        folders = [*_prefix(where.path), where.path.parent, Path()]  # in which the library searches, in this order
        files = [where.path] if own else [folder / source.file_name for folder in folders]
        path = next((file for file in files if file.is_file()), None)
        if path is None or not h5py.is_hdf5(path):
            _refuse(where, f"its source {name} is absent: give the file, or save a copy that is not virtual")
        if not own:
            _check_beside(path, where)
        with h5py.File(path, "r") as file:
            part = file.get(source.dset_name)
            if not isinstance(part, h5py.Dataset) or not _holds(part, source, h5py):
                _refuse(where, f"its source {name} is absent or smaller: give it, or save a copy that is not virtual")
            _check_beside(Path(part.file.filename), where)  # it may be a link to another file
            check_stored(part, Location(path, source.dset_name))
    if not _is_covered(dataset.shape, [source.vspace for source in sources]):
        _refuse(where, "a part of this virtual data set has no source: save a copy that is whole and not virtual")


def _check_beside(source: Path, where: Location) -> None:
    """Refuse a source outside the folder of its virtual data set, and outside the one in the library's setting."""
    virtual = Path(where.path)
    if not any(source.resolve().is_relative_to(folder.resolve()) for folder in [virtual.parent, *_prefix(virtual)]):
        raise InputError(
            f"{where} takes data from {source.resolve()}, which is outside the folder of its file; move that file "
            "into the folder, or save a copy that is not virtual."
        )


def _prefix(virtual: Path) -> list[Path]:
    prefix = os.environ.get(PREFIX)
    return [Path(prefix.replace("${ORIGIN}", str(virtual.parent)))] if prefix else []


def _is_covered(shape: tuple[int, ...], spaces: Sequence[Any]) -> bool:
    """Whether the sources cover every entry; too few sources are detected without allocating memory."""
    if sum(space.get_select_npoints() for space in spaces) < math.prod(shape):
        return False
    covered = np.zeros(shape, np.bool_)
    for space in spaces:
        for first, last in space.get_select_hyper_blocklist():
            covered[tuple(slice(start, end + 1) for start, end in zip(first, last, strict=True))] = True
    return bool(covered.all())


def _is_limited(space: Any) -> bool:
    try:
        return bool(space.get_select_npoints() > 0)
    except RuntimeError:  # of a selection without an end
        return False


def _holds(part: Any, source: Any, h5py: Any) -> bool:
    """Whether a source is as large as the selection taken from it."""
    if source.src_space.get_select_type() == h5py.h5s.SEL_ALL:
        return bool(part.size == source.vspace.get_select_npoints())
    _, last = source.src_space.get_select_bounds()
    return len(last) == part.ndim and all(at < length for at, length in zip(last, part.shape, strict=True))
