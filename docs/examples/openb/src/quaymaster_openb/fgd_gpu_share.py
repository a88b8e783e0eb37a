"""GPU sharing as 06-FGD has it: the GPU is the one that the node's score was for.

Mirrors ``pkg/simulator/plugin/fgd_score.go``.
"""

from collections.abc import Sequence
from operator import itemgetter

from quaymaster import Handle, NodeInfo, Pod

from quaymaster_openb.fgd import scored_choices
from quaymaster_openb.gpu_share import GpuShare
from quaymaster_openb.gpus import GpuRequest
from quaymaster_openb.target import Target
from quaymaster_openb.typical_pods import TypicalPods
from quaymaster_openb.wishes import Wish

__all__ = ["FGDGpuShare"]


class FGDGpuShare(GpuShare):
    """Gives a pod that shares a GPU the one that the node's score was for."""

    kinds = (TypicalPods,)

    def __init__(self, args: None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._target = Target.of(handle)

    def choose(
        self, pod: Pod, wanted: GpuRequest, node: NodeInfo, left: Sequence[int]
    ) -> Sequence[int]:
        """Choose the first GPU with the best integer score; whole ones as always."""
        wish = Wish.of(pod)
        if not wish.is_shared:
            return super().choose(pod, wanted, node, left)
        cpu = node.allocatable.milli_cpu - node.requested.milli_cpu + wish.cpu
        scored = list(scored_choices(self._target.current, wish, node, cpu, left))
        return [max(scored, key=itemgetter(0))[1]] if scored else []
