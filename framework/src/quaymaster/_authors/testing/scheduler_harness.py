"""Runs whole profiles on an in-memory cluster, in virtual time."""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Final, NoReturn, Self, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.faults import Fault, FaultyCluster
from quaymaster._authors.testing.metric_numbers import number_of
from quaymaster._authors.testing.verdicts import (
    ScheduleError,
    UnexpectedHookErrors,
    diagnosis,
)
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.changes import ConfigChanges
from quaymaster._core.config.load import default_config, parse_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.cluster import EventNote
from quaymaster._core.contract.options import HookError, SchedulerOptions, SlowHook
from quaymaster._core.contract.queueing import PendingPod
from quaymaster._core.cycle.explain import explain
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.instances import PluginNotFoundError, plugin_at_work
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["SchedulerHarness"]

PluginT = TypeVar("PluginT")

_DEFAULT_NAME: Final = "default-scheduler"


class SchedulerHarness:
    """A scheduler with a cluster of its own, for tests of profiles and plugins.

    Objects go through admission as with a real API server, workloads become pods, and
    bound pods run. Each step is explicit: `schedule_one` makes one attempt, `settle`
    schedules until the cluster is settled, `advance` moves the clock. Change the
    cluster by `cluster`, such as ``harness.cluster.create(make_pod(name="p"))``. Pods
    are named by their keys; ``default/`` may be left out.

    For the rule of a single hook, `PluginHarness` is shorter.

    Args:
        objects: The objects of the cluster at the beginning.
        plugins: Plugins of the test, by name, beside the installed ones; they replace
            those of the same name.
        config: A ``KubeSchedulerConfiguration`` as plain data; by default the default
            profile.
        seed: Decides the choice between equally good nodes, and generated names.
        options: Further settings of the scheduler.
        stopwatch: The time that hooks are measured with, in seconds.
        faults: The probability of each fault of the cluster, as the scheduler sees it;
            with a rate of 1, some things never end.
        max_answer_seconds: The longest delay of a call of the scheduler, and again of
            its answer, if such faults have a rate.
        kubernetes: The Kubernetes version to simulate.

    Attributes:
        cluster: The cluster, which never fails.
        faulty: The same cluster, as the scheduler sees it.
        clock: The clock of the cluster and the scheduler.
        registry: The plugins, the test's own included.
        attempts: The keys of the pods that were tried, in order.
        slow_hooks: The hooks that exceeded their time limit, in order.
        errors: The hooks that raised an exception or broke their contract, in order. A
            hook that returned an Error status is not among them.

    Raises:
        AdmissionError: Some objects break rules.
        ConfigErrors: The configuration is invalid.
        ProfileError: A plugin cannot be built.
    """

    def __init__(
        self,
        objects: Iterable[ApiObject] = (),
        *,
        plugins: Mapping[str, type] | None = None,
        config: Mapping[str, object] | None = None,
        seed: int = 0,
        options: SchedulerOptions | None = None,
        stopwatch: Callable[[], float] = time.perf_counter,
        faults: Mapping[Fault, float] | None = None,
        max_answer_seconds: float = 5.0,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    ) -> None:
        self._kubernetes = kubernetes
        self.registry = registry = _installed_and(plugins or {})
        self.clock = VirtualClock()
        self.cluster = InMemoryCluster(self.clock, seed=seed, kubernetes=kubernetes)
        self.cluster.load(objects)
        self.faulty = FaultyCluster(
            self.cluster,
            clock=self.clock,
            rates=faults or {},
            seed=seed,
            max_answer_seconds=max_answer_seconds,
        )
        self.attempts: list[str] = []
        self.slow_hooks: list[SlowHook] = []
        self.errors: list[HookError] = []
        self._scheduler = Scheduler(
            self.faulty,
            self._parsed(config),
            registry,
            clock=self.clock,
            seed=seed,
            make_executor=self.faulty.make_executor,
            observer=_Log(self.attempts, self.slow_hooks, self.errors),
            options=options,
            stopwatch=stopwatch,
        )
        self._scheduler.start()

    def __enter__(self) -> Self:
        """Be a context that closes the plugins at its end."""
        return self

    def __exit__(self, *_raised: object) -> None:
        """See `close`."""
        self.close()

    def explain(self, key: str) -> Explanation:
        """Explain an attempt of a pod, as it would end now; the state does not change.

        Raises:
            NotFoundError: There is no such pod.
            PluginNotFoundError: The pod has no profile here.
        """
        pod = self.pod(key)
        name = pod.spec.scheduler_name
        framework = self._scheduler.frameworks.get(name)
        if framework is None:
            raise PluginNotFoundError("any", name, ())
        return explain(framework.plain, replace(pod, node_name=""), name)

    def assert_scheduled(self, key: str, *, on: str | None = None) -> None:
        """Assert that a pod has a node.

        Args:
            key: The pod; ``default/`` may be left out.
            on: The expected node; by default any node.

        Raises:
            ScheduleError: It has none, or another one; the message has every plugin's
                answer for every node.
        """
        node = self.node_of(key)
        if node and on in (None, node):
            return
        where = f"runs on '{node}'" if node else "has no node"
        expected = "one" if on is None else f"'{on}'"
        self._refute(key, f"{where}, expected {expected}")

    def assert_pending(self, key: str, *, reason: str = "") -> None:
        """Assert that a pod has no node.

        Args:
            key: The pod; ``default/`` may be left out.
            reason: A text that its message must contain.

        Raises:
            ScheduleError: It has a node, or another message; the message of the error
                has every plugin's answer for every node.
        """
        node = self.node_of(key)
        if node:
            self._refute(key, f"runs on '{node}', expected no node")
        if reason not in self.message(key):
            said = self.message(key)
            self._refute(key, f"waits with '{said}', expected '{reason}' in it")

    def assert_no_errors(self) -> None:
        """Assert that no hook failed.

        A test that expects errors removes them from `errors` first.

        Raises:
            UnexpectedHookErrors: Some hooks failed.
        """
        if self.errors:
            raise UnexpectedHookErrors(self.errors)

    def _refute(self, key: str, text: str) -> NoReturn:
        explained = diagnosis(self.explain(key))
        raise ScheduleError(f"pod '{_key(key)}' {text}\n{explained}")

    def close(self) -> None:
        """Stop the scheduler and its plugins, as at the end of a process."""
        self._scheduler.close()

    @property
    def config(self) -> SchedulerConfig:
        """The configuration in force."""
        return self._scheduler.config

    def reload(
        self, config: SchedulerConfig | Mapping[str, object]
    ) -> Future[ConfigChanges]:
        """Replace the configuration of the scheduler.

        It takes effect before the next attempt; until then the future is not done.

        Raises:
            ConfigErrors: The configuration is invalid.
        """
        if not isinstance(config, SchedulerConfig):
            config = self._parsed(config)
        return self._scheduler.reload(config)

    def plugin(
        self, kind: type[PluginT], *, scheduler_name: str = _DEFAULT_NAME
    ) -> PluginT:
        """Return the running instance of a plugin, to read its state.

        A reload makes new instances of all plugins.

        Args:
            kind: Its class; of several plugins of the class, the first is returned.
            scheduler_name: The profile that it belongs to.

        Raises:
            PluginNotFoundError: There is no such plugin, or no such profile.
        """
        at_work = plugin_at_work(self._scheduler.frameworks, kind, scheduler_name)
        assert isinstance(at_work, kind), "it was looked up by its class"
        return at_work

    def metric(
        self,
        plugin: str,
        name: str,
        /,
        *,
        scheduler_name: str = _DEFAULT_NAME,
        **labels: str,
    ) -> float:
        """Return the number of a metric that a plugin has made.

        Args:
            plugin: The plugin's name in the profile.
            name: The name as in `PluginHarness.metric`.
            scheduler_name: The profile that it belongs to.
            **labels: A value for each label, without ``profile``.

        Raises:
            LookupError: The plugin has no such metric, or it has never been written
                with these labels.
        """
        metrics = self._scheduler.plugin_metrics()
        return number_of(metrics, plugin, name, labels, scheduler_name)

    def schedule_one(self) -> str | None:
        """Run one pod through a scheduling and a binding cycle.

        Returns:
            The key of the pod that was tried, or None if none was ready.
        """
        before = len(self.attempts)
        while self._scheduler.turn():
            if len(self.attempts) > before:
                return self.attempts[-1]
        return None

    def settle(self) -> None:
        """Schedule until every pod was tried since the last change of the cluster.

        The clock moves as far as that takes. Pods that no event requeues are tried once
        more, so use `advance` to test events.
        """
        self._scheduler.settle()

    def advance(self, seconds: float) -> None:
        """Move the clock, and schedule the pods that become ready meanwhile.

        Args:
            seconds: How far. 15 is longer than a backoff and shorter than the five
                minutes after which the queue retries all pods.
        """
        end = self.clock.now() + seconds
        self._work()
        while (due := self.clock.next_due()) is not None and due <= end:
            self.clock.advance(max(0.0, due - self.clock.now()))
            self._work()
        self.clock.advance(max(0.0, end - self.clock.now()))
        self._work()

    def pod(self, key: str) -> Pod:
        """Return a pod as the cluster has it; ``default/`` may be left out.

        Raises:
            NotFoundError: There is no such pod.
        """
        return self.cluster.get(Pod, _key(key))

    def node_of(self, key: str) -> str:
        """Return the name of the node of a pod, or an empty text if it has none."""
        return self.pod(key).node_name

    def message(self, key: str) -> str:
        """Return why a pod is pending: the message of its condition PodScheduled.

        It is empty for a pod that has a node or was never tried.
        """
        for condition in self.pod(key).status.conditions:
            if condition.type == "PodScheduled":
                return condition.message
        return ""

    def why_pending(self, key: str) -> PendingPod | None:
        """Return where a pod waits, and for what; None if it is not in a queue."""
        return self._scheduler.queue.why_pending(_key(key))

    def waiting_pods(self) -> list[str]:
        """Return the keys of the pods that wait on Permit."""
        return [waiting.pod.key for waiting in self._scheduler.waiting]

    def _parsed(self, config: Mapping[str, object] | None) -> SchedulerConfig:
        kubernetes = self._kubernetes
        if config is None:
            return default_config(self.registry, kubernetes=kubernetes)
        return parse_config(
            dict(config),
            self.registry,
            source="SchedulerHarness",
            kubernetes=kubernetes,
        )

    def _work(self) -> None:
        while self._scheduler.turn():
            pass


def _installed_and(plugins: Mapping[str, type]) -> PluginRegistry:
    registry = installed_plugins()
    for name, plugin in plugins.items():
        registry = registry.with_plugin(plugin, name)
    return registry


class _Log:
    """Records the tried pods and the failures of hooks."""

    def __init__(
        self, keys: list[str], slow_hooks: list[SlowHook], errors: list[HookError]
    ) -> None:
        self._keys = keys
        self._slow_hooks = slow_hooks
        self._errors = errors

    def attempting(self, pod: Pod, _framework: Framework, /) -> None:
        self._keys.append(pod.key)

    def bound(self, _pod: Pod, _node_name: str, /) -> None:
        pass

    def recorded(self, _note: EventNote, /) -> None:
        pass

    def slow(self, hook: SlowHook, /) -> None:
        self._slow_hooks.append(hook)

    def failed(self, error: HookError, /) -> None:
        self._errors.append(error)


def _key(name: str) -> str:
    return name if "/" in name else f"default/{name}"
