"""Reading YAML files, which needs the extra `competition`."""

from pathlib import Path
from typing import Any

from tieproof.errors import InputError, MissingExtraError
from tieproof.inputs.readers.damage import reading


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError(f"Reading {path}", "competition") from None
    with reading(path, "YAML"):
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a YAML mapping. Write keys and values, as the platform documents them.")
    return found
