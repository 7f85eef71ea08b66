"""Makes the device nodes read-only, and the standard input empty, for the program that this process then becomes.

    nodes.py PROGRAM …

bubblewrap shows the nodes of the machine, such as /dev/null, and everybody may set their times, which the next batch
could read. Only a mount that is read-only prevents this; bubblewrap passes it on, but cannot make it. For the same
reason the standard input is a pipe, not /dev/null. This file needs no other module of tieproof.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable

NODES = ("null", "zero", "full", "random", "urandom", "tty")  # the nodes that bubblewrap shows
_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_BIND, _BELOW, _SLAVE = 0x1000, 0x4000, 0x80000
_MOUNT_SETATTR, _HERE, _READ_ONLY = 442, -100, 1
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Become the program; where the system allows no mounts, with nodes that can be changed."""
    command = sys.argv[1:]
    trial = os.fork()  # a system may allow the namespace, but nothing in it, not even bubblewrap
    if trial == 0:
        with contextlib.suppress(OSError):
            keep_nodes()
            os._exit(0)
        os._exit(1)
    if os.waitpid(trial, 0)[1] == 0:
        keep_nodes()
    reading, writing = os.pipe()
    os.close(writing)
    os.dup2(reading, 0)
    os.execvp(command[0], command)


def keep_nodes() -> None:
    """Mount the nodes on themselves, read-only, for this process and what it becomes; writing to devices works."""
    user, group = os.geteuid(), os.getegid()
    called(_LIBRARY.unshare, _NEW_MOUNTS | (_NEW_USER if user else 0))
    if user:  # who may change mounts only in a namespace of users
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    called(_LIBRARY.mount, None, b"/", None, ctypes.c_ulong(_BELOW | _SLAVE), None)
    attributes = (ctypes.c_uint64 * 4)(_READ_ONLY)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    for node in (f"/dev/{name}".encode() for name in NODES):
        called(_LIBRARY.mount, node, node, None, ctypes.c_ulong(_BIND), None)
        called(_LIBRARY.syscall, _MOUNT_SETATTR, _HERE, node, 0, attributes, size)


def called(function: Callable[..., int], *arguments: object) -> None:
    """Call a function of the C library; OSError if it fails."""
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main()
