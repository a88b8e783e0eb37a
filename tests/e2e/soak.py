"""Hours of load on a real API server: ``python -m tests.e2e.soak --minutes 60``.

Pods are created and deleted all the time, nodes come and go, and two replicas take
turns at leading: one is stopped or killed every few minutes. A third scheduler has its
own name and half of the pods. It is never disturbed, so that its memory can be measured
for the whole time. In the end pods must fill all nodes completely, which works only if
no scheduler counts pods that are gone.
"""

import argparse
import datetime as dt
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Final

from tests.e2e.churn import NAMESPACE, PODS, Churn
from tests.e2e.control_plane import ControlPlane
from tests.e2e.firehose import Firehose
from tests.e2e.loads import pods, processes, quaymaster, resident_bytes
from tests.e2e.memory import Memory
from tests.e2e.processes import ProcessError, eventually
from tests.e2e.records import FLAGS, Record
from tests.e2e.replicas import ELECTION, USERS, Replica, leader_of, running

__all__ = ["main"]

_NODES: Final = 200
_PODS_PER_NODE: Final = 4  # they fill it
_OLD: Final = 60.0  # seconds after which a pod must have been bound
_LOOK: Final = 5.0  # seconds between two checks
_STEADY: Final = "steady"
_SHARED: Final = "default-scheduler"
_MB: Final = 1e6
_SAID: Final = (
    "differs from the informers:",
    "differs from the server:",
)  # in its dump


