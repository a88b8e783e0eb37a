"""Who may be evicted for whom: rules that a dry run follows.

Mirrors what a plugin decides for itself in ``SelectVictimsOnNode`` (Kubernetes v1.36,
``pkg/scheduler/framework/preemption/preemption.go``, `Interface`) and
``MoreImportantPodFunc``
(``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``).
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable
from typing import Final, final

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import BoolArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._kits.preemption.candidates import importance
from quaymaster._kits.preemption.pod_columns import PodColumns

__all__ = ["LOWER_PRIORITY", "Limit", "LowerPriority", "VictimRule"]


class VictimRule(ABC):
    """Who may be evicted for whom; give one to a `DryRun`.

    What a rule says must hold until the dry run of an attempt is over.
    """

    @abstractmethod
    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        """Return the pods on a node that may have to go.

        All of them are imagined away, then as many come back as there is room for.

        Args:
            state: The pod's scratch space after filtering; it must not be changed.
            pod: The pod that needs room.
            node: The node; it must not be changed.

        Returns:
            Pods of ``node.pods``, each once, in any order.
        """

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        """Batch twin of `victims`: tell for many nodes at once who may have to go.

        Without one of its own, a rule is asked node by node.

        Args:
            state: The pod's scratch space after filtering; it must not be changed.
            pod: The pod that needs room.
            pods: The pods on the nodes, ``K`` ranks on ``N`` nodes.

        Returns:
            Shape ``(K, N)``, dtype bool. Where there is no pod, anything will do.
        """
        found: BoolArray = np.zeros(pods.priority.shape, dtype=np.bool_)
        for place, node in enumerate(pods.nodes):
            chosen = {victim.uid for victim in self.victims(state, pod, node)}
            if chosen:
                uids = pods.uids(place)
                found[: len(uids), place] = [uid in chosen for uid in uids]
        return found

    def importance(self, pod: Pod) -> tuple[float, ...]:
        """Return a sort key by which pods come back: the smallest first.

        It is worked out once for a pod on a node, so it depends on nothing but the pod.
        By default that is `quaymaster.preemption.importance`.
        """
        return importance(pod)

    def group(self, pod: Pod) -> Hashable:
        """Return what `PodColumns.group` tells pods apart by; the namespace by default.

        It is worked out once for a pod on a node, so it depends on nothing but the pod.
        There should be few different ones.
        """
        return pod.namespace


@final
class LowerPriority(VictimRule):
    """The rule of kube-scheduler: pods of lower priority may have to go."""

    def victims(self, _state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        priority = pod.priority
        return [victim for victim in node.pods.values() if victim.priority < priority]

    def victims_on_rows(
        self, _state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        lower: BoolArray = pods.priority < pod.priority
        return lower


LOWER_PRIORITY: Final = LowerPriority()
"""The rule that a dry run follows unless it is given another one."""


class Limit(ABC):
    """What must hold beside the filters once pods have gone, such as a quota.

    A dry run asks it with all possible victims gone, and again for each pod that could
    come back. What it says must hold until the dry run of an attempt is over.
    """

    @abstractmethod
    def exceeded(
        self, state: CycleState, pod: Pod, node: NodeInfo, gone: Collection[Pod]
    ) -> Status | None:
        """Return why a pod may not come to a node, though it fits; None if it may.

        Args:
            state: The pod's scratch space after filtering; it must not be changed.
            pod: The pod that needs room.
            node: The node, with all of its pods; it must not be changed.
            gone: Those of its pods that are imagined away.
        """

    def exceeded_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns, gone: BoolArray
    ) -> BoolArray:
        """Batch twin of `exceeded`: tell for many nodes at once.

        Without one of its own, a limit is asked node by node.

        Args:
            state: The pod's scratch space after filtering; it must not be changed.
            pod: The pod that needs room.
            pods: The pods on the nodes, ``K`` ranks on ``N`` nodes.
            gone: Shape ``(K, N)``, dtype bool: who is imagined away; only pods are.

        Returns:
            Shape ``(N,)``, dtype bool: True where the pod may not come.
        """
        found: BoolArray = np.zeros(len(pods.nodes), dtype=np.bool_)
        for place, node in enumerate(pods.nodes):
            ranks = gone[:, place].nonzero()[0].tolist()
            uids = pods.uids(place)
            going = [node.pods[uids[rank]] for rank in ranks]
            found[place] = self.exceeded(state, pod, node, going) is not None
        return found
