"""How fast ``quaymaster serve`` answers: ``python -m tests.perf.service``.

It starts the service on made-up nodes and asks ``/v1/fit`` for a while: first on each
connection as soon as it has answered, which says how much it can take, then at a steady
rate, which says how long clients wait. ``--different`` asks for what was never asked
before, ``--manifest`` by a whole manifest and not by a line. Linux only.

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
from tests.perf.asking import Asked, ask_at_rate, ask_in_turn, make_question

__all__ = ["main"]

_POD = """
{apiVersion: v1, kind: Pod, metadata: {name: one},
 spec: {containers: [{name: main, image: nginx}]}}
"""
_ASKED_BEFORE = 20


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


def _questions(given: argparse.Namespace) -> Iterator[bytes]:
    """Questions without end, made beforehand as far as that is possible."""
    count = _ASKED_BEFORE
    if given.different:
        count = max(count, int(given.rate * given.seconds) * 8)
    bodies = (_body(number % 15_000, given.manifest) for number in range(count))
    return itertools.cycle([make_question("/v1/fit", body) for body in bodies])


@contextlib.contextmanager
def _serving(given: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Run the service; its process and its port."""
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
    """The processor seconds of a process and of its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [cpu_seconds(one) for one in (pid, *map(int, children))]


def _told(how: str, asked: Asked, used: list[float]) -> str:
    count = len(asked.taken)
    p50, p99, worst = (1000 * asked.quantile(part) for part in (0.5, 0.99, 1))
    each = " + ".join(f"{1000 * one / count:.2f}" for one in used)
    client = 1000 * asked.cpu_seconds / count
    left = f", {asked.unasked} never asked" if asked.unasked else ""
    return (
        f"{how}: {asked.rate:.0f} answers/s{left}, p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
        f"longest {worst:.1f} ms; CPU per answer: server {1000 * sum(used) / count:.2f}"
        f" ms ({each}), client {client:.2f} ms"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure, and print a line for each way to ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rate", type=float, default=1000)
    parser.add_argument("--different", action="store_true")
    parser.add_argument("--manifest", action="store_true")
    given = parser.parse_args()
    questions = _questions(given)
    with _serving(given) as (pid, port):
        ask_in_turn(port, questions, given.connections, 1)
        _say(f"{given.nodes} nodes, {given.workers} workers")
        for rate in (0, given.rate):
            before = _used(pid)
            if rate:
                how = f"{rate:g}/s"
                asked = ask_at_rate(
                    port, questions, given.connections, given.seconds, rate
                )
            else:
                how = f"{given.connections} connections in turn"
                asked = ask_in_turn(port, questions, given.connections, given.seconds)
            used = [b - a for a, b in zip(before, _used(pid), strict=True)]
            _say(_told(how, asked, used))


if __name__ == "__main__":
    main()
