"""The other end of `isolation.py`: reads cases from a socket, and answers each with a line of JSON."""

import json
import socket
import sys

from tieproof.audit.cases import Case
from tieproof.audit.conventions import CONVENTIONS
from tieproof.audit.isolation import HEADER, NUMBER_BYTES, READY
from tieproof.audit.outcomes import attempt
from tieproof.audit.targets import load


def main() -> None:
    """Serve until there is nothing more to read."""
    name, takes, descriptor = sys.argv[1:]
    connection = socket.socket(fileno=int(descriptor))
    connection.set_inheritable(False)  # not for programs that the evaluator starts
    number = read(connection, NUMBER_BYTES)
    evaluator, convention = load(name), CONVENTIONS[takes]
    say(number, READY, connection)
    while number := read(connection, NUMBER_BYTES):
        packed, options = (read(connection, length) for length in HEADER.unpack(read(connection, HEADER.size)))
        outcome = attempt(evaluator, convention, Case.unpack(packed), json.loads(options), None)
        say(number, outcome._asdict(), connection)


def read(connection: socket.socket, length: int) -> bytes:
    """So many bytes; fewer where the other process has ended."""
    found = bytearray()
    while len(found) < length and (more := connection.recv(length - len(found))):
        found += more
    return bytes(found)


def say(number: bytes, answer: object, connection: socket.socket) -> None:
    """A line for the other process."""
    connection.sendall(number + json.dumps(answer).encode("ascii") + b"\n")
