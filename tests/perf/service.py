"""Measures how fast ``quaymaster serve`` answers: ``python -m tests.perf.service``.

It starts the service on made-up nodes, and sends requests to ``/v1/fit``. First each
connection sends its next request as soon as the last is answered, which measures the
throughput. Then requests are sent at a steady rate, which measures the latency.
``--different`` sends requests that were not sent before, ``--manifest`` sends a whole
manifest in place of a line. Linux only.

Latencies hold for an idle machine. Compare processor times on one that is busy.
"""

import argparse
import contextlib
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.loads import cpu_seconds
from tests.perf.load_client import LoadResult, make_request, send_at_rate, send_in_turn

__all__ = ["main"]

_POD = """
{apiVersion: v1, kind: Pod, metadata: {name: one},
 spec: {containers: [{name: main, image: nginx}]}}
"""
_REPEATED = 20


def _body(number: int, is_manifest: bool) -> bytes:
    cpu = f"{100 + number}m"
    if not is_manifest:
        return json.dumps({"pods": [{"line": f"cpu={cpu},memory=1Gi"}]}).encode()
    requests = {"cpu": cpu, "memory": "1Gi"}
    container = {
        "name": "main",
        "image": "registry.example/web:v1",
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": "PORT", "value": "8080"}],
        "resources": {"requests": requests, "limits": {"memory": "2Gi"}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "containers": [container],
            "tolerations": [{"key": "spot", "operator": "Exists"}],
        },
    }
    return json.dumps({"pods": [{"pod": pod}]}).encode()


def _requests(given: argparse.Namespace) -> Iterator[bytes]:
    """Return endless requests, made beforehand as far as possible."""
    count = _REPEATED
    if given.different:
        count = max(count, int(given.rate * given.seconds) * 8)
    bodies = (_body(number % 15_000, given.manifest) for number in range(count))
    return itertools.cycle([make_request("/v1/fit", body) for body in bodies])


@contextlib.contextmanager
def _serving(given: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Run the service; return its process and its port."""
    command = [sys.executable, "-m", "quaymaster", "serve", "--no-token"]
    command += ["--bind", "127.0.0.1:0", "--workers", str(given.workers)]
    command += ["--nodes", f"{given.nodes}:cpu=16,memory=64Gi,zones=3", "-"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(_POD)
    process.stdin.close()
    try:
        yield process.pid, int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.terminate()
        process.wait()


def _used(pid: int) -> list[float]:
    """Return the CPU seconds of a process and of its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [cpu_seconds(process) for process in (pid, *map(int, children))]


def _figures(how: str, load: LoadResult, used: list[float]) -> str:
    count = len(load.latencies)
    p50, p99, worst = (1000 * load.quantile(part) for part in (0.5, 0.99, 1))
    each = " + ".join(f"{1000 * seconds / count:.2f}" for seconds in used)
    client = 1000 * load.cpu_seconds / count
    left = f", {load.unsent} never sent" if load.unsent else ""
    return (
        f"{how}: {load.rate:.0f} answers/s{left}, p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
        f"longest {worst:.1f} ms; CPU per answer: server {1000 * sum(used) / count:.2f}"
        f" ms ({each}), client {client:.2f} ms"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure, and print a line for each way to send requests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rate", type=float, default=1000)
    parser.add_argument("--different", action="store_true")
    parser.add_argument("--manifest", action="store_true")
    given = parser.parse_args()
    requests = _requests(given)
    with _serving(given) as (pid, port):
        send_in_turn(port, requests, given.connections, 1)
        _say(f"{given.nodes} nodes, {given.workers} workers")
        for rate in (0, given.rate):
            before = _used(pid)
            if rate:
                how = f"{rate:g}/s"
                load = send_at_rate(
                    port, requests, given.connections, given.seconds, rate
                )
            else:
                how = f"{given.connections} connections in turn"
                load = send_in_turn(port, requests, given.connections, given.seconds)
            used = [b - a for a, b in zip(before, _used(pid), strict=True)]
            _say(_figures(how, load, used))


if __name__ == "__main__":
    main()
