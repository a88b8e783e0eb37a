"""``handle.changed(pods=...)`` sorts pods again whose keys have changed."""

from collections.abc import Iterator
from typing import Any

import pytest

from quaymaster import Handle, Pod, QueuedPodInfo, hookimpl
from quaymaster.config import parse_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Run
from quaymaster.testing import make_node, make_pod, profile_config


class Ranked:
    """Orders pods by a table that the test changes."""

    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        self.ranks: dict[str, int] = {}

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> int:
        return self.ranks.get(queued.pod.name, 0)


@pytest.fixture
def run() -> Iterator[Run]:
    registry = PluginRegistry.discover().with_plugin(Ranked)
    config = parse_config(
        profile_config(enable=["Ranked"], disable=["PrioritySort"]), registry
    )
    with Run([make_node()], config=config, registry=registry) as run:
        yield run


def create(run: Run, *names: str, cpu: str = "1") -> list[Pod]:
    return [run.create(make_pod(name=name, requests={"cpu": cpu})) for name in names]


def tried(run: Run) -> list[str]:
    names = []
    while step := run.attempt():
        names.append(step.pod.name)
    return names


def test_pods_with_changed_keys_get_their_new_places(run: Run) -> None:
    first, _, third = create(run, "a", "b", "c")
    plugin = run.plugin(Ranked)
    plugin.ranks = {"a": 2, "b": 1}
    plugin.handle.changed(pods=[first, third])
    # Only the key of a is computed again: b keeps its key, 0, and its place.
    assert tried(run) == ["b", "c", "a"]


def test_pods_that_are_not_queued_are_left_alone(run: Run) -> None:
    [placed] = create(run, "a")
    run.attempt()
    [rejected] = create(run, "large", cpu="900")
    run.attempt()
    plugin = run.plugin(Ranked)
    plugin.handle.changed(pods=[placed, rejected, make_pod(name="elsewhere")])
    assert tried(run) == []
    assert run.observe().pending == 1


def test_changed_keys_requeue_no_pod_and_drop_no_cached_result(run: Run) -> None:
    pods = create(run, "a")
    plugin: Any = run.plugin(Ranked)
    plugin.handle.changed(pods=pods)
    assert not plugin.handle.reported_changes


def test_a_value_that_is_not_a_pod_is_an_error(run: Run) -> None:
    plugin: Any = run.plugin(Ranked)
    with pytest.raises(TypeError, match="changed: expected pods, got str"):
        plugin.handle.changed(pods=["a"])
