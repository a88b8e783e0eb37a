"""Controllers that the input lacks, derived from the pods that they own.

A dump of nodes and pods has no ReplicaSets. In the cluster they exist, or their pods
would have been deleted: so a pod that is evicted is created again.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Job,
    LabelSelector,
    ObjectMeta,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    PodTemplateSpec,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.jobs import JobSpec
from quaymaster._api.objects.kinds import KINDS
from quaymaster._api.objects.volumes import Volume
from quaymaster._api.objects.workloads import (
    ReplicaSetSpec,
    ReplicationControllerSpec,
    StatefulSetOrdinals,
    StatefulSetSpec,
)
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError

__all__ = ["ControllerName", "assume_controllers", "controller_of", "is_missing"]

_OF_ONE_POD: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "controller-revision-hash",
        "statefulset.kubernetes.io/pod-name",
    }
)
"""Labels that controllers add to their pods, and that no template has."""

_NAMED: Final = 3


class ControllerName(NamedTuple):
    """The controller of some pods."""

    kind: str
    namespace: str
    name: str
    uid: str


class _Pods(NamedTuple):
    """What a controller is derived from.

    Attributes:
        metadata: Its metadata.
        labels: The labels that all its pods have.
        template: The template of its pods.
        pods: Its pods.
    """

    metadata: ObjectMeta
    labels: Mapping[str, str]
    template: PodTemplateSpec
    pods: Sequence[Pod]

    @property
    def selector(self) -> LabelSelector:
        return LabelSelector(match_labels=dict(self.labels))


def assume_controllers(cluster: InMemoryCluster) -> tuple[Notice, ...]:
    """Add the controllers that pods name as owners and that a cluster lacks.

    With them come the priority classes that their pods need. Left out are DaemonSets,
    whose pods do not show for which nodes they are, owners of custom kinds, and owners
    of pods without labels.

    Args:
        cluster: A cluster that has been filled, but not started.

    Returns:
        Notices about what was added, and about what was left out.
    """
    owned: defaultdict[ControllerName, list[Pod]] = defaultdict(list)
    for pod in cluster.list(Pod).items:
        owner = controller_of(pod)
        if owner is not None and is_missing(owner, cluster):
            owned[owner].append(pod)
    facts = {owner: _facts(owner, pods) for owner, pods in owned.items()}
    # Classes before controllers: admission rejects the pods that a template with an
    # unknown class would make.
    cluster.load(list(_classes(cluster, owned.values())))
    assumed = [
        owner for owner, each in facts.items() if _is_added(owner, each, cluster)
    ]
    return tuple(_notices(assumed, [owner for owner in facts if owner not in assumed]))


def _is_added(owner: ControllerName, facts: _Pods, cluster: InMemoryCluster) -> bool:
    """Add a controller; return False if its pods do not show what it is."""
    # Pods without a common label would need a selector that selects all pods.
    if owner.kind not in _MAKERS or not facts.labels:
        return False
    try:
        cluster.load([_MAKERS[owner.kind](facts)])
    # A controller that the cluster rejects is left out, and named in a notice; the
    # simulation goes on.
    except AdmissionError:
        return False
    return True


def controller_of(pod: Pod) -> ControllerName | None:
    """Return the controller of a pod that has not ended; None if it has none."""
    controller = pod.metadata.controller
    # The controller of a static pod is its node.
    if controller is None or controller.kind == "Node":
        return None
    if pod.is_finished or pod.is_terminating:
        return None
    return ControllerName(
        controller.kind, pod.namespace, controller.name, controller.uid
    )


def is_missing(owner: ControllerName, cluster: InMemoryCluster) -> bool:
    """Whether a cluster lacks a controller, so that nothing creates its pods."""
    kind = KINDS.get(owner.kind)
    if kind is None:
        return True
    try:
        cluster.get(kind, f"{owner.namespace}/{owner.name}")
    except NotFoundError:
        return True
    return False


def _notices(
    assumed: Collection[ControllerName], left_out: Collection[ControllerName]
) -> Iterator[Notice]:
    if assumed:
        yield Notice(
            reason=NoticeReason.ASSUMED_CONTROLLERS,
            message=f"the input lacks {_names(assumed)}: assumed, with the pods that "
            "the input has, so removed pods are created again",
        )
    if left_out:
        yield Notice(
            reason=NoticeReason.MISSING_PODS,
            message=f"the input lacks {_names(left_out)}: their pods are not created "
            "again, nor for new nodes",
        )


def _names(owners: Collection[ControllerName]) -> str:
    """Name some controllers, and count the others."""
    names = [f"{o.kind} {o.namespace}/{o.name}" for o in islice(owners, _NAMED)]
    more = len(owners) - len(names)
    return f"{', '.join(names)}{f' and {more} more' if more else ''}"


def _facts(owner: ControllerName, pods: Sequence[Pod]) -> _Pods:
    first = pods[0]
    # Labels that only some pods have cannot be those of the template.
    shared = set.intersection(*(set(pod.labels.items()) for pod in pods))
    labels = {key: value for key, value in shared if key not in _OF_ONE_POD}
    metadata = ObjectMeta(
        name=owner.name,
        namespace=owner.namespace,
        # With the uid that the pods name, so that they are its own.
        uid=owner.uid,
        labels=labels,
    )
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels, annotations=first.metadata.annotations),
        spec=_spec(first.spec),
    )
    return _Pods(metadata, labels, template, pods)


def _spec(spec: PodSpec) -> PodSpec:
    """Return the spec of a template: without what admission and binding have set."""
    # Admission computes the priority again, and rejects a template that has another.
    return replace(spec, node_name="", priority=None, preemption_policy=None)


def _replica_set(facts: _Pods) -> ReplicaSet:
    spec = ReplicaSetSpec(
        replicas=len(facts.pods), selector=facts.selector, template=facts.template
    )
    return ReplicaSet(metadata=facts.metadata, spec=spec)


def _replication_controller(facts: _Pods) -> ReplicationController:
    spec = ReplicationControllerSpec(
        replicas=len(facts.pods), selector=dict(facts.labels), template=facts.template
    )
    return ReplicationController(metadata=facts.metadata, spec=spec)


def _job(facts: _Pods) -> Job:
    count = len(facts.pods)
    spec = JobSpec(
        parallelism=count,
        completions=count,
        # A Job otherwise selects by its own uid in ``controller-uid``, which the pods
        # of the input may lack.
        manual_selector=True,
        selector=facts.selector,
        template=facts.template,
    )
    return Job(metadata=facts.metadata, spec=spec)


def _stateful_set(facts: _Pods) -> StatefulSet:
    first = facts.pods[0]
    own = [volume for volume in first.spec.volumes if _is_claim_of(volume, first)]
    others = tuple(volume for volume in first.spec.volumes if volume not in own)
    template = facts.template
    template = replace(template, spec=replace(template.spec, volumes=others))
    ordinals = sorted(map(_ordinal, facts.pods))
    spec = StatefulSetSpec(
        replicas=ordinals[-1] - ordinals[0] + 1,
        ordinals=StatefulSetOrdinals(start=ordinals[0]),
        selector=facts.selector,
        template=template,
        volume_claim_templates=tuple(
            # Claims without a spec: the pods' claims exist, and only their names
            # matter.
            PersistentVolumeClaim(metadata=ObjectMeta(name=volume.name))
            for volume in own
        ),
        # The pods do not show their policy. In order, one pending pod would hold back
        # all later ones.
        pod_management_policy="Parallel",
    )
    return StatefulSet(metadata=facts.metadata, spec=spec)


def _is_claim_of(volume: Volume, pod: Pod) -> bool:
    """Whether a volume is the claim that a StatefulSet has made for a pod."""
    claim = volume.persistent_volume_claim
    return claim is not None and claim.claim_name == f"{volume.name}-{pod.name}"


def _ordinal(pod: Pod) -> int:
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


_MAKERS: Final[Mapping[str, Callable[[_Pods], ApiObject]]] = {
    "Job": _job,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replication_controller,
    "StatefulSet": _stateful_set,
}


def _classes(
    cluster: InMemoryCluster, owned: Iterable[Sequence[Pod]]
) -> Iterator[PriorityClass]:
    """Yield the priority classes that pods name and that a cluster lacks."""
    existing = {obj.metadata.name for obj in cluster.list(PriorityClass).items}
    missing = {
        pods[0].spec.priority_class_name: pods[0].spec
        for pods in owned
        if pods[0].spec.priority_class_name not in {"", *existing}
    }
    for name, spec in missing.items():
        yield PriorityClass(
            metadata=ObjectMeta(name=name),
            value=spec.priority or 0,
            preemption_policy=spec.preemption_policy,
        )
