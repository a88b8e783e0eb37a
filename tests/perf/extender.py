"""Measures the cost of ``quaymaster extender``, and how long its clients wait.

``python -m tests.perf.extender [--nodes N] [--images N] [--pods N] [--clients N]``
starts it on a free port, and sends requests as kube-scheduler does (filter, then
prioritize), with whole nodes and with names. It prints figures. Linux only.

For comparison it calls a server that only receives the same requests and sends as many
bytes back (`tests.perf.bare_server`). The cost of that server is the floor. It differs
from machine to machine, as the extender's time does; only the rest is the extender's
own.
"""

import argparse
import http.client
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

_TICKS = os.sysconf("SC_CLK_TCK")
_PODS_A_ROUND = 50


@attrs.frozen
class Served:
    """A running extender.

    Attributes:
        pid: Its process.
        port: Its port.
    """

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """Return its CPU seconds so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS


def make_node(index: int, images: int) -> dict[str, Any]:
    """Return a node about as large as those of kubelets."""
    name = f"node-{index:05}"
    digest = "ab" * 32
    conditions = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {
        "metadata": {
            "name": name,
            "uid": f"00000000-0000-4000-8000-{index:012}",
            "resourceVersion": str(1000 + index),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "topology.kubernetes.io/zone": f"zone-{index % 3}",
            },
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"example:///{name}"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [
                {
                    "type": kind,
                    "status": "True" if kind == "Ready" else "False",
                    "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                    "reason": "KubeletHasSufficient",
                    "message": "kubelet has sufficient of everything available",
                }
                for kind in conditions
            ],
            "images": [
                {
                    "names": [
                        f"registry.example.com/team/app-{image}@sha256:{digest}",
                        f"registry.example.com/team/app-{image}:v1.{image}",
                    ],
                    "sizeBytes": 100_000_000 + image,
                }
                for image in range(images)
            ],
        },
    }


def make_request(nodes: Sequence[Any], number: int, *, by_name: bool) -> bytes:
    """Return a request of kube-scheduler, in the JSON of Go."""
    container = {"name": "c", "resources": {"requests": {"cpu": "100m"}}}
    pod = {
        "metadata": {"name": f"pod-{number}", "namespace": "default"},
        "spec": {"containers": [container]},
        "status": {},
    }
    names = [node["metadata"]["name"] for node in nodes]
    whole = {"metadata": {}, "items": nodes}
    return json.dumps(
        {
            "Pod": pod,
            "Nodes": None if by_name else whole,
            "NodeNames": names if by_name else None,
        },
        separators=(",", ":"),
    ).encode()


@contextmanager
def serving(nodes: Sequence[Any]) -> Iterator[Served]:
    """Start the command with these nodes."""
    command = shutil.which("quaymaster", path=str(Path(sys.executable).parent))
    assert command is not None
    with tempfile.NamedTemporaryFile("w", suffix=".json") as manifest:
        listed = [{"apiVersion": "v1", "kind": "Node", **node} for node in nodes]
        json.dump({"apiVersion": "v1", "kind": "List", "items": listed}, manifest)
        manifest.flush()
        arguments = [command, "extender", manifest.name, "--config", "default"]
        with running([*arguments, "--bind", "127.0.0.1:0"]) as served:
            yield served


@contextmanager
def running(command: Sequence[str]) -> Iterator[Served]:
    """Start a server whose last line of output has its port."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rsplit(":", 1)[-1])
        try:
            yield Served(process.pid, port)
        finally:
            process.terminate()


def ask(connection: http.client.HTTPConnection, verb: str, body: bytes) -> bytes:
    """Send one request on a connection that stays open."""
    connection.request("POST", f"/{verb}", body)
    response = connection.getresponse()
    answer = response.read()
    assert response.status == 200, answer[:200]
    return answer


@attrs.define
class Client:
    """Sends requests pod by pod, as one scheduler does, and measures them.

    Attributes:
        served: The server.
        connection: The connection, which stays open.
        cpu: The server's CPU milliseconds per pod, of each round.
        wall: The milliseconds that the client waited, for each pod.
    """

    served: Served
    connection: http.client.HTTPConnection
    cpu: list[float] = attrs.field(factory=list)
    wall: list[float] = attrs.field(factory=list)

    @classmethod
    def of(cls, served: Served) -> "Client":
        """Connect."""
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        return cls(served, connection)

    def ask_round(self, bodies: Sequence[bytes]) -> None:
        """Send the requests of some pods."""
        begun = self.served.cpu_seconds()
        for body in bodies:
            start = time.perf_counter()
            ask(self.connection, "filter", body)
            ask(self.connection, "prioritize", body)
            self.wall.append(1000 * (time.perf_counter() - start))
        took = self.served.cpu_seconds() - begun
        self.cpu.append(1000 * took / len(bodies))

    def figures(self) -> str:
        """Return the figures as a text."""
        return (
            f"{statistics.median(self.cpu):.1f} ms CPU per pod ({min(self.cpu):.1f} in "
            f"the quietest of {len(self.cpu)} rounds), "
            f"{statistics.median(self.wall):.1f} ms wall"
        )


def one_client(served: Served, bare: Served, bodies: Sequence[bytes]) -> Iterator[str]:
    """Send pod after pod, in turn with the bare server."""
    client, floor = Client.of(served), Client.of(bare)
    for body in bodies[:2]:
        ask(client.connection, "filter", body)
        ask(floor.connection, "filter", body)
    for first in range(0, len(bodies), _PODS_A_ROUND):
        some = bodies[first : first + _PODS_A_ROUND]
        floor.ask_round(some)
        client.ask_round(some)
    client.connection.close()
    floor.connection.close()
    beyond = [mine - least for mine, least in zip(client.cpu, floor.cpu, strict=True)]
    yield f"one client: {client.figures()}"
    yield f"the floor: {floor.figures()}"
    yield f"beyond the floor: {statistics.median(beyond):.1f} ms CPU per pod"


def many_clients(served: Served, body: bytes, clients: int, each: int) -> str:
    """Send all requests at once, each on new connections."""
    took: list[float] = []
    failed: list[str] = []
    together = threading.Barrier(clients)

    def client() -> None:
        together.wait()
        for _ in range(each):
            start = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", served.port, 60)
            try:
                ask(connection, "filter", body)
            except (OSError, http.client.HTTPException, AssertionError) as error:
                failed.append(repr(error))
            connection.close()
            took.append(time.perf_counter() - start)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    p50, p99 = (1000 * statistics.quantiles(took, n=100)[at] for at in (49, 98))
    return (
        f"{len(took)} requests of {clients} clients: {len(failed)} failed, "
        f"p50 {p50:.0f} ms, p99 {p99:.0f} ms"
    )


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("nodes", 1000), ("images", 39), ("pods", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--clients", type=int, default=64)
    options = parser.parse_args()
    nodes = [make_node(index, options.images) for index in range(options.nodes)]
    bare_server = [sys.executable, "-m", "tests.perf.bare_server"]
    with serving(nodes) as served, running(bare_server) as bare:
        for by_name in (False, True):
            different = [
                make_request(nodes, number, by_name=by_name) for number in range(20)
            ]
            bodies = list(itertools.islice(itertools.cycle(different), options.pods))
            what = "names" if by_name else "whole nodes"
            size = len(bodies[0]) / 1e6
            say(f"{options.nodes} {what} ({size:.2f} MB)")
            for line in one_client(served, bare, bodies):
                say(f"  {line}")
            say(f"  at once: {many_clients(served, bodies[0], options.clients, 3)}")


if __name__ == "__main__":
    main()
