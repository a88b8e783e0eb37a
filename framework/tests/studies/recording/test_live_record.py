"""Records of a live cluster, for which a server with open watches stands in."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from quaymaster.recording import Recorded, RecordError, RecordProgress, record
from tests.kit.internals.recording import (
    Added,
    Begin,
    Deleted,
    End,
    Line,
    Modified,
    Reached,
    RecordFile,
)
from tests.kit.streaming_server import StreamingServer, streaming_server

SPEC = {"containers": [{"name": "main", "image": "secret/image"}]}


def pods(path: Path) -> list[Line]:
    """Return the lines about pods, because the server has the same at every path."""
    kinds = (Added, Modified, Deleted)
    lines = RecordFile(path).lines()
    return [line for line in lines if isinstance(line, kinds) and line.kind == "Pod"]


def followed(
    server: StreamingServer,
    kubeconfig: Path,
    path: Path,
    steps: list[Callable[[], None]],
    *,
    lines: int = 1,
    anonymise: bool = False,
) -> Recorded:
    """Record a sequence of steps; each step begins when the last is written.

    Args:
        server: The server.
        kubeconfig: Leads there.
        path: The record.
        steps: What happens; each makes one line about a pod.
        lines: How many such lines come before.
        anonymise: Whether to take other names.
    """
    stop = threading.Event()
    left = list(steps)
    wanted = [lines + (len(pods(path)) if path.exists() else 0)]

    def on_progress(_objects: int, _lines: int) -> None:
        if len(pods(path)) < wanted[0]:
            return
        wanted[0] += 1
        if left:
            server.change(left.pop(0))
        else:
            stop.set()

    progress: RecordProgress = on_progress
    return record(
        path,
        kubeconfig=str(kubeconfig),
        seconds=60,
        stop=stop,
        anonymise=anonymise,
        on_progress=progress,
    )


@pytest.mark.long
def test_objects_and_their_changes_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl.gz"
    with streaming_server(tmp_path) as (server, kubeconfig):
        server.put("web", spec=SPEC, status={"phase": "Pending"})
        recording = followed(
            server,
            kubeconfig,
            path,
            [
                lambda: server.put("web", spec=SPEC, status={"phase": "Running"}),
                lambda: server.remove("web"),
            ],
        )
    added, modified, deleted = pods(path)
    assert isinstance(added, Added)
    assert added.listed
    assert added.object["status"] == {"phase": "Pending"}
    assert isinstance(modified, Modified)
    assert modified.patch == {"status": {"phase": "Running"}}
    assert isinstance(deleted, Deleted)
    assert not deleted.missed
    lines = list(RecordFile(path).lines())
    assert isinstance(lines[0], Begin)
    assert isinstance(lines[-1], End)
    assert any(isinstance(line, Reached) and line.kind == "Pod" for line in lines)
    assert (recording.went_on, recording.pods, recording.notices) == (False, 0, ())


@pytest.mark.long
@pytest.mark.parametrize("forgets", [False, True], ids=["remembers", "has forgotten"])
def test_continued_record_contains_the_changes_in_between(
    tmp_path: Path, forgets: bool
) -> None:
    path = tmp_path / "record.jsonl.gz"
    with streaming_server(tmp_path) as (server, kubeconfig):
        for name in ("stays", "goes", "changes"):
            server.put(name, spec=SPEC, status={"phase": "Pending"})
        followed(server, kubeconfig, path, [], lines=3)
        first = len(pods(path))
        server.remove("goes")
        server.put("changes", spec=SPEC, status={"phase": "Running"})
        if forgets:
            server.forget()
        recording = followed(server, kubeconfig, path, [], lines=2)
    assert first == 3
    assert recording.went_on
    later = pods(path)[first:]
    assert {type(line) for line in later} == {Modified, Deleted}
    assert [line.missed for line in later if isinstance(line, Deleted)] == [forgets]
    assert len(later) == 2


@pytest.mark.long
def test_names_are_anonymised_on_request(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    with streaming_server(tmp_path) as (server, kubeconfig):
        server.put("secret-7", "secret", spec={**SPEC, "nodeName": "secret-node"})
        followed(server, kubeconfig, path, [], anonymise=True)
        begin, [line] = next(RecordFile(path).lines()), pods(path)
        with pytest.raises(RecordError, match="an anonymous record cannot go on"):
            followed(server, kubeconfig, path, [], anonymise=True)
    assert isinstance(begin, Begin)
    assert (begin.anonymous, begin.source) == (True, "an anonymous cluster")
    assert isinstance(line, Added)
    assert "secret" not in str(line)
    name = line.object["metadata"]["name"]
    # Numbers of replicas stay, and equal names are equal.
    assert name.endswith("-7")


@pytest.mark.long
def test_record_of_another_cluster_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    with streaming_server(tmp_path) as (server, kubeconfig):
        server.put("web", spec=SPEC)
        followed(server, kubeconfig, path, [])
        path.write_text(path.read_text().replace('"source":"', '"source":"not-', 1))
        before = path.read_bytes()
        with pytest.raises(RecordError, match="expected a record of"):
            followed(server, kubeconfig, path, [])
    assert path.read_bytes() == before
