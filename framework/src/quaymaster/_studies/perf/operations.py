"""Plays the operations of a workload.

Mirrors ``WorkloadExecutor`` (Kubernetes v1.36, ``test/integration/scheduler_perf/
executor.go``). Upstream's client runs beside the scheduler. Here one thread does the
work of both, so that all of it is measured.
"""

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import count as count_up
from random import Random
from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Namespace,
    Node,
    ObjectMeta,
    Pod,
    ResourceClaim,
)
from quaymaster._clusters.inmemory.names import NameMaker
from quaymaster._core.contract.cluster import AlreadyExistsError, ApiError
from quaymaster._studies.perf import model
from quaymaster._studies.perf.devices import allocate_claims, make_slice
from quaymaster._studies.perf.errors import WorkloadError
from quaymaster._studies.perf.load import Workload
from quaymaster._studies.perf.measurement import Measurement
from quaymaster._studies.perf.objects import (
    make_csi_node,
    make_nodes,
    make_pod_groups,
    make_pods,
)
from quaymaster._studies.perf.templates import (
    ObjectTemplate,
    TemplateFiles,
    in_namespace,
)
from quaymaster._studies.perf.world import World

__all__ = ["Player"]

ObjT = TypeVar("ObjT", bound=ApiObject)
_Call = Callable[[], None]

# ``runChurnOp`` (scheduler_perf/executor.go).
_CHURN_MILLISECONDS: Final = 500


