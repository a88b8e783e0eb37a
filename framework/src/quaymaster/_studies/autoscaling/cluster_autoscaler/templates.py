"""What the next node of each group will look like.

Mirrors ``processors/nodeinfosprovider/mixed_nodeinfos_processor.go`` and
``simulator/node_info_utils.go``.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, DaemonSet, Node, OwnerReference, Pod
from quaymaster._api.objects.selectors import required_node_affinity
from quaymaster._api.objects.tolerations import find_untolerated_taint
from quaymaster._clusters.inmemory.controllers.daemon_pods import daemon_pod
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._studies.autoscaling.cloud import HOSTNAME, Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.ages import age_of
from quaymaster._studies.autoscaling.cluster_autoscaler.node_taints import (
    TO_BE_DELETED,
    has_taint,
    lasting_taints,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    is_daemon_pod,
    is_mirror_pod,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.readiness import (
    is_ready,
    last_change,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["Template", "Templates"]

_STABLE_SECONDS: Final = 60
_MARK: Final = "cluster-autoscaler.kubernetes.io/template-node"
_CRITICAL: Final = "system-node-critical"
_DEPRECATED_LABELS: Final = {
    "node.kubernetes.io/instance-type": "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region": "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone": "failure-domain.beta.kubernetes.io/zone",
}


@attrs.frozen(kw_only=True, eq=False)
class Template:
    """A new node of a group.

    Attributes:
        node: The node.
        pods: The pods of DaemonSets and of its kubelet that it starts with.
    """

    node: Node
    pods: Sequence[Pod]
    _named: dict[str, "Template"] = attrs.field(factory=dict, init=False, repr=False)

    def named(self, suffix: str) -> "Template":
        """Return a copy with other names, so that several fit into one cluster."""
        if suffix not in self._named:
            name = f"{self.node.name}-{suffix}"
            self._named[suffix] = Template(
                node=_renamed(self.node, name),
                pods=[_moved(pod, name, suffix) for pod in self.pods],
            )
        return self._named[suffix]


class Templates:
    """Keeps the template of each group.

    Args:
        cloud: The groups.
        trial: The nodes with their pods.
        options: The options of the autoscaler.
    """

    def __init__(
        self, cloud: Cloud, trial: TrialCluster, options: ClusterAutoscalerOptions
    ) -> None:
        self._cloud = cloud
        self._trial = trial
        self._options = options
        # Group -> the last template of a node, and when that node ran well.
        self._cache: dict[str, tuple[Template, float]] = {}
        # Group -> the objects that its last template was made of, and the template.
        self._made: dict[str, tuple[tuple[ApiObject, ...], Template]] = {}

    def of_groups(
        self, seen: SeenCluster, daemon_sets: Sequence[DaemonSet], now: float
    ) -> Mapping[str, Template]:
        """Return the template of each group.

        A template is a copy of a node that runs well, the last such one for some time,
        or what the cloud promises. Upstream takes a node in trouble if the cloud
        promises nothing, which is never so here.

        Args:
            seen: All nodes.
            daemon_sets: All DaemonSets.
            now: The time, in seconds since the epoch.
        """
        templates = self._of_nodes(seen, daemon_sets, now)
        self._cache.update((name, (each, now)) for name, each in templates.items())
        oldest = now - self._options.node_info_cache_expire_time
        for name, group in self._cloud.groups.items():
            if name in templates:
                continue
            cached = self._cache.get(name)
            if cached is None or cached[1] < oldest:
                self._cache.pop(name, None)
                example = NodeInfo(group.template)
                promised = self._copy(example, name, daemon_sets, force=True)
                node = _with_deprecated_labels(promised.node)
                templates[name] = attrs.evolve(promised, node=node)
            else:
                templates[name] = cached[0]
        return templates

    def _of_nodes(
        self, seen: SeenCluster, daemon_sets: Sequence[DaemonSet], now: float
    ) -> dict[str, Template]:
        """Return a copy of the first node of each group that runs well."""
        templates: dict[str, Template] = {}
        for group, members in seen.members.items():
            good = (each for each in members.values() if _is_good(each.node, now))
            infos = (self._trial.get(each.name) for each in good)
            info = next((info for info in infos if info is not None), None)
            if info is not None:
                templates[group] = self._copy(
                    info, group, daemon_sets, force=self._options.force_ds
                )
        return templates

    def _copy(
        self,
        example: NodeInfo,
        group: str,
        daemon_sets: Sequence[DaemonSet],
        *,
        force: bool,
    ) -> Template:
        """Return a copy of a node; the same template if its example has not changed."""
        objects = (example.node, *example.pods.values(), *daemon_sets)
        if group in self._made:
            last, template = self._made[group]
            # Identity: a changed object is a new one.
            if len(last) == len(objects) and all(map(is_, last, objects)):
                return template
        template = self._new(example, group, daemon_sets, force=force)
        self._made[group] = objects, template
        return template

    def _new(
        self,
        example: NodeInfo,
        group: str,
        daemon_sets: Sequence[DaemonSet],
        *,
        force: bool,
    ) -> Template:
        name = f"template-node-for-{group}"
        taints = lasting_taints(example.node.spec.taints, self._options)
        spec = replace(example.node.spec, taints=taints)
        node = replace(_renamed(example.node, name), spec=spec)
        pods = _expected_pods(example, node, daemon_sets, force=force)
        return Template(node=_marked(node), pods=pods)


def _with_deprecated_labels(node: Node) -> Node:
    """Return a node with the old names of its labels, too.

    Upstream adds them to what the cloud promises, and not to copies of nodes, so the
    two are never similar. Mirrors ``UpdateDeprecatedLabels`` (``utils/labels``).
    """
    labels = node.labels
    old = {
        name: labels[new] for new, name in _DEPRECATED_LABELS.items() if new in labels
    }
    metadata = replace(node.metadata, labels={**labels, **old})
    return replace(node, metadata=metadata)


def _is_good(node: Node, now: float) -> bool:
    """Return whether a node runs well for long enough to be an example."""
    return (
        is_ready(node)
        and age_of(last_change(node), now) > _STABLE_SECONDS
        and not node.spec.unschedulable
        and not has_taint(node, TO_BE_DELETED)
    )


def _expected_pods(
    example: NodeInfo, node: Node, daemon_sets: Iterable[DaemonSet], *, force: bool
) -> list[Pod]:
    """Return the pods that a new node starts with."""
    pods, running = [], set()
    for pod in example.pods.values():
        if pod.is_terminating:
            continue
        controller = pod.metadata.controller
        if controller is not None and controller.kind == "DaemonSet":
            running.add(controller.uid)
        if is_mirror_pod(pod) or is_daemon_pod(pod):
            pods.append(_moved(pod, node.name, "template"))
    for owner in daemon_sets:
        if owner.uid in running:
            continue
        pod = daemon_pod(owner, "template")
        if (force or _is_critical(pod)) and _runs_on(pod, node):
            pods.append(_owned(pod, owner, node.name))
    return pods


def _runs_on(pod: Pod, node: Node) -> bool:
    """Return whether a DaemonSet has a pod on a node."""
    if pod.spec.node_name not in ("", node.name):
        return False
    effects = ("NoSchedule", "NoExecute")
    return required_node_affinity(pod).matches(node) and not find_untolerated_taint(
        node.spec.taints, pod.spec.tolerations, effects
    )


def _is_critical(pod: Pod) -> bool:
    policy = pod.spec.preemption_policy
    return pod.spec.priority_class_name == _CRITICAL and policy in (
        None,
        "PreemptLowerPriority",
    )


def _owned(pod: Pod, owner: DaemonSet, node_name: str) -> Pod:
    reference = OwnerReference(
        api_version="apps/v1",
        kind="DaemonSet",
        name=owner.name,
        uid=owner.uid,
        controller=True,
    )
    name = f"{owner.name}-{node_name}"
    metadata = replace(
        pod.metadata,
        name=name,
        namespace=owner.namespace,
        uid=name,
        owner_references=(reference,),
    )
    return replace(pod, metadata=metadata, node_name=node_name)


def _moved(pod: Pod, node_name: str, suffix: str) -> Pod:
    """Return a copy of a pod on another node."""
    metadata = replace(
        pod.metadata, name=f"{pod.name}-{suffix}", uid=f"{pod.uid}-{suffix}"
    )
    return replace(pod, metadata=metadata, node_name=node_name)


def _renamed(node: Node, name: str) -> Node:
    labels = {**node.labels, HOSTNAME: name}
    metadata = replace(node.metadata, name=name, uid=name, labels=labels)
    return replace(node, metadata=metadata)


def _marked(node: Node) -> Node:
    labels = {**node.labels, _MARK: "true"}
    return replace(node, metadata=replace(node.metadata, labels=labels))
