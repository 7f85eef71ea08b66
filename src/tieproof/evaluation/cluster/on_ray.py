"""Tasks on a Ray cluster. Ray schedules them, repeats those that are lost, and moves and spills their answers.

    driver ── put ──► Job ─────────────┐ once
              gather(block) ──► rows ──┤ once for each block: the rows of its queries and their relevant items
              rank(block) ─► its order ┤ once for each block: the thresholds
                                       ├──► count_group(block, group) ──► add, group by group ──► counts of a block
                                       └──► count_blocks(block, block) ──► counts of both

A task is a pure function of its arguments, so a lost task can be repeated and gives the same integers.
"""

import os
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tieproof.engine.problem import Budget, Progress
from tieproof.errors import ClusterError, InputError, TieproofError, import_extra
from tieproof.evaluation.cluster.tasks import Begin, Local, Pairs, Task, add, unseen
from tieproof.installed import __version__

RETRIES = 5  # how often Ray repeats a task whose process or machine was lost
AHEAD = 4  # the number of tasks per worker that are submitted ahead of time
CONNECTED_WITHIN = 10.0  # the seconds that a cluster may take to accept a connection
# Of a cluster on this machine only, which other machines cannot reach.
LOCAL = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}


@contextmanager
def connected(address: str | None, budget: Budget) -> Iterator["Local | OnRay"]:
    """Connect to a cluster, or to none; one that is started here is stopped at the end, an earlier one is kept."""
    if address is None:
        yield Local()
        return
    ray = import_extra("ray", "cluster=", "ray")
    if not isinstance(address, str) or not address or "://" in address:
        raise InputError(
            f"The cluster must be 'auto', 'local' or the address host:port of a Ray cluster, not {address!r}. Run "
            "the driver on a machine of the cluster; ray:// addresses are not supported.",
            "cluster",
        )
    was_there = ray.is_initialized()
    if not was_there:
        connect(ray, address)
    elif address not in ("auto", here := ray.get_runtime_context().gcs_address):
        raise InputError(
            f"This process is connected to the Ray cluster at {here}, but cluster={address!r} names another one. "
            "Pass 'auto' to use the connected one, or call ray.shutdown() first.",
            "cluster",
        )
    try:
        yield OnRay(ray, budget)
    finally:
        if not was_there:
            ray.shutdown()


def connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start one on this machine."""
    found = address if address != "auto" or "RAY_ADDRESS" in os.environ else started_last()
    if ":" in found:  # without a cluster there, Ray would wait for it and then end the process
        host, _, port = found.rpartition(":")
        try:
            socket.create_connection((host, int(port)), CONNECTED_WITHIN).close()
        except (OSError, ValueError, OverflowError) as error:
            if address != "auto":
                raise silent(address, error) from None
            address = "local"
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # without it, Ray warns
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address != "local":
            ray.init(address=address, **quiet)
            return
    except (ConnectionError, RuntimeError, ValueError) as error:
        if address != "auto":
            raise silent(address, error) from None
    ray.init(address="local", **LOCAL, **quiet)


def started_last() -> str:
    """The address that the last `ray start` of this machine noted, also of a cluster that is gone; "" if none did."""
    system = next((os.environ[name] for name in ("RAY_TMPDIR", "TMPDIR") if name in os.environ), "/tmp")
    try:
        return Path(system, "ray", "ray_current_cluster").read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def silent(address: str, error: Exception) -> InputError:
    """The error for an address without a cluster."""
    return InputError(
        f"No Ray cluster answers at {address} ({in_short(error)}). Start one there, or pass cluster='auto'.",
        "cluster",
    )


class OnRay:
    """Runs tasks on the workers of a cluster, each with as many processors as the budget has threads."""

    def __init__(self, ray: Any, budget: Budget) -> None:
        self.ray = ray
        self.needed = {"CPU": float(budget.threads), "memory": float(budget.memory)}
        self.workers = sum(map(self.fitting, ray.nodes()))
        if not self.workers:
            raise InputError(
                f"No machine of the cluster has {budget.threads} processors and {budget.memory:,} bytes of memory "
                "for a worker. Let threads and memory, which apply to each worker, be less.",
                ("cluster", "threads", "memory"),
            )
        self.remote = ray.remote(num_cpus=budget.threads, memory=budget.memory, max_retries=RETRIES)
        self.folder = os.getcwd()
        self.tasks: dict[Task, Any] = {}
        self.at_once = ray.remote(num_cpus=0, max_retries=RETRIES)
        self.begun: list[Any] = []

    def share(self, value: Any) -> Any:
        """What several tasks are given, as it is moved to the workers once."""
        return self.ray.put(value)

    def submit(self, task: Task, *given: Any) -> Any:
        """Submit a task; returns a reference to its answer, which other tasks can be given."""
        if task not in self.tasks:
            remote = self.at_once if task is add else self.remote
            self.tasks[task] = remote(checked(task))
        ref = self.tasks[task].remote(__version__, self.folder, *given)
        self.begun.append(ref)
        return ref

    def fitting(self, node: dict[str, Any]) -> int:
        """The number of workers that a machine has room for."""
        if not node["Alive"]:
            return 0
        return int(min(node["Resources"].get(name, 0.0) // least for name, least in self.needed.items()))

    def each(
        self, begin: Begin, units: Sequence[Any], pairs: Pairs | None = None, progress: Progress = unseen
    ) -> Iterator[tuple[Any, Any]]:
        """The answer of each unit, as units end; `pairs` returns the number of pairs of a unit."""
        # At the end, workers without a task repeat the units with pairs that have not ended, some of which may be
        # slow.
        todo, waiting = deque(units), dict[Any, tuple[Any, list[Any]]]()
        unrepeated = dict.fromkeys(units if pairs else [])

        def tasks() -> int:
            return sum(len(refs) for _, refs in waiting.values())

        def start(unit: Any) -> None:
            self.begun = []
            waiting[begin(unit, unseen)] = unit, self.begun

        try:
            while todo or waiting:
                while todo and (len(waiting) < 2 or tasks() < AHEAD * self.workers):
                    start(todo.popleft())
                while not todo and unrepeated and tasks() < self.workers:
                    start(unrepeated.popitem()[0])
                [ended], _ = self.ray.wait(list(waiting), num_returns=1)
                unit, _ = waiting.pop(ended)
                answer = self.get(ended)
                unrepeated.pop(unit, None)
                for ref in [ref for ref, (other, _) in waiting.items() if other == unit]:
                    self.cancel(waiting.pop(ref)[1])
                progress(pairs(unit) if pairs else 0)
                yield unit, answer
        finally:
            self.cancel([ref for _, refs in waiting.values() for ref in refs])

    def get(self, ref: Any) -> Any:
        """The answer of a task; raises the task's error if it failed."""
        from ray import exceptions

        try:
            return self.ray.get(ref)
        except exceptions.RayError as error:
            cause: BaseException = error
            while isinstance(cause, exceptions.RayTaskError):
                cause = cause.cause
            if isinstance(cause, TieproofError):
                raise cause from None
            what = "lost a task repeatedly" if isinstance(cause, exceptions.RayError) else "failed to run a task"
            raise ClusterError(
                f"The cluster {what} ({in_short(cause)}). Remove the cause and run the same again; a truth, and "
                "with checkpoint= an evaluation, continues where it stopped."
            ) from error

    def cancel(self, refs: list[Any]) -> None:
        """Cancel submitted tasks whose answers are not needed any more."""
        for ref in refs:
            self.ray.cancel(ref, force=False)


def in_short(error: BaseException) -> str:
    """The class of an error, and the first sentence of its message."""
    said = " ".join(str(error).split()).partition(". ")[0].removesuffix(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def checked(task: Task) -> Task:
    """A task that runs in the driver's folder, where paths begin, and raises InputError if its version differs."""

    def run(version: str, folder: str, *given: Any) -> Any:
        from tieproof.installed import __version__ as here

        if version != here:
            raise InputError(
                f"The driver has tieproof {version}, but a worker {here}. Install the same version on all machines.",
                "cluster",
            )
        if os.path.isdir(folder):
            os.chdir(folder)
        return task(*given)

    run.__name__ = task.__name__
    return run