class Player:
    """Plays the operations of one workload.

    Args:
        workload: The workload.
        world: The cluster and its scheduler.
        seed: Decides the names of nodes.

    Attributes:
        measurements: The measurements so far; the last one is incomplete if the
            workload could not be completed.
    """

    def __init__(self, workload: Workload, world: World, seed: int) -> None:
        self._workload = workload
        self._world = world
        self._cluster = world.cluster
        self._files = TemplateFiles()
        self._names = NameMaker(seed)
        self._random = Random(seed)
        # Namespace -> how many of its pods a barrier must wait for.
        self._awaited: dict[str, int] = {}
        self.measurements: list[Measurement] = []

    def play(self) -> None:
        """Play all operations.

        Raises:
            WorkloadError: It cannot be completed.
            PerfErrors: A template is invalid.
        """
        for number, operation in enumerate(self._workload.operations):
            try:
                self._play(operation, number)
            except (ApiError, WorkloadError) as error:
                if self._world.meter.is_measuring:
                    self._stop()
                opcode = operation.opcode
                text = f"operation {number} ({opcode}): {error}"
                raise WorkloadError(text) from error

    def _play(self, operation: model.Operation, number: int) -> None:
        match operation:
            case model.CreateNodes():
                self._create_nodes(operation, number)
            case model.CreateNamespaces():
                self._create_namespaces(operation)
            case model.CreatePods():
                self._create_pods(operation, number)
            case model.CreatePodGroups():
                self._create_pod_groups(operation)
            case model.CreateAny():
                self._create_any(operation)
            case model.UpdateAny():
                self._update_any(operation)
            case model.DeletePods():
                self._delete_pods(operation)
            case (
                model.CreateResourceDriver()
                | model.CreateResourceClaims()
                | model.AllocResourceClaims()
            ):
                self._handle_devices(operation)
            case model.Churn():
                self._churn(operation, number)
            case _:
                self._wait_or_measure(operation)

    def _handle_devices(self, operation: model.Operation) -> None:
        match operation:
            case model.CreateResourceDriver():
                driver, count = operation.driver_name, operation.max_claims_per_node
                for node in self._cluster.list(Node).items:
                    if fnmatchcase(node.name, operation.nodes):
                        self._cluster.create(make_slice(driver, node.name, count))
            case model.CreateResourceClaims():
                path = self._workload.path(operation.template_path)
                template = self._files.get(path, ResourceClaim)
                self._ensure_namespace(operation.namespace)
                for claim in _all(template, operation.count):
                    self._cluster.create(self._placed(claim, operation.namespace))
            case model.AllocResourceClaims():
                allocate_claims(self._cluster, operation.namespace, self._random)

    def _wait_or_measure(self, operation: model.Operation) -> None:
        match operation:
            case model.Barrier():
                self._barrier(operation)
            case model.Sleep():
                self._world.sleep(operation.duration.total_seconds())
            case model.StartCollecting():
                name = operation.name or ",".join(operation.namespaces)
                self._start(name, operation.namespaces, operation.label_selector)
            case model.StopCollecting():
                self._stop()

    def _create_nodes(self, operation: model.CreateNodes, number: int) -> None:
        limits = operation.node_allocatable_strategy
        for node in make_nodes(operation, number, self._workload, self._files):
            created = self._create_node(node)
            if limits is not None:
                self._cluster.create(make_csi_node(created, limits))

    def _create_node(self, node: Node) -> Node:
        """Create a node with a name that is generated here, as kubelets do."""
        metadata = node.metadata
        if metadata.name:
            return self._cluster.create(node)
        while True:
            name = self._names.name(metadata.generate_name)
            named = replace(node, metadata=replace(metadata, name=name))
            with contextlib.suppress(AlreadyExistsError):
                return self._cluster.create(named)

    def _create_namespaces(self, operation: model.CreateNamespaces) -> None:
        path = operation.namespace_template_path
        base: ApiObject = Namespace()
        if path is not None:
            base = self._files.get(self._workload.path(path), Namespace).make(0, 1)
        for index in range(operation.count):
            name = f"{operation.prefix}-{index}"
            metadata = replace(base.metadata, name=name)
            self._ensure_namespace(name, replace(base, metadata=metadata))

    def _ensure_namespace(self, name: str, namespace: ApiObject | None = None) -> None:
        self._awaited.setdefault(name, 0)
        if not any(
            namespace.name == name for namespace in self._cluster.list(Namespace).items
        ):
            obj = namespace or Namespace(metadata=ObjectMeta(name=name))
            self._cluster.create(obj)

    def _create_pods(self, operation: model.CreatePods, number: int) -> None:
        namespace = operation.namespace or f"namespace-{number}"
        self._ensure_namespace(namespace)
        if operation.collect_metrics:
            self._start(namespace, (namespace,), {})
        if operation.steady_state:
            self._keep_creating(operation, namespace)
        else:
            self._create_batch(operation, namespace)
            self._await_batch(operation, namespace)
        if operation.collect_metrics:
            self._stop()

    def _create_batch(self, operation: model.CreatePods, namespace: str) -> None:
        objects = make_pods(operation, namespace, self._workload, self._files)
        self._world.feed(partial(self._create_all, group) for group in objects)

    def _await_batch(self, operation: model.CreatePods, namespace: str) -> None:
        if operation.skip_wait_to_completion:
            self._awaited[namespace] += operation.count
        else:
            self._world.wait_for_pods(namespace, {}, operation.count)

    def _keep_creating(self, operation: model.CreatePods, namespace: str) -> None:
        """Replace the pods whenever all have a node, until the time is over."""
        deadline = self._world.clock.now() + operation.duration.total_seconds()
        bound_before = self._world.meter.bound_pods
        while operation.count and self._world.clock.now() < deadline:
            self._create_batch(operation, namespace)
            if not self._world.bind_until(namespace, operation.count, deadline):
                break
            for pod in self._world.pods_in(namespace, {}):
                self._cluster.delete(Pod, pod.key, grace_period_seconds=0)
        if self._world.meter.bound_pods == bound_before:
            raise WorkloadError(f"namespace {namespace}: no pod got a node in time")

    def _create_pod_groups(self, operation: model.CreatePodGroups) -> None:
        self._ensure_namespace(operation.namespace)
        now = self._world.clock.now()
        for group in make_pod_groups(operation, now, self._workload, self._files):
            self._cluster.create(group)
        self._world.work_off()

    def _create_all(self, group: Sequence[ApiObject]) -> None:
        for obj in group:
            if isinstance(obj, Pod):
                self._world.meter.creating(obj)
            self._cluster.create(obj)

    def _create_any(self, operation: model.CreateAny) -> None:
        path = self._workload.path(operation.template_path)
        template = self._files.get(path, parameters=operation.template_params)
        if operation.namespace:
            self._ensure_namespace(operation.namespace)
        if template.has_no_effect:
            return
        for index in range(operation.count):
            obj = template.make(index, operation.count)
            self._create_all((self._placed(obj, operation.namespace),))

    def _update_any(self, operation: model.UpdateAny) -> None:
        template = self._files.get(self._workload.path(operation.template_path))
        change = self._resize if operation.subresources else self._update
        calls = (
            partial(change, self._placed(obj, operation.namespace))
            for obj in _all(template, operation.count)
        )
        if not operation.update_per_second:
            for call in calls:
                call()
            return
        # The rate is a part of the workload: faster calls would find the scheduler with
        # another queue.
        is_over = self._world.every(1 / operation.update_per_second, calls)
        if not self._world.wait_until(is_over):
            raise WorkloadError("the updates take too long")

    def _update(self, new: ApiObject) -> None:
        """Replace an object, and its status if the template has one."""
        old = self._cluster.get(type(new), new.key)
        if isinstance(new, Pod) and isinstance(old, Pod):
            # Templates have no status of pods, and the scheduler does not read it.
            new = replace(new, status=old.status)
        self._cluster.update(new)

    def _resize(self, new: ApiObject) -> None:
        """Change only the requests of a pod's containers."""
        old = self._cluster.get(type(new), new.key)
        if not isinstance(new, Pod) or not isinstance(old, Pod):
            raise WorkloadError(f"{new.kind} {new.key}: expected a pod to resize")
        resources = {
            container.name: container.resources for container in new.spec.containers
        }
        containers = tuple(
            replace(
                container, resources=resources.get(container.name, container.resources)
            )
            for container in old.spec.containers
        )
        self._cluster.update(
            replace(old, spec=replace(old.spec, containers=containers))
        )

    def _delete_pods(self, operation: model.DeletePods) -> None:
        pods = self._world.pods_in(operation.namespace, operation.label_selector)
        calls = (partial(self._cluster.delete, Pod, pod.key) for pod in pods)
        if not operation.delete_pods_per_second:
            for call in calls:
                call()
            return
        is_over = self._world.every(1 / operation.delete_pods_per_second, calls)
        if not operation.skip_wait_to_completion and not self._world.wait_until(
            is_over
        ):
            raise WorkloadError("the deletions take too long")

    def _churn(self, operation: model.Churn, number: int) -> None:
        namespace = operation.namespace or f"namespace-{number}"
        self._ensure_namespace(namespace)
        templates = [
            self._files.get(self._workload.path(path))
            for path in operation.template_paths
        ]
        objects = [
            self._placed(template.make(0, 1), namespace) for template in templates
        ]
        seconds = (operation.interval_milliseconds or _CHURN_MILLISECONDS) / 1000
        if operation.mode == "create":
            self._world.every(seconds, self._creations(objects, operation.number))
        else:
            self._world.every(seconds, self._recreations(objects, operation.number))

    def _creations(self, objects: Sequence[ApiObject], number: int) -> Iterator[_Call]:
        for _ in range(number) if number else count_up():
            yield lambda: self._create_all(objects)

    def _recreations(
        self, objects: Sequence[ApiObject], number: int
    ) -> Iterator[_Call]:
        slots = [
            _Slot(self._cluster.create, self._cluster.delete) for _ in range(number)
        ]
        for turn in count_up():
            yield partial(slots[turn % number].swap, objects)

    def _barrier(self, operation: model.Barrier) -> None:
        names = operation.namespaces or tuple(self._awaited)
        attempted = operation.stage_requirement == "Attempted"
        for name in names:
            if name not in self._awaited:
                raise WorkloadError(f"no operation has made the namespace {name!r}")
            self._world.wait_for_pods(
                name,
                operation.label_selector,
                self._awaited[name],
                attempted=attempted,
            )
        if not attempted:
            for name in names:
                del self._awaited[name]

    def _start(
        self, name: str, namespaces: Sequence[str], labels: Mapping[str, str]
    ) -> None:
        if self._world.meter.is_measuring:
            raise WorkloadError("something else is being measured")
        # Earlier garbage must not count: Go's benchmarks begin with a collection, too.
        self._world.work_off()
        gc.collect()
        self._world.meter.start(name, namespaces, labels)

    def _stop(self) -> None:
        if not self._world.meter.is_measuring:
            raise WorkloadError("nothing is being measured")
        nodes = len(self._cluster.list(Node).items)
        self.measurements.append(self._world.meter.stop(nodes))

    def _placed(self, obj: ObjT, namespace: str) -> ObjT:
        return in_namespace(obj, namespace) if obj.namespaced else obj


class _Slot:
    """Objects that are created and deleted in turn."""

    def __init__(
        self,
        create: Callable[[ApiObject], ApiObject],
        delete: Callable[[type[ApiObject], str], None],
    ) -> None:
        self._create = create
        self._delete = delete
        self._filled: list[ApiObject] = []

    def swap(self, objects: Sequence[ApiObject]) -> None:
        """Create the objects, or delete them if they were created last time."""
        filled, self._filled = self._filled, []
        if filled:
            for obj in filled:
                self._delete(type(obj), obj.key)
        else:
            self._filled = [self._create(obj) for obj in objects]


def _all(template: ObjectTemplate, count: int) -> Iterator[ApiObject]:
    for index in range(count):
        yield template.make(index, count)
