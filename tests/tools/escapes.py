"""Tries to get out of the sandbox: `python escapes.py FOLDER` seals the program `ATTACKS` and prints its findings."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SECRET = "TIEPROOF_SECRET"
MOST = 4_000_000
"""The limit of what a program may write, in bytes."""

ATTACKS = r"""
import ctypes, errno, fcntl, json, mmap, os, resource, signal, socket, stat, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
secret, shown, port, outside = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
CALLS = {"x86_64": dict(keyctl=250, add_key=248, memfd_create=319, shmget=29, msgget=68, semget=64, setns=308,
                        inotify_init1=294, fanotify_init=300, perf_event_open=298, bpf=321, userfaultfd=323,
                        syslog=103, splice=275, tee=276, vmsplice=278, io_uring_setup=425),
         "aarch64": dict(keyctl=219, add_key=217, memfd_create=279, shmget=194, msgget=186, semget=190, setns=268,
                         inotify_init1=26, fanotify_init=262, perf_event_open=241, bpf=280, userfaultfd=282,
                         syslog=116, splice=76, tee=77, vmsplice=75, io_uring_setup=425)}
call = CALLS.get(os.uname().machine, {})
found = {}

def works(what, *arguments):
    try:
        what(*arguments)
        return True
    except OSError:
        return False

def system_call(name, *arguments):
    return libc.syscall(call[name], *arguments) if call else -1

def status(name):
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith(name + ":"))