class Soak:
    """A cluster under load.

    Args:
        plane: The cluster, empty.
        per_second: The number of pods that are created, and deleted, in a second.

    Attributes:
        problems: The broken invariants.
    """

    def __init__(self, plane: ControlPlane, per_second: float) -> None:
        self._admin = plane.client()
        self._hose = Firehose(plane)
        self._record = Record(plane.folder / "audit.log")
        self._churn = Churn(
            self._admin,
            self._hose,
            size=_NODES,
            per_second=per_second,
            schedulers=(_SHARED, _STEADY),
        )
        config = {"leaderElection": ELECTION}
        self._replicas = [
            Replica(
                name,
                quaymaster(plane, config=config, kubeconfig=plane.kubeconfig(name)),
            )
            for name in USERS
        ]
        alone = {"profiles": [{"schedulerName": _STEADY}]}
        self._steady = Replica(_STEADY, quaymaster(plane, config=alone))
        self._memory = Memory()
        self._oldest = 0.0
        self._leader = ""
        self._changes = 0
        self.problems: list[str] = []

    def run(self, minutes: int, turn: float) -> None:
        """Run the load; every few minutes another replica must lead."""
        with running([*self._replicas, self._steady]):
            with self._churn.under_way():
                self._watch(minutes, turn)
                self._compare()
            self._fill()
            self._compare()
        if self._steady.restarts:
            self.problems.append(f"{_STEADY} ended {self._steady.restarts} times")
        self.problems += self._memory.problems()

    def _watch(self, minutes: int, turn: float) -> None:
        begin = time.monotonic()
        pause = threading.Event()
        for minute in range(1, minutes + 1):
            while (passed := time.monotonic() - begin) < 60 * minute:
                self._look(passed / 3600)
                if turn and passed > 60 * turn * (self._changes + 1):
                    self._change_leaders()
                pause.wait(_LOOK)
            self._report(minute)

    def _look(self, hours: float) -> None:
        """Record the age of the oldest pod without a node, and the current memory."""
        now = dt.datetime.now(dt.UTC)
        for pod in self._admin.items(PODS, fieldSelector="spec.nodeName="):
            created = dt.datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
            age = (now - created).total_seconds()
            self._oldest = max(self._oldest, age)
            if age > _OLD:
                self.problems.append(f"{pod['metadata']['name']} waits for {age:.0f} s")
        for role, pid in processes(self._steady.program).items():
            self._memory.note(f"{_STEADY}'s {role}", hours, resident_bytes(pid))

    def _change_leaders(self) -> None:
        self._changes += 1
        try:
            leader = leader_of(self._replicas, self._record)
        except ProcessError as error:
            self.problems.append(str(error))
            return
        if self._changes % 2:
            leader.kill("engine")
        else:
            os.kill(leader.program.pid, signal.SIGTERM)

    def _report(self, minute: int) -> None:
        waits = self._record.read().waits()
        p99 = waits[int(len(waits) * 0.99)] if waits else 0.0
        twice = [pod for pod, times in self._record.bound.items() if times > 1]
        self.problems += [f"{pod} was bound twice" for pod in twice]
        leaders = {user for _, user in self._record.leases} & USERS.keys()
        sizes = ", ".join(
            f"{role} {resident_bytes(pid) / _MB:.0f} MB"
            for role, pid in processes(self._steady.program).items()
        )
        _say(
            f"minute {minute}: {len(self._record.created)} created, "
            f"{len(waits)} bound, p99 {p99:.2f} s, "
            f"oldest unbound {self._oldest:.0f} s, {sizes}, "
            f"led by {' and '.join(sorted(leaders)) or 'nobody'}, "
            f"{len(self.problems)} problems"
        )
        self._record.forget()
        self._oldest = 0.0

    def _compare(self) -> None:
        """Let the third scheduler compare its state with the server."""
        log = self._steady.program.log
        before = log.stat().st_size
        os.kill(self._steady.program.pid, signal.SIGUSR2)

        def new_lines() -> list[str]:
            return log.read_text()[before:].splitlines()

        eventually(
            lambda: any(_SAID[-1] in line for line in new_lines()),
            within=_OLD,
            what="dump",
        )
        self.problems += [
            f"{_STEADY}: {line}"
            for line in new_lines()
            if any(start in line and f"{start} 0" not in line for start in _SAID)
        ]

    def _fill(self) -> None:
        """Fill all nodes completely, for each scheduler in turn."""
        for scheduler in (_SHARED, _STEADY):
            everything = {"gracePeriodSeconds": 0}
            self._admin.request("DELETE", PODS, query=everything)
            count = _NODES * _PODS_PER_NODE
            prefix = f"last-{scheduler}"
            full = pods(count, NAMESPACE, cpu="1", prefix=prefix, scheduler=scheduler)
            self._hose.create(full)
            try:
                eventually(
                    lambda: not self._admin.items(PODS, fieldSelector="spec.nodeName="),
                    within=_OLD,
                    what="a node for each pod",
                )
            except ProcessError as error:
                self.problems.append(f"{scheduler} cannot fill all nodes: {error}")
            self.problems += self._overfull(scheduler)

    def _overfull(self, scheduler: str) -> list[str]:
        used: dict[str, int] = {}
        for pod in self._admin.items(PODS):
            node = pod["spec"].get("nodeName", "")
            used[node] = used.get(node, 0) + 1
        return [
            f"{scheduler} put {count} pods on {node}"
            for node, count in used.items()
            if node and count > _PODS_PER_NODE
        ]

    def verdict(self) -> str:
        """Return the results, in a few lines."""
        lines = [
            f"{name}: {size / _MB:.0f} MB, {growth / _MB:+.1f} MB in an hour"
            for name, (size, growth) in self._memory.growths().items()
        ]
        lines += self.problems[:20]
        lines.append(f"{len(self.problems)} problems" if self.problems else "all fine")
        return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak, and print a line a minute and the results.

    Returns:
        The exit code: 1 if an invariant is broken.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.soak")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--per-second", type=float, default=50.0, help="pods")
    parser.add_argument(
        "--turn", type=float, default=5.0, help="minutes of a leader; 0: no other"
    )
    options = parser.parse_args(arguments)
    flags = (*FLAGS, "--event-ttl=5m")
    with ControlPlane(users=USERS, audit=True, apiserver_flags=flags) as plane:
        soak = Soak(plane, options.per_second)
        soak.run(options.minutes, options.turn)
    _say(soak.verdict())
    return 1 if soak.problems else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
