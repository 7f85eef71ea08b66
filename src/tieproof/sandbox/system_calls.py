"""The system calls that a sealed program does not have, as a filter for the kernel (seccomp)."""

import platform
import struct
import sys
from functools import cache

from tieproof.sandbox.launcher import FILTER

__all__ = ["FILTER", "seccomp"]

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ABSENT = {
    "x86_64": (248, 249, 250, 319, 447, 29, 68, 64, 425),
    "aarch64": (217, 218, 219, 279, 447, 194, 186, 190, 425),
}
"""System calls that a sealed program does not have: add_key, request_key and keyctl, whose keys outlive it;
memfd_create, memfd_secret, shmget, msgget and semget, whose memory no limit of a process counts; and io_uring_setup,
which no filter sees through."""

SOCKET = {"x86_64": 41, "aarch64": 198}
FAMILIES = (1, 2, 10, 16)
"""Sockets of Unix, IPv4, IPv6 and netlink, which are separate in each sandbox; others, such as vsock, are not."""

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, NO_SUCH_CALL, NO_SUCH_FAMILY = 0x7FFF0000, 0x00050000 | 38, 0x00050000 | 97
OTHER_CALLS = 0x40000000
"""The numbers of the system calls of x32 begin here."""


@cache
def seccomp() -> bytes:
    """The filter of system calls, as the kernel reads it; empty for processors that it was not written for."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in ARCHITECTURES or sys.maxsize < 2**32:
        return b""
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, NO_SUCH_CALL), (LOAD, 0, 0, 0)]
    steps += [(AT_LEAST, 0, 1, OTHER_CALLS), (RETURN, 0, 0, NO_SUCH_CALL)]
    for number in ABSENT[machine]:
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, NO_SUCH_CALL)]
    steps += [(EQUAL, 1, 0, SOCKET[machine]), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, 16)]
    for family in FAMILIES:
        steps += [(EQUAL, 0, 1, family), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("<HBBI", *step) for step in [*steps, (RETURN, 0, 0, NO_SUCH_FAMILY)])