def content(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""

found["uids"] = [os.getuid(), os.geteuid()]
found["capabilities"] = [int(status(name), 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
found["no_new_privileges"] = status("NoNewPrivs")
REMOUNT, BIND, USER, MOUNTS = 32, 4096, 0x10000000, 0x20000
found["remounted"] = [place for place in ("/", "/usr", "/proc", shown, shown.rpartition("/")[0])
                      if libc.mount(None, place.encode(), None, REMOUNT | BIND, None) == 0]
found["mounted"] = libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0
found["unmounted"] = libc.umount2(shown.encode(), 2) == 0
found["written"] = [place for place in (shown, "/usr", "/etc", "/", "/dev", "/proc")
                    if works(lambda: open(place + "/written", "w").close())]
child = os.fork()
if child == 0:
    os._exit(0 if libc.unshare(USER) == 0 or libc.unshare(MOUNTS) == 0 else 1)
found["namespace"] = os.waitpid(child, 0)[1] == 0
found["entered"] = works(lambda: os.close(os.open(f"/proc/{outside}/ns/mnt", os.O_RDONLY)))

found["secret"] = [place for place in (secret, f"/proc/1/root{secret}", f"/proc/self/root{secret}", "/etc/passwd",
                   "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/home", "/var") if os.path.exists(place)]
found["labels"] = []
for around, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if name not in ("usr", "proc", "lib", "site-packages")]
    found["labels"] += [around] if "labels.txt" in files else []
found["environment"] = [name for name in os.environ if "SECRET" in name or "ORGANIZER" in name]
found["environments"] = [number for number in os.listdir("/proc") if number.isdecimal()
                         and b"TIEPROOF_SECRET" in content(f"/proc/{number}/environ")]
found["settings"] = [os.path.join(around, name) for around, _, files in os.walk("/proc/sys") for name in files
                     if os.access(os.path.join(around, name), os.W_OK)]
found["settings"] += [name for name in ("sysrq-trigger", "self/oom_score_adj") if os.access("/proc/" + name, os.W_OK)]
found["sys"] = os.path.exists("/sys/kernel")

found["processes"] = len([name for name in os.listdir("/proc") if name.isdecimal()])
found["signaled"] = works(os.kill, outside, 0)
found["seen"] = os.path.exists(f"/proc/{outside}/root/usr")
found["network"] = [family for family in (2, 10) if works(lambda: socket.create_connection(
    ("127.0.0.1" if family == 2 else "::1", port), 2).close())]
abstract = socket.socket(socket.AF_UNIX)
found["abstract"] = works(abstract.connect, f"\0tieproof-{outside}")
found["families"] = [family for family in (17, 38, 40, 31, 21) if works(lambda: socket.socket(family, 2).close())]
found["families"] += [family for family in (30, 40) if works(socket.socketpair, family, socket.SOCK_SEQPACKET)]
found["devices"] = sorted(set(os.listdir("/dev")) - {"null", "zero", "full", "random", "urandom", "tty", "console",
                          "fd", "stdin", "stdout", "stderr", "core", "shm", "pts", "ptmx"})
found["made_device"] = works(os.mknod, "/tmp/device", 0o20600, os.makedev(1, 1)) and works(open, "/tmp/device")
found["terminal"] = works(lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
opened = [int(name) for name in os.listdir("/proc/self/fd")]
found["descriptors"] = [number for number in opened if number > 2 and os.path.exists(f"/proc/self/fd/{number}")
                        and not os.readlink(f"/proc/self/fd/{number}").startswith("socket:")]

# What an earlier batch left, and what this one leaves.
key = b"tieproof-left"
found["keys"] = [ring for ring in (-3, -4, -5) if system_call("keyctl", 10, ring, b"user", key, 0) > 0]
found["listed_keys"] = content("/proc/keys").decode().count("tieproof-left")
found["keys_made"] = [ring for ring in (-3, -4, -5) if system_call("add_key", b"user", key, b"1", 1, ring) > 0]
found["system_v"] = [name for name in ("shmget", "msgget", "semget")
                     if system_call(name, 4711, *([4096, 0o600] if name != "msgget" else [0o600])) >= 0]
system_call("shmget", 4711, 4096, 0o1600), system_call("msgget", 4711, 0o1600), system_call("semget", 4711, 1, 0o1600)
real = ctypes.CDLL("librt.so.1", use_errno=True)
found["queue"] = real.mq_open(b"/tieproof-left", os.O_RDONLY) >= 0
real.mq_open(b"/tieproof-left", os.O_RDWR | os.O_CREAT, 0o600, None)
found["left"] = [place for place in ("/tmp/left", "/dev/shm/left", "/judge/left", os.path.expanduser("~/left"))
                 if os.path.exists(place)]
for place in ("/tmp/left", "/dev/shm/left", "/judge/left"):
    works(lambda: open(place, "w").close())
meeting = socket.socket(socket.AF_UNIX)
found["meeting"] = not works(meeting.bind, "\0tieproof-left")
file = open(shown + "/model.txt")
found["locked"] = not works(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
file.read()
found["times"] = os.stat(shown + "/model.txt").st_atime
found["time_set"] = works(os.utime, shown + "/model.txt", (1, 1))
nodes = ["/dev/" + name for name in ("null", "zero", "full", "random", "urandom", "tty")]
before = [os.stat(node).st_mtime_ns for node in nodes]
found["node_changed"] = [node for node in nodes for change in (os.utime, lambda node: os.chmod(node, 0o666),
                         lambda node: os.setxattr(node, "user.left", b"1")) if works(change, node)]
works(os.utime, 0), works(os.utime, "/dev/stdin"), works(os.utime, "/proc/self/fd/0")
found["node_changed"] += [node for node, time in zip(nodes, before) if os.stat(node).st_mtime_ns != time]
found["node_open"] = [number for number in range(3) if stat.S_ISCHR(os.fstat(number).st_mode)]
works(lambda: open("/dev/null", "w").write("7")) and open("/dev/zero", "rb").read(1)
SETLK, OFD_SETLK, READ_LOCK = 6, 37, struct.pack("hhqqi4x", 0, 0, 0, 0, 0)
for place in (shown + "/model.txt", "/usr/bin/env", "/dev/zero"):
    file = open(place, "rb", buffering=0)
    works(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for command in (SETLK, OFD_SETLK):
        works(fcntl.fcntl, file, command, READ_LOCK)
    found["locks"] = content("/proc/locks").decode()
signal.signal(signal.SIGIO, signal.SIG_IGN)
LEASE, NOTIFY, SET_HINT, SET_FILE_HINT = 1024, 1026, 1036, 1038
folder = os.open("/usr/bin", os.O_RDONLY)
hint = struct.pack("Q", 2)
own = os.open("/tmp/own", os.O_RDONLY | os.O_CREAT)
found["left_on_files"] = [command for command, value in ((LEASE, 0), (SET_HINT, hint), (SET_FILE_HINT, hint))
                          if works(fcntl.fcntl, own, command, value)]

# What watches other programs, and what looks at the machine.
REPORT_FID = 0x200
found["watched"] = [name for name, flags in (("inotify_init1", 0), ("fanotify_init", REPORT_FID))
                    if system_call(name, flags, 0) >= 0]
found["watched"] += ["dnotify"] if works(fcntl.fcntl, folder, NOTIFY, 1) else []
attributes = ctypes.create_string_buffer(struct.pack("IIQQ", 1, 128, 0, 0), 128)
found["looked"] = [name for name, arguments in (("perf_event_open", (attributes, 0, -1, -1, 0)),
                   ("syslog", (10, 0, 0)), ("bpf", (0, attributes, 128)), ("userfaultfd", (1,)),
                   ("io_uring_setup", (1, attributes)))
                   if system_call(name, *arguments) >= 0 or ctypes.get_errno() != errno.ENOSYS]

# What passes limits of memory and output.
KEEP_SIZE, RESERVE, HINT_OF_ROOM = 1, 0x4030582A, 0x401C5820
file = open("/tmp/room", "wb")
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
found["set_aside"] = [number for number in (1, 2, file.fileno()) if libc.fallocate(number, KEEP_SIZE, 0, 2**20) == 0]
room = struct.pack("hhqqiI4i", 0, 0, 0, 2**20, 0, 0, 0, 0, 0, 0)
found["set_aside"] += [number for number in (1, 2, file.fileno()) for request in (RESERVE, HINT_OF_ROOM)
                       if works(fcntl.ioctl, number, request, room)]
found["attributes"] = [number for number in (1, 2, file.fileno()) if works(os.setxattr, number, "user.left", b"1")]
os.posix_fallocate(file.fileno(), 0, 4096)
found["enlarged"] = os.stat("/tmp/room").st_size == 4096
os.unlink("/tmp/room")
reading, writing = os.pipe()
other_reading, other_writing = os.pipe()
os.write(writing, b"12")
source = os.open("/usr/bin/env", os.O_RDONLY)
piece = ctypes.create_string_buffer(b"7", 4096)
vector = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(piece), 1))
found["kept_in_pipes"] = [name for name, arguments in (("splice", (source, None, writing, None, 1, 0)),
                          ("tee", (reading, other_writing, 1, 0)), ("vmsplice", (writing, vector, 1, 0)))
                          if system_call(name, *arguments) >= 0]
found["kept_in_pipes"] += ["sendfile"] if works(os.sendfile, writing, source, 0, 1) else []
found["kept_in_pipes"] += ["larger"] if works(fcntl.fcntl, writing, 1031, 2**20) else []
found["locked_memory"] = resource.getrlimit(resource.RLIMIT_MEMLOCK)

# What avoids the filter: numbers that it does not know, and those of other programs.
found["newer"] = [number for number in (451, 463, 469, 900)
                  if libc.syscall(number, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != errno.ENOSYS]
if os.uname().machine == "x86_64":
    GETPID, GETPID_OF_I386, X32 = 39, 20, 0x40000000
    found["newer"] += [GETPID] if libc.syscall(X32 | GETPID) >= 0 else []
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    # push rbx; mov eax, …; int 0x80; pop rbx; ret
    code.write(b"\x53\xb8" + struct.pack("I", GETPID_OF_I386) + b"\xcd\x80\x5b\xc3")
    place = ctypes.addressof(ctypes.c_char.from_buffer(code))
    found["newer"] += [GETPID_OF_I386] if ctypes.CFUNCTYPE(ctypes.c_int)(place)() != -errno.ENOSYS else []

# Limits.
found["memfd"] = system_call("memfd_create", b"x", 0) >= 0
def fill(folder):
    kept, size = [], 0
    try:
        for at in range(64):
            file = open(f"{folder}/{at}", "wb")
            os.unlink(f"{folder}/{at}")
            kept.append(file)
            size += os.write(file.fileno(), bytes(500_000))
    except OSError:
        pass
    return size
found["filled"] = [fill(folder) for folder in ("/tmp", "/dev/shm", "/judge")]
opened = []
try:
    for _ in range(5000):
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
found["opened"] = len(opened)
for number in opened:
    os.close(number)
started = []
try:
    for _ in range(1000):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
        started.append(child)
except OSError:
    pass
found["started"] = len(started)
try:
    os.kill(-1, 9)
except OSError:
    pass
for child in started:
    os.waitpid(child, 0)
if os.fork() == 0:  # a daemon, with nothing of its parents
    os.setsid()
    if os.fork() == 0:
        os.execve("/usr/bin/env", ["env", "-i", "sleep", sys.argv[5]], {})
    os._exit(0)
os.wait()
time.sleep(0.1)
print(json.dumps(found))
"""


def main() -> None:
    """Seal two batches; print what the second one found."""
    folder = Path(sys.argv[1])
    shown, secret = folder / "shown", folder / "organizer" / "labels.txt"
    server = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0tieproof-{os.getpid()}")
    abstract.listen()
    daemon = f"98765.{os.getpid()}"
    told = [str(secret), str(shown), str(server.getsockname()[1]), str(os.getpid()), daemon]
    before = (shown / "model.txt").stat().st_atime
    for _ in range(2):
        ended, out, err, *_ = run([sys.executable, "-I", "-S", "-c", ATTACKS, *told], folder)
        if ended:
            sys.exit(f"the program ended with status {ended}: {err[-2000:]}")
    found = json.loads(out)
    found["times"] = found["times"] != before
    found["daemons"] = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.count(
        f"sleep {daemon}"
    )
    code = "for at in range(30_000): open(f'/tmp/{at}', 'w').close()\nimport time; time.sleep(60)"
    *_, found["files_noticed"], found["users"] = run([sys.executable, "-I", "-S", "-c", code], folder)
    print(json.dumps(found))


def run(words: Sequence[str], folder: Path) -> tuple[int | None, str, str, bool, list[int]]:
    """Run a sealed program.

    Returns its status, what it printed, whether it was ended because it used too much, and the users of the processes
    in the sandbox, as seen from outside.
    """
    from tieproof.trials.sandbox.bubblewrap import SCRATCH, SealedRoom, environment, sealed
    from tieproof.trials.sandbox.folders import outermost, python_folders
    from tieproof.trials.sandbox.limits import ProgramLimits, Usage, is_first_in_its_namespace, launched

    scratch = (*SCRATCH, "/judge")
    shown = {str(place): place for place in outermost([*python_folders(), folder / "shown"])}
    room = SealedRoom("/judge", shown, {}, scratch)
    variables = environment("/judge")
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL}
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        tree = launched(
            sealed(words, room, variables, MOST),
            variables,
            ProgramLimits(2**32, MOST),
            stdout=out,
            stderr=err,
            **options,
        )
        usage, deadline, passed = Usage(tree, scratch), time.monotonic() + 100, False
        while not (tree.has_ended() or passed or time.monotonic() > deadline):
            passed = usage() == float("inf")
            time.sleep(0.01)
        users = [os.stat(f"/proc/{each}").st_uid for each in tree.alive() if is_first_in_its_namespace(each)]
        status = tree.end()
        return status, (folder / "out").read_text(), (folder / "err").read_text(), passed, users


if __name__ == "__main__":
    main()
