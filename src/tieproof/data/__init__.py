"""The data that come with the package; NOTICE.md names their source."""

from tieproof.data.digits import load_digits

__all__ = ["load_digits"]
