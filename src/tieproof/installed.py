"""The installed version; this module is imported only when needed, because the lookup takes 10 ms."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("tieproof")
except PackageNotFoundError:
    __version__ = "0+source.not.installed"
