"""YAML as text, which needs the extra `competition`."""

from collections.abc import Mapping
from typing import Any

from tieproof.errors import MissingExtraError


def as_yaml(content: Mapping[str, Any]) -> bytes:
    r"""A mapping as readable YAML, in its own order.

    >>> as_yaml({"title": "Wörter", "start": "2027-01-10 00:00:00"}).decode()
    "title: Wörter\nstart: '2027-01-10 00:00:00'\n"
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("Writing a bundle", "competition") from None
    text: str = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=1000)
    return text.encode()
