"""Only tasks of plugins that may block get a thread."""

from collections.abc import Callable
from typing import Any

import pytest

from quaymaster import Handle, Pod, QueuedPodInfo, Status, hookimpl
from quaymaster.config import ConfigErrors, parse_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.documents import HEADER


class Recording:
    """Runs tasks immediately and records whether they may block."""

    def __init__(self) -> None:
        self.blocks: list[bool] = []

    def submit(
        self,
        task: Callable[[], Any],
        done: Callable[[Any], None],
        *,
        blocks: bool = True,
    ) -> None:
        self.blocks.append(blocks)
        done(task())

    def close(self) -> None:
        pass


class ByAge:
    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> float:
        return queued.timestamp


class _Binds:
    def __init__(self, _args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def bind(self, pod: Pod, node_name: str) -> None:
        self.handle.cluster.bind(pod, node_name)


class BindsOnly(_Binds):
    blocks = False


class AsksElsewhere(_Binds):
    pass


class _Prepares:
    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> Status | None:
        return None if pod.name == "prepared" else Status.skip()

    @hookimpl
    def pre_bind(self) -> None: ...


class PreparesElsewhere(_Prepares):
    pass


class PreparesHere(_Prepares):
    blocks = False


class _Works:
    def __init__(self, _args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def post_bind(self) -> None:
        self.handle.run_in_background(lambda: None, lambda _: None)


class WorksElsewhere(_Works):
    pass


class WorksHere(_Works):
    blocks = False


def blocks_with(*plugins: type, pod: str = "a") -> list[bool]:
    """Return which tasks may block while only these plugins schedule a pod."""
    registry = PluginRegistry.of(
        {plugin.__name__: plugin for plugin in (ByAge, *plugins)}
    )
    enabled = [{"name": name} for name in registry]
    points = {"enabled": enabled, "disabled": [{"name": "*"}]}
    profiles = [{"plugins": {"multiPoint": points}}]
    config = parse_config({**HEADER, "profiles": profiles}, registry)
    clock, executor = VirtualClock(), Recording()
    cluster = InMemoryCluster(clock)
    cluster.load([make_node(name="n"), make_pod(name=pod)])
    scheduler = Scheduler(
        cluster,
        config,
        registry,
        clock=clock,
        make_executor=lambda _post: executor,
    )
    scheduler.start()
    scheduler.settle()
    return executor.blocks


def test_bind_blocks_unless_its_plugin_declares_otherwise() -> None:
    assert blocks_with(AsksElsewhere) == [True]
    assert blocks_with(BindsOnly) == [False]


def test_plugins_that_skip_the_pod_do_not_count() -> None:
    assert blocks_with(PreparesElsewhere, BindsOnly) == [False]
    # One that does not skip has the pod nominated first, which waits for the cluster.
    nominates = False
    prepared = blocks_with(PreparesElsewhere, BindsOnly, pod="prepared")
    assert prepared == [nominates, True]
    assert blocks_with(PreparesHere, BindsOnly, pod="prepared") == [nominates, False]


def test_background_tasks_block_unless_the_plugin_declares_otherwise() -> None:
    assert blocks_with(WorksElsewhere, BindsOnly) == [False, True]
    assert blocks_with(WorksHere, BindsOnly) == [False, False]


def test_declaration_is_true_or_false() -> None:
    class Odd(AsksElsewhere):
        blocks = "never"

    with pytest.raises(ConfigErrors, match="blocks: expected a bool, got 'never'"):
        blocks_with(Odd)
