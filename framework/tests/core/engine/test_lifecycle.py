"""The life of a plugin: built, started, at work, closed."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.config import parse_config
from quaymaster.errors import ProfileError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.simulation import explain_pod, simulate
from quaymaster.testing import PluginHarness, SchedulerHarness, make_node, make_pod
from tests.kit.internals.extender_server import ExtenderService


class First:
    """Logs its calls with its name and number."""

    log: ClassVar[list[str]] = []
    made: ClassVar[int] = 0

    def __init__(self, args: object, handle: Handle) -> None:
        type(self).made += 1
        self.handle = handle
        self.name = f"{handle.plugin_name}{self.made}"
        self.log.append(f"{self.name} built")

    @hookimpl
    def start(self) -> None:
        self.log.append(f"{self.name} started")

    @hookimpl
    def close(self) -> None:
        self.log.append(f"{self.name} closed")

    @hookimpl
    def filter(self) -> Status | None:
        self.log.append(f"{self.name} asked")
        return None


class Second(First):
    made: ClassVar[int] = 0


class Unlicensed(First):
    """Cannot be built."""

    def __init__(self, args: object, handle: Handle) -> None:
        raise LookupError("no licence")


class Unmarked(First):
    """Is built, but has an invalid hook."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.reserve = lambda: None


class Failing(First):
    """Fails in start and in close."""

    @hookimpl
    def start(self) -> None:
        raise ConnectionError("no metrics")

    @hookimpl
    def close(self) -> None:
        raise SystemExit(1)


class Gate(First):
    """Implements PreEnqueue."""

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        self.log.append(f"{self.name} asked about {pod.name}")
        return None


PLUGINS: Mapping[str, type[First]] = {
    plugin.__name__: plugin
    for plugin in (First, Second, Unlicensed, Unmarked, Failing, Gate)
}


@pytest.fixture(autouse=True)
def log() -> Iterator[list[str]]:
    First.log = []
    for plugin in PLUGINS.values():
        plugin.made = 0
    yield First.log
    First.log = []


def config_with(*names: str, **settings: object) -> dict[str, Any]:
    return profiles_with(names, **settings)


def profiles_with(*profiles: Sequence[str], **settings: object) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": f"profile-{number}",
                "plugins": {
                    "multiPoint": {"enabled": [{"name": name} for name in names]}
                },
            }
            for number, names in enumerate(profiles)
        ],
        **settings,
    }


def harness_with(*names: str) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name="n")], plugins=PLUGINS, config=config_with(*names)
    )


def make_wanting_pod(name: str = "p") -> Pod:
    return make_pod(name=name, scheduler_name="profile-0")


def test_plugins_start_before_the_first_attempt_and_close_in_reverse(
    log: list[str],
) -> None:
    harness = harness_with("First", "Second")
    assert log == ["First1 built", "Second1 built", "First1 started", "Second1 started"]
    log.clear()
    harness.cluster.create(make_wanting_pod())
    harness.settle()
    harness.close()
    assert log == ["First1 asked", "Second1 asked", "Second1 closed", "First1 closed"]


def test_profiles_start_in_their_order_and_close_in_reverse(log: list[str]) -> None:
    config = profiles_with(["First"], ["First", "Second"])
    harness = SchedulerHarness(plugins=PLUGINS, config=config)
    harness.close()
    assert log[3:] == [
        *("First1 started", "First2 started", "Second1 started"),
        *("Second1 closed", "First2 closed", "First1 closed"),
    ]


def test_plugin_is_closed_once(log: list[str]) -> None:
    with harness_with("First") as harness:
        harness.close()
    assert log.count("First1 closed") == 1


def test_start_sees_the_objects_of_the_cluster() -> None:
    seen: list[str] = []

    class Looking(First):
        @hookimpl
        def start(self) -> None:
            seen.extend(pod.name for pod in self.handle.informers.list(Pod))
            seen.extend(info.name for info in self.handle.snapshot)

    SchedulerHarness(
        [make_node(name="n"), make_pod(name="p")],
        plugins={"Looking": Looking},
        config=config_with("Looking"),
    )
    assert seen == ["p", "n"]


def test_gates_of_pending_pods_are_called_before_start(log: list[str]) -> None:
    pod = make_wanting_pod()
    SchedulerHarness([pod], plugins=PLUGINS, config=config_with("Gate"))
    assert log == ["Gate1 built", "Gate1 asked about p", "Gate1 started"]


def test_reload_closes_the_old_before_it_starts_the_new(log: list[str]) -> None:
    harness = harness_with("First", "Second")
    log.clear()
    answer = harness.reload(config_with("First", podInitialBackoffSeconds=2))
    harness.advance(1)
    answer.result()
    assert log == ["First2 built", "Second1 closed", "First1 closed", "First2 started"]


