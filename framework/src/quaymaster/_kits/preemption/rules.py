"""Rules of a dry run: the pods that may be evicted for another pod.

Mirrors the decisions of a plugin in ``SelectVictimsOnNode`` (Kubernetes v1.36,
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
    """Selects the pods that may be evicted for a pod; pass one to a `DryRun`.

    Its results must not change during the dry run of an attempt.
    """

    @abstractmethod
    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        """Return the possible victims on a node.

        The dry run removes all of them, then adds as many again as there is room for.

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
        """Batch twin of `victims`: return the possible victims on many nodes at once.

        By default, `victims` is called for each node.

        Args:
            state: The pod's scratch space after filtering; it must not be changed.
            pod: The pod that needs room.
            pods: The pods on the nodes, ``K`` ranks on ``N`` nodes.

        Returns:
            Shape ``(K, N)``, dtype bool. Values without a pod are ignored.
        """
        victims: BoolArray = np.zeros(pods.priority.shape, dtype=np.bool_)
        for place, node in enumerate(pods.nodes):
            chosen = {victim.uid for victim in self.victims(state, pod, node)}
            if chosen:
                uids = pods.uids(place)
                victims[: len(uids), place] = [uid in chosen for uid in uids]
        return victims

    def importance(self, pod: Pod) -> tuple[float, ...]:
        """Return a sort key for adding pods again: the smallest first.

        It is computed once for a pod on a node, so it must depend on the pod alone. The
        default is `quaymaster.preemption.importance`.
        """
        return importance(pod)

    def group(self, pod: Pod) -> Hashable:
        """Return the group of a pod for `PodColumns.group`; by default the namespace.

        It is computed once for a pod on a node, so it must depend on the pod alone.
        There should be few different groups.
        """
        return pod.namespace


@final
class LowerPriority(VictimRule):
    """The rule of kube-scheduler: pods of lower priority may be evicted."""

    def victims(self, _state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        priority = pod.priority
        return [victim for victim in node.pods.values() if victim.priority < priority]

    def victims_on_rows(
        self, _state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        lower: BoolArray = pods.priority < pod.priority
        return lower


LOWER_PRIORITY: Final = LowerPriority()
"""The default rule of a dry run."""


class Limit(ABC):
    """A condition besides the filters for a trial without some pods, such as a quota.

    A dry run checks it without all possible victims, and again for each pod that could
    be added again. So it must not be exceeded because more pods go: such a limit would
    reject nodes where few victims are enough. Its results must not change during the
    dry run of an attempt.
    """

    @abstractmethod
    def exceeded(
        self, state: CycleState, pod: Pod, node: NodeInfo, gone: Collection[Pod]
    ) -> Status | None:
        """Return why a pod that fits on a node may not run there; None if it may.

        Args:
            state: The pod's scratch space after filtering; it must not be changed.
            pod: The pod that needs room.
            node: The node, with all of its pods; it must not be changed.
            gone: The pods of the node that the trial has removed.
        """

    def exceeded_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns, gone: BoolArray
    ) -> BoolArray:
        """Batch twin of `exceeded`: check many nodes at once.

        By default, `exceeded` is called for each node.

        Args:
            state: The pod's scratch space after filtering; it must not be changed.
            pod: The pod that needs room.
            pods: The pods on the nodes, ``K`` ranks on ``N`` nodes.
            gone: Shape ``(K, N)``, dtype bool: the pods that the trial has removed.

        Returns:
            Shape ``(N,)``, dtype bool: True where the pod may not run.
        """
        exceeded: BoolArray = np.zeros(len(pods.nodes), dtype=np.bool_)
        for place, node in enumerate(pods.nodes):
            ranks = gone[:, place].nonzero()[0].tolist()
            uids = pods.uids(place)
            going = [node.pods[uids[rank]] for rank in ranks]
            exceeded[place] = self.exceeded(state, pod, node, going) is not None
        return exceeded
