"""The process that `isolation.py` starts: it reads cases from a socket and answers each with a line of JSON."""

import json
import socket
import sys

from tieproof.audit.cases import Case
from tieproof.audit.conventions import convention_of
from tieproof.audit.isolation import HEADER, NUMBER_BYTES
from tieproof.audit.outcomes import attempt
from tieproof.audit.targets import load
from tieproof.errors import InputError


def main() -> None:
    """Answer requests until the socket is closed."""
    descriptor, name, *takes = sys.argv[1:]
    connection = socket.socket(fileno=int(descriptor))
    connection.set_inheritable(False)  # not for programs that the evaluator starts
    number = read(connection, NUMBER_BYTES)
    try:
        evaluator = load(name)
        convention = convention_of(evaluator, takes[0] if takes else None)
    except InputError as error:
        say(number, {"refused": str(error)}, connection)
        return
    say(number, {"takes": convention.name}, connection)
    while number := read(connection, NUMBER_BYTES):
        packed, options = (read(connection, length) for length in HEADER.unpack(read(connection, HEADER.size)))
        outcome = attempt(evaluator, convention, Case.unpack(packed), json.loads(options), None)
        say(number, outcome._asdict(), connection)


def read(connection: socket.socket, length: int) -> bytes:
    """Read a number of bytes; fewer if the other process has ended."""
    found = bytearray()
    while len(found) < length and (more := connection.recv(length - len(found))):
        found += more
    return bytes(found)


def say(number: bytes, answer: object, connection: socket.socket) -> None:
    """Send the other process one line, after the number of its request."""
    connection.sendall(number + json.dumps(answer).encode("ascii") + b"\n")