@pytest.mark.parametrize(
    ("wrong", "built"),
    [
        (["First", "Second", "Unlicensed"], ["First2", "Second1"]),
        (["First", "Unmarked"], ["First2", "Unmarked1"]),
    ],
    ids=["constructor", "hook"],
)
def test_failed_reload_closes_what_it_built_and_starts_nothing(
    wrong: list[str], built: list[str], log: list[str]
) -> None:
    harness = harness_with("First")
    log.clear()
    answer = harness.reload(config_with(*wrong))
    harness.advance(1)
    with pytest.raises(ProfileError):
        answer.result()
    assert log == [
        *(f"{name} built" for name in built),
        *(f"{name} closed" for name in reversed(built)),
    ]


def test_profile_that_fails_closes_the_profiles_before_it(log: list[str]) -> None:
    harness = harness_with("First")
    log.clear()
    harness.reload(profiles_with(["First"], ["Second", "Unlicensed"]))
    harness.advance(1)
    assert log == ["First2 built", "Second1 built", "Second1 closed", "First2 closed"]


def test_first_build_that_fails_closes_what_it_built(log: list[str]) -> None:
    with pytest.raises(ProfileError):
        harness_with("First", "Unlicensed")
    assert log == ["First1 built", "First1 closed"]


def test_scheduler_that_never_starts_only_closes(log: list[str]) -> None:
    clock = VirtualClock()
    registry = PluginRegistry.discover().with_plugin(First)
    config = parse_config(config_with("First"), registry, source="test")
    scheduler = Scheduler(InMemoryCluster(clock), config, registry, clock=clock)
    scheduler.close()
    scheduler.start()
    assert log == ["First1 built", "First1 closed"]


def test_plugin_that_fails_to_start_or_close_does_not_stop_the_others(
    log: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    harness = harness_with("First", "Failing", "Second")
    harness.cluster.create(make_wanting_pod())
    harness.settle()
    assert harness.node_of("p") == "n"
    harness.close()
    assert log[3:5] == ["First1 started", "Second1 started"]
    assert log[-2:] == ["Second1 closed", "First1 closed"]
    assert [(error.plugin, error.hook, error.pod) for error in harness.errors] == [
        ("Failing", "start", ""),
        ("Failing", "close", ""),
    ]
    assert (
        "plugin 'Failing': start failed: ConnectionError: no metrics "
        f"({'/'.join(__name__.split('.'))}.py:" in caplog.text
    )


def test_interrupt_while_plugins_close_leaves_none_open(log: list[str]) -> None:
    class Interrupted(First):
        @hookimpl
        def close(self) -> None:
            raise KeyboardInterrupt

    plugins = {**PLUGINS, "Interrupted": Interrupted}
    config = config_with("First", "Interrupted")
    harness = SchedulerHarness(plugins=plugins, config=config)
    with pytest.raises(KeyboardInterrupt):
        harness.close()
    assert log[-1] == "First1 closed"


def test_close_comes_after_the_last_timer(log: list[str]) -> None:
    class Ticking(First):
        @hookimpl
        def start(self) -> None:
            self.handle.clock.call_later(10.0, lambda: log.append("rang"))

        @hookimpl
        def close(self) -> None:
            self.handle.clock.call_later(1.0, lambda: log.append("rang"))

    plugins = {"Ticking": Ticking}
    harness = SchedulerHarness(plugins=plugins, config=config_with("Ticking"))
    harness.close()
    harness.clock.advance(60.0)
    assert log == ["Ticking1 built"]


def test_simulation_and_explanation_close_their_plugins(log: list[str]) -> None:
    registry = PluginRegistry.discover().with_plugin(First)
    config = parse_config(config_with("First"), registry, source="test")
    objects = [make_node(name="n"), make_wanting_pod()]
    simulate(objects, config=config, registry=registry)
    explain_pod("p", objects, config=config, registry=registry)
    assert log[1] == "First1 started"
    assert log.count("First1 closed") == log.count("First2 closed") == 1
    assert log[-1] == "First2 closed"


def test_extender_starts_and_closes_its_plugins(log: list[str]) -> None:
    registry = PluginRegistry.discover().with_plugin(First)
    config = parse_config(config_with("First"), registry, source="test")
    service = ExtenderService(config, registry)
    assert log == ["First1 built", "First1 started"]
    service.close()
    assert log[2:] == ["First1 closed"]


def test_harness_of_a_plugin_raises_errors_of_start_and_close(log: list[str]) -> None:
    with PluginHarness(First) as harness:
        assert log == ["First1 built"]
        assert harness.handle.plugin_name == "First"
        harness.start()
    assert log[1:] == ["First1 started", "First1 closed"]
    with pytest.raises(ConnectionError):
        PluginHarness(Failing).start()
    with pytest.raises(SystemExit):
        PluginHarness(Failing).close()
