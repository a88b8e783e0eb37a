"""A bench: one plugin on a small cluster that the suite changes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.bench_cluster import BenchCluster
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stored_objects import (
    StoredObjects,
    next_version,
)
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.waiting_room import WaitingRoom
from quaymaster._authors.testing.fixed_objects import FixedObjects
from quaymaster._authors.testing.hook_arguments import HOOKS
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._base.errors import PluginError, QuaymasterError
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PreFilterResult
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.handle import EngineHandle, Services
from quaymaster._core.mutations.guard import MutationGuard
from quaymaster._core.runtime.guards import HookGuards, Watch
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["Bench", "HookFailedError", "is_caused_by"]


class HookFailedError(QuaymasterError):
    """A hook raised an exception, or returned an invalid answer.

    Attributes:
        hook: The hook.
        problem: The problem.
    """

    def __init__(self, hook: str, problem: str) -> None:
        super().__init__(f"{hook}: {problem}")
        self.hook = hook
        self.problem = problem


def is_caused_by(failure: HookFailedError, kind: type[Exception]) -> bool:
    """Return whether a hook failed because of an exception of some kind."""
    cause = failure.__cause__
    while cause is not None and not isinstance(cause, kind):
        cause = cause.__cause__
    return cause is not None


class Bench:
    """A plugin and its cluster.

    If there are two nodes, the table also has an unused row, as the table of a real
    cluster may have.

    Args:
        subject: The plugin.
        cluster: The cluster at the beginning.
        is_guarded: Whether to check after each hook what it has changed.
        services: The services of its handle; by default, only the cluster.
        room: The pods that wait on Permit; by default none.
        is_started: Whether to start the plugin; otherwise call `start`.
        watches: Observe the calls of its hooks.

    Attributes:
        subject: The plugin under test.
        cluster: The cluster of its handle, which has no faults to begin with.
        room: The pods that wait on Permit.
        services: The services of its handle.
        snapshot: The nodes and pods.
        handle: The handle of the plugin.
        plugin: The plugin.
    """

    def __init__(
        self,
        subject: Subject,
        cluster: SmallCluster,
        *,
        is_guarded: bool = False,
        services: Services | None = None,
        room: WaitingRoom | None = None,
        is_started: bool = True,
        watches: Sequence[Watch] = (),
    ) -> None:
        self.subject = subject
        if subject.has("start") or subject.has("close"):
            subject.benches.append(self)
        services = services or subject.make_services(subject.empty_cluster)
        self.room = room = room or WaitingRoom(services.clock, subject.name)
        self._objects = cast(FixedObjects, services.informers)
        if isinstance(services.cluster, BenchCluster):
            self.cluster = services.cluster
        else:
            stored = StoredObjects(self._objects, services.cluster)
            self.cluster = BenchCluster(stored, services.clock)
        self._stored = self.cluster.stored
        self.services = attrs.evolve(
            services,
            cluster=self.cluster,
            waiting_pods=lambda: room.pods,
            waiting_pod=room.pods.get,
        )
        self.snapshot: Snapshot = self.services.snapshot
        self._fill(cluster)
        self._failures: list[BaseException] = []
        if is_guarded:
            watches = (MutationGuard(self.snapshot), *watches)
        self._guards = HookGuards(failed=self._note, watches=watches)
        self.plugin, self.handle = self._made()
        self._begin_callbacks()
        if is_started:
            self.start()

    def start(self) -> None:
        """Start the plugin.

        Raises:
            HookFailedError: Its hook failed.
        """
        if self.subject.has("start"):
            self.ask("start")
        self.handle.seal()

    def _made(self) -> tuple[object, EngineHandle]:
        try:
            return self.subject.make(self.services, self._guards)
        except Exception as error:
            raise HookFailedError("__init__", describe_exception(error)) from error

    def _begin_callbacks(self) -> None:
        callbacks = self.handle.callbacks
        if callbacks.kinds and self not in self.subject.benches:
            self.subject.benches.append(self)
        callbacks.begin()
        self._raise_failed_callback()

    def _raise_failed_callback(self) -> None:
        """Raise the failure of a callback for changes of objects, if there is one."""
        if self._failures:
            error = self._failures.pop()
            self._failures.clear()
            raise HookFailedError("on_change", _problem_of(error)) from error

    def _fill(self, cluster: SmallCluster) -> None:
        for obj in cluster.objects:
            self._put(obj)
        for at, node in enumerate(cluster.nodes):
            self._put(node)
            if at == 0 and len(cluster.nodes) > 1:
                self.snapshot.add_node(make_node(name="gone"))
        if len(cluster.nodes) > 1:
            self.snapshot.remove_node("gone")
        for pod in (*cluster.pods, *cluster.pending):
            self._put(pod)

    # The cluster --------------------------------------------------------------------

    def add(self, obj: ApiObject) -> None:
        """Add an object, in place of any with the same key.

        Raises:
            HookFailedError: A callback for changes of objects failed.
        """
        self._put(self._next_version_of(obj))
        self._raise_failed_callback()

    def _next_version_of(self, obj: ApiObject) -> ApiObject:
        """Return an object with the resource version that its API server would set.

        Plugins may compare versions to see whether an object has changed since they
        read it. Pods keep theirs: the hooks get the very pods of the cluster.
        """
        stored = None if isinstance(obj, Pod) else self._objects.stored(type(obj))
        old = stored.get(obj.key) if stored else None
        if old is None:
            return obj
        metadata = replace(obj.metadata, resource_version=next_version(old))
        return replace(obj, metadata=metadata)

    def deliver(self) -> Sequence[ApiObject]:
        """Deliver what the plugin has written to its cluster, as a watch does.

        Returns:
            The objects that it has written, except those that it has deleted.

        Raises:
            HookFailedError: A callback for changes of objects failed.
        """
        written = self._stored.take()
        for (kind, key), obj in written.items():
            old = self._objects.stored(kind).get(key)
            if obj is not None:
                self._put(obj)
            elif old is not None:
                self.remove(old)
        self._raise_failed_callback()
        return [obj for obj in written.values() if obj is not None]

    def stored(self, obj: ApiObject) -> ApiObject | None:
        """Return the version of an object that a watch has delivered last, or None."""
        return self._objects.stored(type(obj)).get(obj.key)

    def all_stored(self) -> Sequence[ApiObject]:
        """Return the objects of all kinds that watches have delivered."""
        return self._objects.all_stored()

    def _put(self, obj: ApiObject) -> None:
        if isinstance(obj, Node):
            self.snapshot.add_node(obj)
        elif isinstance(obj, Pod):
            old = self._objects.get(Pod, obj.key)
            if old is not None and _is_counted(old):
                self.snapshot.remove_pod(old)
            if _is_counted(obj):
                self.snapshot.add_pod(obj)
        self._objects.put(obj)

    @contextmanager
    def assuming(self, pod: Pod, node_name: str) -> Iterator[Pod]:
        """Assume a pod on a node for the block, as from Reserve on."""
        assumed = replace(pod, node_name=node_name)
        self.snapshot.add_pod(assumed)
        try:
            yield assumed
        finally:
            self.snapshot.remove_pod(assumed)

    def annotate(self, assumed: Pod, state: CycleState) -> Pod:
        """Write what Reserve has chosen to an assumed pod, as the engine does.

        Returns:
            The assumed pod, which is on its node.
        """
        if not state.annotations:
            return assumed
        annotations = {**assumed.annotations, **state.annotations}
        metadata = replace(assumed.metadata, annotations=annotations)
        annotated = replace(assumed, metadata=metadata)
        self.snapshot.remove_pod(assumed)
        self.snapshot.add_pod(annotated)
        return annotated

    def remove(self, obj: ApiObject) -> None:
        """Remove an object; see `add`."""
        if isinstance(obj, Node):
            self.snapshot.remove_node(obj.name)
        elif isinstance(obj, Pod) and _is_counted(obj):
            self.snapshot.remove_pod(obj)
        self._objects.remove(obj)
        self._raise_failed_callback()

    def become(self, before: SmallCluster, after: SmallCluster) -> None:
        """Change one cluster into another, by the events of a watch."""
        kept = {(type(obj), obj.key) for obj in _all(after)}
        for obj in reversed(_all(before)):
            if (type(obj), obj.key) not in kept or isinstance(obj, Pod):
                self.remove(obj)
        for obj in _all(after):
            self.add(obj)

    # The plugin ---------------------------------------------------------------------

    def ask(self, hook: str, *args: object) -> object:
        """Return the answer of a hook.

        Raises:
            HookFailedError: The hook raised an exception, or broke its contract.
        """
        arguments = self.subject.parameters(hook)
        own = getattr(self.plugin, hook)
        compiled = self._guards.compile(
            self.subject.name, hook, HOOKS[hook], arguments, own
        )
        answer: object = compiled(*args)
        error = self._failures.pop() if self._failures else None
        if isinstance(answer, Status) and isinstance(answer.error, PluginError):
            error = answer.error
        if error is not None:
            raise HookFailedError(hook, _problem_of(error)) from error
        return answer

    def _note(self, _plugin: str, _hook: str, _pod: str, error: BaseException) -> None:
        self._failures.append(error)

    def close(self) -> None:
        """Retire the plugin, as a reload does."""
        self.handle.retire()
        if self.subject.has("close"):
            self.ask("close")

    def advance(self, seconds: float) -> None:
        """Let time pass, with the timers of the plugin."""
        clock = self.services.clock
        assert isinstance(clock, VirtualClock)
        clock.advance(seconds)
        self.room.settle()

    def renewed(self) -> "Bench":
        """Return a bench on the same cluster, with a new instance of the plugin.

        It is that of a new process: what plugins share by `Handle.shared` is new, too.
        """
        services, room = attrs.evolve(self.services, shared={}), self.room
        return Bench(self.subject, SmallCluster(), services=services, room=room)

    def sibling(self) -> "Bench":
        """Return a bench on the same cluster with the plugin of another profile."""
        services, room = self.services, self.room
        return Bench(self.subject, SmallCluster(), services=services, room=room)

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> PreFilterResult | Status | None:
        """Return the answer of PreFilter; None without this hook."""
        if not self.subject.has("pre_filter"):
            return None
        answer = self.ask("pre_filter", state, pod, self.snapshot.nodes)
        assert answer is None or isinstance(answer, PreFilterResult | Status)
        return answer

    def filter_on(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Run PreFilter and Filter on one node, as an attempt does before Reserve."""
        prepared = self.pre_filter(state, pod)
        # After a Skip, a plugin need not have written what its filter reads.
        is_skip = isinstance(prepared, Status) and prepared.is_skip
        if self.subject.has("filter") and not is_skip:
            self.ask("filter", state, pod, self.snapshot.get(node_name))

    def rows_of(self, names: Sequence[str]) -> Rows:
        """Return the rows of some nodes."""
        return self.snapshot.nodes.rows_of(names)


def _is_counted(pod: Pod) -> bool:
    """Whether the snapshot has a pod, which leaves it when it has finished."""
    return bool(pod.node_name) and not pod.is_finished


def _all(cluster: SmallCluster) -> list[ApiObject]:
    return [*cluster.objects, *cluster.nodes, *cluster.pods, *cluster.pending]


def _problem_of(error: BaseException) -> str:
    """Describe what a hook did wrong, without the name of the hook."""
    if isinstance(error, PluginError):
        return str(error).removeprefix(f"plugin '{error.plugin}': {error.hook} ")
    return f"raised {describe_exception(error)}"
