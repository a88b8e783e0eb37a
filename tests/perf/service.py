"""How fast ``quaymaster serve`` answers: ``python -m tests.perf.service``.

It starts the service on made-up nodes and asks ``/v1/fit`` over some connections for a
while; what it prints is measured here, and depends on the machine.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time

__all__ = ["main"]

_POD = """
{apiVersion: v1, kind: Pod, metadata: {name: one},
 spec: {containers: [{name: main, image: nginx}]}}
"""


async def _ask(port: int, end: float, taken: list[float], number: int) -> None:
    """Ask one question after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < end:
        cpu = 100 * (1 + (number + len(taken)) % 20)
        body = json.dumps({"pods": [{"line": f"cpu={cpu}m,memory=1Gi"}]}).encode()
        head = (
            f"POST /v1/fit HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        begun = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        length = int(answer.lower().partition(b"content-length: ")[2].split(b"\r")[0])
        await reader.readexactly(length)
        taken.append(time.perf_counter() - begun)
    writer.close()


async def _measured(port: int, seconds: float, connections: int) -> list[float]:
    taken: list[float] = []
    end = time.perf_counter() + seconds
    await asyncio.gather(*(_ask(port, end, taken, n) for n in range(connections)))
    return sorted(taken)


def main() -> None:
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
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
        port = int(process.stdout.readline().rpartition(":")[2])
        asyncio.run(_measured(port, 1, given.connections))
        taken = asyncio.run(_measured(port, given.seconds, given.connections))
    finally:
        process.terminate()
        process.wait()
    used = os.times()
    rate, count = len(taken) / given.seconds, len(taken)
    p50, p99 = (1000 * taken[int(count * part)] for part in (0.5, 0.99))
    cpu = 1000 * (used.children_user + used.children_system) / count
    asked = f"{given.nodes} nodes, {given.workers} workers"
    found = f"{rate:.0f} requests/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms"
    text = f"{asked}: {found}, {cpu:.2f} ms of CPU each with the start"
    print(text)  # noqa: T201 - what it is for


if __name__ == "__main__":
    main()
