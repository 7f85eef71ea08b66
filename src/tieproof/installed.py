"""The version that is installed; looked up when it is asked for, since that takes 10 ms."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("tieproof")
except PackageNotFoundError:
    __version__ = "0+source.not.installed"
