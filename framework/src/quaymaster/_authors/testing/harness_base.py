"""The base of `PluginHarness`: a plugin, a cluster, and the calls of hooks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeVar, cast

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, CompositePodGroup, Node, Pod, PodGroup
from quaymaster._authors.testing.declared_writes import DeclaredWrites
from quaymaster._authors.testing.fixed_objects import FixedNominations, FixedObjects
from quaymaster._authors.testing.hook_arguments import HOOKS
from quaymaster._authors.testing.metric_numbers import number_of
from quaymaster._authors.testing.single_plugin import build_alone, kinds_of
from quaymaster._base.errors import PluginError, QuaymasterError
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.contract.cycle_state import CycleState, StateNotFoundError
from quaymaster._core.contract.extension_points import EXTENSION_POINTS
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.handle import Services
from quaymaster._core.mutations.returned import ReturnedArrays
from quaymaster._core.registry.access import declares_access
from quaymaster._core.runtime.guards import HookGuards, unguarded
from quaymaster._core.runtime.profile import Call, HookFunction
from quaymaster._core.state.arrays import Int64Array
from quaymaster._core.state.group_states import GroupStates
from quaymaster._core.state.new_group_states import new_group_states
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.snapshot import Snapshot

if TYPE_CHECKING:
    # With a default, ``PluginHarness`` alone is a type, too. Python has them from 3.13
    # on, and checkers know those of typing_extensions.
    from typing_extensions import TypeVar as VarWithDefault

    PluginT = VarWithDefault("PluginT", default=Any)
else:
    PluginT = TypeVar("PluginT")

__all__ = ["HarnessBase", "PluginStatusError", "PluginT", "value_of"]

T = TypeVar("T")
ObjT = TypeVar("ObjT", bound=ApiObject)

_GUARDS: Final = HookGuards()
_GATES: Final = ("GenericWorkload", "TopologyAwareWorkloadScheduling")
"""The gates of hooks of groups; the second requires the first."""


class PluginStatusError(QuaymasterError):
    """A hook returned a status where the harness needs a value.

    Attributes:
        status: The status.
    """

    def __init__(self, status: Status) -> None:
        super().__init__(f"{status.code.label}: {status.message}")
        self.status = status


def value_of(answer: T | Status) -> T:
    """Return the value that a hook returned.

    Raises:
        PluginStatusError: It returned a status instead.
    """
    if isinstance(answer, Status):
        raise PluginStatusError(answer)
    return answer


class HarnessBase(Generic[PluginT]):
    """One plugin on a cluster that only the test changes; see `PluginHarness`."""

    _after: ClassVar[Sequence[type]] = ()
    """More plugins of the profile, which come after this one."""

    def __init__(
        self,
        plugin: type[PluginT],
        *,
        args: Mapping[str, object] | None = None,
        nodes: Iterable[Node] = (),
        pods: Iterable[Pod] = (),
        objects: Iterable[ApiObject] = (),
        nominated: Mapping[str, Sequence[Pod]] | None = None,
        beside: Iterable[type] = (),
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    ) -> None:
        self._name = plugin.__name__
        self._kubernetes = kubernetes
        nodes = [*map(self._stored, nodes)]
        pods = [*map(self._stored, pods)]
        objects = [*map(self._stored, objects)]
        beside = list(beside)
        # A plugin that declares its access gets no more by plugins that do not.
        allowed = [plugin, *beside]
        if declares_access(plugin):
            allowed = [cls for cls in allowed if declares_access(cls)]
        allowed.reverse()
        self.clock = clock = VirtualClock()
        self.snapshot = Snapshot(kubernetes)
        for node in nodes:
            self.snapshot.add_node(node)
        for pod in pods:
            self.snapshot.add_pod(pod)
        self.cluster = InMemoryCluster(clock, kubernetes=kubernetes)
        self._fill_cluster([*nodes, *pods, *objects])
        self.state = CycleState()
        self._informers = FixedObjects([*nodes, *pods, *objects], kinds_of(*allowed))
        port = DeclaredWrites(self.cluster, allowed)
        self.refused = port.refused
        services = self._adapted(
            Services(
                clock=clock,
                cluster=port,
                informers=self._informers,
                snapshot=self.snapshot,
                nominator=FixedNominations(nominated or {}),
                pod_groups=_group_states([*pods, *objects], kubernetes),
            )
        )
        self._plugin_metrics = services.plugin_metrics
        self._twin_scores: Int64Array | None = None
        # Imagined pods end with the attempt.
        self._imagined: dict[CycleState, dict[str, NodeInfo]] = {}
        self._returned = ReturnedArrays()
        self._failures: list[BaseException] = []
        self._framework = build_alone(
            plugin,
            beside,
            args,
            services,
            self._returned,
            kubernetes,
            lambda _plugin, _hook, _pod, error: self._failures.append(error),
            after=self._after,
        )
        if self._name not in self._framework.profile.plugins:
            raise LookupError(
                f"{self._name} has no hook that is called{self._gate_hint()}"
            )
        self.plugin = cast("PluginT", self._framework.profile.plugins[self._name])
        self.handle = self._framework.handle.for_plugin(self._name)
        self._framework.handle.callbacks.begin()
        self._raise_failed_callback()

    def _adapted(self, services: Services) -> Services:
        """Return the services that the plugin gets; subclasses may change them."""
        return services

    def _stored(self, obj: ObjT) -> ObjT:
        """Return an object with the namespace in which a cluster would store it."""
        if obj.namespaced is bool(obj.namespace):
            return obj
        namespace = "default" if obj.namespaced else ""
        return replace(obj, metadata=replace(obj.metadata, namespace=namespace))

    def _fill_cluster(self, objects: Sequence[ApiObject]) -> None:
        self.cluster.load(objects)

    def __enter__(self) -> Self:
        """Be a context that closes the plugin at its end."""
        return self

    def __exit__(self, *_raised: object) -> None:
        """See `close`."""
        self.close()

    def start(self) -> None:
        """Call the plugin's ``start``; the harness does not call it automatically."""
        self._framework.profile.lifecycle.start(_unguarded_call)
        self._framework.handle.seal()

    def close(self) -> None:
        """Cancel the plugin's timers and call its ``close``; may be repeated."""
        self._framework.handle.retire()
        self._framework.profile.lifecycle.close(_unguarded_call)

    def put(self, obj: ApiObject) -> None:
        """Add an object, or a new version of it, as a watch would deliver it.

        The callbacks of `Informers.on_change` are called. If one raises an exception,
        this raises it.
        """
        obj = self._stored(obj)
        if isinstance(obj, Node):
            self.snapshot.add_node(obj)
        elif isinstance(obj, Pod):
            self._take_off(obj)
            if obj.node_name:
                self.snapshot.add_pod(obj)
        self._store(obj)
        self._informers.put(obj)
        self._raise_failed_callback()

    def remove(self, obj: ApiObject) -> None:
        """Remove an object, as a watch would deliver it; see `put`."""
        obj = self._stored(obj)
        if isinstance(obj, Node):
            self.snapshot.remove_node(obj.name)
        elif isinstance(obj, Pod):
            self._take_off(obj)
        self.cluster.delete(type(obj), obj.key, grace_period_seconds=0)
        self._informers.remove(obj)
        self._raise_failed_callback()

    def metric(self, name: str, **labels: str) -> float:
        """Return the number of a metric that the plugin has made.

        Args:
            name: The name that the plugin gave it, without the prefix. Of a histogram
                ``x``, ``x_count`` is how many numbers it has counted, and ``x_sum``
                their sum.
            **labels: A value for each label, without ``profile``.

        Raises:
            LookupError: The plugin has no such metric, or it has never been written
                with these labels.
        """
        return number_of(self._plugin_metrics.metrics(), self._name, name, labels)

    @property
    def changed_nodes(self) -> frozenset[str]:
        """The nodes for which the plugin has called ``handle.changed(nodes=...)``.

        The names are those since the harness was made. A call without ``nodes`` is not
        among them; see `has_changed`.
        """
        return frozenset(filter(None, self._reported))

    @property
    def has_changed(self) -> bool:
        """Whether the plugin has called ``handle.changed()`` without ``nodes``."""
        return "" in self._reported

    @property
    def _reported(self) -> frozenset[str]:
        changes = self._framework.handle.reported_changes
        return frozenset(name for plugin, name in changes if plugin == self._name)

    def _store(self, obj: ApiObject) -> None:
        """Write an object to the cluster, in place of any of its key."""
        try:
            self.cluster.get(type(obj), obj.key)
        except NotFoundError:
            self._fill_cluster([obj])
            return
        if isinstance(obj, Pod):
            # An update cannot change its node: only a binding can.
            self.cluster.delete(Pod, obj.key, grace_period_seconds=0)
            self._fill_cluster([obj])
        else:
            self.cluster.update(obj)

    def _take_off(self, pod: Pod) -> None:
        """Remove an earlier version of a pod from the node where it is."""
        earlier = self._informers.get(Pod, pod.key)
        if earlier is not None and earlier.node_name:
            self.snapshot.remove_pod(earlier)

    def _raise_failed_callback(self) -> None:
        if self._failures:
            error = self._failures[0]
            self._failures.clear()
            raise error

    def add_pod(self, pod: Pod, pod_to_add: Pod, node_name: str) -> Status | None:
        """Imagine one more pod on a node, in the attempt of the last `pre_filter`.

        `filter` runs ``pre_filter``, too. From then on, the node and `state` include
        the imagined pod; see `filter_imagined`.
        """
        self._imagined_node(node_name).add_pod(pod_to_add)
        return self._imagine("add_pod", pod, pod_to_add, node_name)

    def remove_pod(self, pod: Pod, pod_to_remove: Pod, node_name: str) -> Status | None:
        """Imagine that a pod has left its node; like `add_pod`."""
        self._imagined_node(node_name).remove_pod(pod_to_remove)
        return self._imagine("remove_pod", pod, pod_to_remove, node_name)

    def filter_imagined(self, pod: Pod, node_name: str) -> Status | None:
        """Return the answer of ``filter`` for a node with its imagined pods."""
        node = self._imagined_node(node_name)
        answer: Status | None = self._ask(
            self._call("filter"), "filter", self.state, pod, node
        )
        return answer

    def _imagined_node(self, node_name: str) -> NodeInfo:
        imagined = self._imagined.get(self.state)
        if imagined is None:
            imagined = self._imagined[self.state] = {}
        if node_name not in imagined:
            node = self.snapshot.get(node_name)
            if node is None:
                raise LookupError(f"no node '{node_name}'")
            imagined[node_name] = node.clone()
        return imagined[node_name]

    def _imagine(
        self, hook: str, pod: Pod, other: Pod, node_name: str
    ) -> Status | None:
        call, node = self._call("preFilter"), self._imagined_node(node_name)
        if hook not in call.hooks:
            return None
        answer: Status | None = self._ask(call, hook, self.state, pod, other, node)
        return answer

    def _ask(self, call: Call, hook: str, *args: object) -> Any:  # noqa: ANN401 - as it says
        """Return a hook's answer, or raise what it raises, unlike in a profile."""
        own = unguarded(call.hooks[hook])
        try:
            answer = self._returned.around(call.plugin, hook, (), own)(*args)
        except StateNotFoundError as error:
            if not error.missing:
                raise
            return Status.from_error(error)
        offered = HOOKS[hook]
        check = _GUARDS.compile(
            call.plugin, hook, offered, offered, lambda *_args: answer
        )
        checked = check(*args)
        for status in (answer, checked):
            if isinstance(status, Status) and isinstance(status.error, PluginError):
                raise status.error
        # Otherwise the plugin's own: the checked one may have parts that never raise.
        return checked if isinstance(checked, int) else answer

    def _call(self, key: str) -> Call:
        for call in self._framework.profile.plan(key):
            if call.plugin == self._name:
                return call
        gates = {point.gate for point in EXTENSION_POINTS if point.key == key}
        hint = "" if gates == {""} else self._gate_hint()
        raise LookupError(f"{self._name} has no hook at {key}{hint}")

    def _gate_hint(self) -> str:
        """Return how to switch on the gates of groups, unless they are on."""
        if all(self._kubernetes.enabled(gate) for gate in _GATES):
            return ""
        gates = ", ".join(f'"{gate}": True' for gate in _GATES)
        return (
            " without the feature gates of groups; create the harness with "
            f'kubernetes=Kubernetes("1.37", {{{gates}}})'
        )

    def _has(self, key: str) -> bool:
        return any(
            call.plugin == self._name for call in self._framework.profile.plan(key)
        )


def _group_states(
    objects: Iterable[ApiObject], kubernetes: Kubernetes
) -> GroupStates | None:
    """Return the pods of each group; None without the feature gate."""
    if not kubernetes.enabled("GenericWorkload"):
        return None
    states = new_group_states(kubernetes)
    for obj in objects:
        if isinstance(obj, PodGroup | CompositePodGroup):
            if kubernetes.reads(obj.kind):
                states.set_group(obj)
        elif isinstance(obj, Pod):
            states.put(obj)
    return states


def _unguarded_call(hook: HookFunction) -> object:
    return unguarded(hook)()
