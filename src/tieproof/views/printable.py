"""What is shown to people: no name in it can move the cursor, change colours or hide letters of a terminal."""

import unicodedata

ESCAPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of controls, of invisible and direction signs, of halves of pairs, and of line ends."""

JOINERS = "\u200c\u200d"
"""Invisible, and part of how Persian, Hindi and emoji are written."""


def printable(text: object) -> str:
    r"""A text in one line, in which what a terminal would obey, or not show, is written as in Python: \x1b.

    >>> print(printable("\x1b[31mred\nlines, \u202eesrever, \ud800 and Zürich"))
    \x1b[31mred\nlines, \u202eesrever, \ud800 and Zürich
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        letter.encode("unicode_escape").decode()
        if unicodedata.category(letter) in ESCAPED and letter not in JOINERS
        else letter
        for letter in shown
    )


def in_one_line(text: object) -> str:
    r"""A message with single blanks for its line ends, made printable.

    >>> print(in_one_line("The file\n  x\x07.npy does not exist."))
    The file x\x07.npy does not exist.
    """
    return printable(" ".join(str(text).split()))
