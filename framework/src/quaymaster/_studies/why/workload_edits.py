"""Changes of whole workloads: their rollouts and their priority."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    Deployment,
    Pod,
    PodSpec,
    PriorityClass,
)
from quaymaster._api.objects.rollouts import DeploymentStrategy, RollingUpdateDeployment
from quaymaster._clusters.inmemory.admission.classes import SYSTEM_PRIORITY_CLASSES
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    Effect,
    FieldChange,
    SuggestedChange,
    single,
    yaml_scalar,
)
from quaymaster._studies.why.editing import Editing

__all__ = ["changed_rollouts", "higher_priorities"]

_NEVER: Final = "Never"
_NODE_CRITICAL: Final = next(
    each for each in SYSTEM_PRIORITY_CLASSES if each.name == "system-node-critical"
)
_ONE_BY_ONE: Final = DeploymentStrategy(
    type="RollingUpdate",
    rolling_update=RollingUpdateDeployment(max_surge=0, max_unavailable=1),
)


def changed_rollouts(
    editing: Editing, deployments: Iterable[Deployment]
) -> Iterator[Candidate]:
    """Offer to let a Deployment delete an old pod before it creates a new one.

    A pod that shares a host port, an anti-affinity term or a ReadWriteOnce volume with
    the pods of the older revision cannot run beside them.

    Args:
        editing: Makes the changes of the subject.
        deployments: The Deployments of the cluster.
    """
    subject = editing.subject
    for deployment in deployments:
        is_subject = (subject.kind, subject.namespace, subject.name) == (
            "Deployment",
            deployment.namespace,
            deployment.name,
        )
        if is_subject and _surges(deployment.spec.strategy):
            yield single(_rolled_one_by_one(deployment))


def _surges(strategy: DeploymentStrategy) -> bool:
    if strategy.type == "Recreate":
        return False
    limits = strategy.rolling_update
    return limits is None or limits.max_surge not in (0, "0%")


def _rolled_one_by_one(deployment: Deployment) -> SuggestedChange:
    name = f"deployment/{deployment.name}"
    field = FieldChange(
        object=name,
        namespace=deployment.namespace,
        path="spec.strategy",
        old="",
        new="{type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}",
    )
    return SuggestedChange(
        kinds=(ChangeKind.ROLLOUT,),
        text=f"let {name} delete an old pod before it creates a new one; meanwhile it "
        "has one pod less",
        fields=(field,),
        apply=partial(_with_strategy, deployment=deployment),
    )


def _with_strategy(
    objects: Sequence[ApiObject], *, deployment: Deployment
) -> list[ApiObject]:
    def changed(obj: ApiObject) -> ApiObject:
        if not isinstance(obj, Deployment) or obj.name != deployment.name:
            return obj
        if (obj.namespace or "default") != deployment.namespace:
            return obj
        spec = msgspec.structs.replace(obj.spec, strategy=_ONE_BY_ONE)
        return msgspec.structs.replace(obj, spec=spec)

    return list(map(changed, objects))


def higher_priorities(
    editing: Editing, pod: Pod, classes: Iterable[PriorityClass]
) -> Iterator[Candidate]:
    """Offer the lowest priority class with which a pod finds pods to evict.

    Args:
        editing: Makes the changes of the subject.
        pod: The pod.
        classes: The priority classes of the cluster. Those of the system are offered
            only to DaemonSets.
    """
    offered = [
        each
        for each in classes
        if each.preemption_policy != _NEVER and not each.name.startswith("system-")
    ]
    if editing.subject.kind == "DaemonSet":
        offered.append(_NODE_CRITICAL)
    priority = pod.spec.priority or 0
    higher = sorted(
        (each for each in offered if each.value > priority),
        key=lambda each: (-each.value, each.name),
    )
    if higher:
        yield Candidate(
            kind=ChangeKind.PRIORITY,
            levels=len(higher),
            effect=Effect.EVICTS,
            at=lambda level: _of_class(editing, pod, higher[level].name),
        )


def _of_class(editing: Editing, pod: Pod, name: str) -> SuggestedChange:
    old = pod.spec.priority_class_name
    return SuggestedChange(
        kinds=(ChangeKind.PRIORITY,),
        text=f"give {editing.subject} the priority class {name}",
        fields=(editing.field("priorityClassName", old, yaml_scalar(name)),),
        apply=editing.apply(partial(_with_class, name=name)),
    )


def _with_class(spec: PodSpec, *, name: str) -> PodSpec:
    # Cleared, as the admission of priorities rejects values that are not those of
    # the class.
    return msgspec.structs.replace(
        spec, priority_class_name=name, priority=None, preemption_policy=None
    )
