"""The ways out of the sandbox: what a program may try, what closes it, the test that tries it, and what stays open.

SECURITY.md shows this table; tests/promises/attacks/test_sandbox.py compares them.
"""

from typing import NamedTuple


class Way(NamedTuple):
    """A way out.

    tried : what a program may try
    closed : what closes this way
    test : the name of the test that tries it
    """

    tried: str
    closed: str
    test: str


WAYS = (
    Way(
        "use the rights of root",
        "started by root, it is the user nobody (65534), also outside of the sandbox, with no capabilities",
        "test_a_program_is_never_root",
    ),
    Way(
        "make a read-only folder writable, or mount another one",
        "no capabilities, no new privileges, no further namespaces (bubblewrap 0.8)",
        "test_a_program_cannot_remount_a_folder",
    ),
    Way(
        "read or write other files",
        "only `/usr` and the like, Python, its own folders and what is shown exist; all but its own are read-only",
        "test_a_program_cannot_reach_other_files",
    ),
    Way(
        "read the environment",
        "the program, and the processes between it and tieproof, have an environment of their own",
        "test_a_program_cannot_read_the_environment",
    ),
    Way(
        "change the settings of the kernel",
        "`/proc` is read-only, `/sys` is missing",
        "test_a_program_cannot_change_settings_of_the_kernel",
    ),
    Way(
        "see, signal or trace other processes",
        "a namespace of processes",
        "test_a_program_cannot_reach_other_processes",
    ),
    Way(
        "watch other programs open files, or look at the kernel",
        "`inotify`, `fanotify`, notices of `fcntl`, `perf`, `bpf`, `userfaultfd` and the kernel's log are missing",
        "test_a_program_cannot_watch_other_programs",
    ),
    Way(
        "avoid the filter of system calls",
        "calls of i386 and x32, `io_uring`, and calls that are newer than the filter are missing",
        "test_a_program_cannot_avoid_the_filter",
    ),
    Way(
        "use the network, abstract sockets or vsock",
        "a namespace of networks, a filter of socket families",
        "test_a_program_cannot_reach_the_network",
    ),
    Way(
        "use devices",
        "a `/dev` with `null`, `zero`, `full`, `random`, `urandom`, `tty` and pseudo-terminals of its own",
        "test_a_program_cannot_use_devices",
    ),
    Way(
        "type into the terminal, or use open files of tieproof",
        "a session of its own; only the three standard streams are passed on",
        "test_a_program_inherits_nothing_that_is_open",
    ),
    Way(
        "leave a message for the next batch in a key of the kernel",
        "a new session keyring for each batch; the system calls of keys are missing",
        "test_a_program_cannot_leave_a_key",
    ),
    Way(
        "leave one in shared memory, semaphores or queues (System V or POSIX)",
        "a namespace of these objects; the System V calls are missing",
        "test_a_program_cannot_leave_shared_memory",
    ),
    Way(
        "leave one in a file, an abstract socket, a file lock or the time of a file or device",
        "temporary folders are new for each batch; processes, and so sockets, end with it; locks of files have no "
        "effect, leases and hints are missing; folders and device nodes are read-only and keep their times; the "
        "input is an empty pipe",
        "test_a_program_cannot_leave_a_file",
    ),
    Way(
        "leave a daemon",
        "all processes end with the namespace, also if the judge is killed",
        "test_a_program_cannot_leave_a_process",
    ),
    Way(
        "use more memory through memfds, shared memory or unlinked files",
        "these calls are missing; temporary folders have a limited size; with cgroup v2 all memory is counted",
        "test_a_program_cannot_use_more_memory_in_files",
    ),
    Way(
        "use more memory by pages that stay in pipes or sockets",
        "`splice`, `tee`, `vmsplice`, `sendfile` and larger pipes are refused; `RLIMIT_MEMLOCK` is 0",
        "test_a_program_cannot_keep_memory_in_pipes",
    ),
    Way(
        "use more room on the disk than the size of a file shows",
        "`fallocate` beyond the size, the `ioctl` calls of files and extended attributes are refused; the judge "
        "counts blocks",
        "test_a_program_cannot_set_room_aside",
    ),
    Way(
        "start more processes or open more files than allowed",
        "`RLIMIT_NPROC` in the sandbox or `pids.max` of a cgroup, and `RLIMIT_NOFILE`",
        "test_a_program_cannot_start_hundreds_of_processes",
    ),
    Way(
        "write thousands of files",
        "the files of the temporary folders are counted while it runs; the program is ended above 10,000",
        "test_a_program_cannot_write_thousands_of_files",
    ),
    Way(
        "hand in a link, a pipe or a device as its answer",
        "the answer is one regular file, opened without following links and without waiting",
        "test_a_program_cannot_hand_in_what_is_no_file",
    ),
)

OPEN = (
    "Without a cgroup, the memory limit applies to each process, not to all of them together, and what the kernel "
    "keeps in pipes and sockets is not counted: 64 KB for a pipe, some MB for a connection.",
    "Time, load, counters in `/proc`, what the kernel counts for each user, free space and cached files are shared "
    "by all programs of a machine. A batch could use them to signal to the next one, or to a program that runs at "
    "the same time. The times of system files and of what is shown tell when other programs last read them.",
    "A socket or a named pipe in a folder that is shown can be used, also by two systems at the same time. Show no "
    "such folders.",
    "On Linux before 5.12, and where Python may not create namespaces as bubblewrap may, the times of device nodes "
    "can be set, and on processors other than x86-64 and ARM64 no system call is filtered. The report says so.",
    "In `competition check`, the folders of the platform are on the disk. Their files are counted and measured four "
    "times a second; files that were removed but are still open are missing in this count.",
    "The names of folders that are bound are visible in `/proc/1/cmdline`.",
    "A flaw of the kernel or of bubblewrap.",
)
"""What nothing closes."""


def page() -> str:
    """The table and the list, as SECURITY.md shows them."""
    rows = [f"| {way.tried} | {way.closed} | `{way.test}` |" for way in WAYS]
    table = ["| what a program in the sandbox may try in vain | what closes it | test |", "|---|---|---|", *rows]
    return "\n".join([*table, "", "Not closed:", "", *(f"- {each}" for each in OPEN)])
