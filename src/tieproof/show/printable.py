"""Texts made safe to show: names cannot move the cursor, change colors or hide characters on a terminal."""

import unicodedata

# Unicode's categories of control characters, invisible and direction marks, surrogates, and line separators.
_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # invisible characters that are needed to write Persian, Hindi and emoji


def printable(text: object) -> str:
    r"""A text in one line; control characters and invisible characters are escaped as in Python: \x1b.

    >>> print(printable("\x1b[31mred\nlines, \u202eesrever, \ud800 and Zürich"))
    \x1b[31mred\nlines, \u202eesrever, \ud800 and Zürich
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        letter.encode("unicode_escape").decode()
        if unicodedata.category(letter) in _ESCAPED and letter not in _JOINERS
        else letter
        for letter in shown
    )


def in_one_line(text: object) -> str:
    r"""A message in which line ends are replaced by single spaces, made printable.

    >>> print(in_one_line("The file\n  x\x07.npy does not exist."))
    The file x\x07.npy does not exist.
    """
    return printable(" ".join(str(text).split()))
