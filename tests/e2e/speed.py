"""Measures how fast pods are scheduled on a real API server, by us and by upstream.

``python -m tests.e2e.speed --nodes 1000 --pods 10000 --rounds 2`` creates pods as fast
as the server accepts them while a scheduler runs. It reads from the audit log when each
was created and bound. With ``--backlog`` the pods are created before the scheduler
starts. A client that only binds, without decisions, shows the limit of the server
itself.
"""

import argparse
import contextlib
import http.client
import itertools
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from tests.e2e.control_plane import ControlPlane
from tests.e2e.firehose import Firehose
from tests.e2e.loads import cpu_seconds, nodes, pods, processes, quaymaster
from tests.e2e.processes import Program, eventually
from tests.e2e.records import FLAGS, Record

__all__ = ["main"]

_SETTLE: Final = 3.0  # seconds in which a new scheduler reads the cluster
_WITHIN: Final = 900.0
_REMOVALS: Final = 10
_BINDINGS: Final = 64  # bindings at once, of the client without decisions

Make = Callable[[ControlPlane], Program]

SCHEDULERS: Final[Mapping[str, Make]] = {
    "quaymaster": quaymaster,
    "kube-scheduler": lambda plane: plane.scheduler({"percentageOfNodesToScore": 0}),
    "kube-scheduler, all nodes": lambda plane: plane.scheduler(),
}
_HEAD: Final = (
    f"{'nodes':>6} {'pods':>6}  {'':26}{'pods/s':>8}{'created/s':>10}{'p50 s':>8}"
    f"{'p99 s':>8}   CPU seconds per 1,000 pods"
)


@attrs.frozen(kw_only=True)
class Measured:
    """The figures of a run.

    Attributes:
        name: What was measured.
        nodes: The number of nodes.
        pods: The number of bound pods.
        per_second: Bound pods per second, from the first creation to the last binding;
            with a backlog from the first binding on.
        created_per_second: Created pods per second.
        waits: The seconds from creation to binding, in ascending order.
        cpu: CPU seconds by process.
    """

    name: str
    nodes: int
    pods: int
    per_second: float
    created_per_second: float
    waits: Sequence[float]
    cpu: Mapping[str, float]

    def __str__(self) -> str:
        per_1000 = ", ".join(
            f"{name} {seconds / self.pods * 1000:.2f}"
            for name, seconds in self.cpu.items()
        )
        p50, p99 = (self.waits[int(len(self.waits) * part)] for part in (0.5, 0.99))
        return (
            f"{self.nodes:6} {self.pods:6}  {self.name:26}{self.per_second:8.0f}"
            f"{self.created_per_second:10.0f}{p50:8.2f}{p99:8.2f}   {per_1000}"
        )


class Course:
    """A cluster on which schedulers are measured one after the other.

    Args:
        plane: The cluster, empty.
        size: The number of nodes.
        count: The number of pods of a run.
    """

    def __init__(self, plane: ControlPlane, size: int, count: int) -> None:
        self._plane = plane
        self._size = size
        self._count = count
        self._hose = Firehose(plane)
        self._admin = plane.client()
        self._record = Record(plane.folder / "audit.log")
        self._numbers = itertools.count(1)
        self._hose.create(nodes(size))

    def run(self, name: str, make: Make, *, backlog: bool) -> Measured:
        """Let a scheduler bind pods, and measure it."""
        namespace = self._namespace()
        scheduler = make(self._plane)
        if backlog:
            self._hose.create(pods(self._count, namespace))
            scheduler.start()
            eventually(lambda: self._bound() > 0, within=_WITHIN, what="a binding")
            before = self._cpu(scheduler)
        else:
            scheduler.start()
            time.sleep(_SETTLE)
            before = self._cpu(scheduler)
            self._hose.create(pods(self._count, namespace))
        eventually(
            lambda: self._bound() >= self._count,
            within=_WITHIN,
            what="a node for each pod",
        )
        after = self._cpu(scheduler)
        scheduler.stop()
        begin = None if backlog else min(self._record.created.values())
        return self._measured(name, namespace, before, after, begin)

    def bindings_alone(self) -> Measured:
        """Bind pods without a decision, and measure it."""
        namespace = self._namespace()
        self._hose.create(pods(self._count, namespace))
        before = self._cpu(None)
        self._hose.send(self._bindings(namespace), connections=_BINDINGS)
        after = self._cpu(None)
        self._record.read()
        return self._measured("bindings alone", namespace, before, after, None)

    def _bindings(self, namespace: str) -> Iterator[bytes]:
        for number in range(self._count):
            name = f"pod-{number:05}"
            body = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": name, "namespace": namespace},
                "target": {"kind": "Node", "name": f"node-{number % self._size:04}"},
            }
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/binding"
            yield self._hose.request("POST", path, body)

    def _namespace(self) -> str:
        name = f"run-{next(self._numbers)}"
        self._admin.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        )
        self._record.forget()
        return name

    def _bound(self) -> int:
        return len(+self._record.read().bound)

    def _cpu(self, scheduler: Program | None) -> dict[str, float]:
        seconds = {
            "API server": self._plane.apiserver.cpu_seconds(),
            "etcd": self._plane.etcd.cpu_seconds(),
            "client": sum(resource.getrusage(resource.RUSAGE_SELF)[:2]),
        }
        if scheduler is not None:
            ours = processes(scheduler)
            each = {name: cpu_seconds(pid) for name, pid in ours.items()}
            seconds |= {"scheduler": scheduler.cpu_seconds()}
            seconds |= each if len(each) > 1 else {}
        return seconds

    def _remove_pods(self, path: str) -> None:
        """Remove all pods; the server ends a request after a minute."""
        for _ in range(_REMOVALS):
            with contextlib.suppress(http.client.RemoteDisconnected):
                self._admin.request("DELETE", path, query={"gracePeriodSeconds": 0})
                return
        raise RuntimeError(f"the pods of {path} could not be removed")

    def _measured(
        self,
        name: str,
        namespace: str,
        before: Mapping[str, float],
        after: Mapping[str, float],
        begin: float | None,
    ) -> Measured:
        """Collect the figures, and remove the pods."""
        created = self._record.created.values()
        bound = [each.answered for each in self._record.binds if each.is_done]
        began = min(bound) if begin is None else begin
        self._remove_pods(f"/api/v1/namespaces/{namespace}/pods")
        return Measured(
            name=name,
            nodes=self._size,
            pods=self._count,
            per_second=len(bound) / (max(bound) - began),
            created_per_second=len(created) / (max(created) - min(created)),
            waits=self._record.waits(),
            cpu={
                process: after[process] - before.get(process, 0.0) for process in after
            },
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a line for each run.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.speed")
    parser.add_argument("--nodes", type=int, action="append", help="1000 and 5000")
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--backlog", action="store_true", help="the pods come first")
    parser.add_argument("--only", choices=SCHEDULERS, action="append")
    options = parser.parse_args(arguments)
    _say(_HEAD)
    for size in options.nodes or (1000, 5000):
        with ControlPlane(audit=True, apiserver_flags=FLAGS) as plane:
            course = Course(plane, size, options.pods)
            for _ in range(options.rounds):
                for name in options.only or SCHEDULERS:
                    make = SCHEDULERS[name]
                    _say(course.run(name, make, backlog=options.backlog))
                _say(course.bindings_alone())
    return 0


def _say(line: object) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
