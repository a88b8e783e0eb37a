"""The service behind a socket: it starts, answers and ends as told."""

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

NODE = """
apiVersion: v1
kind: Node
metadata: {name: one}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
"""


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """A service: its process, its port and its token."""
    command = [sys.executable, "-m", "quaymaster", "serve", "--bind", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline().rpartition(":")[2])
        yield process, port, process.stdout.readline().partition(": ")[2].strip()
    finally:
        process.kill()
        process.communicate()


def ask(port: int, token: str) -> tuple[int, object]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}"}
    body = json.dumps({"pods": [{"line": "cpu=3"}]})
    connection.request("POST", "/v1/fit", body, headers)
    with closing(connection), connection.getresponse() as answer:
        return answer.status, json.loads(answer.read())


def test_two_workers_answer_until_they_are_told_to_end(tmp_path: Path) -> None:
    file = tmp_path / "node.yaml"
    file.write_text(NODE, encoding="utf-8")
    with serving(str(file), "--workers", "2") as (process, port, token):
        first = ask(port, token)
        assert first == (
            200,
            {
                "fits": True,
                "placed": 1,
                "asked": 1,
                "pods": [{"pod": "default/more", "node": "one"}],
            },
        )
        assert all(ask(port, token) == first for _ in range(4))
        assert ask(port, "wrong")[0] == 401
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
