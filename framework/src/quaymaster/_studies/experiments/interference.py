"""The interface of models of interference between pods of a node."""

import abc
from collections.abc import Sequence

from quaymaster._api.objects import Node, Pod

__all__ = ["Interference"]


class Interference(abc.ABC):
    """Slows pods down that share a node; subclasses are attrs classes.

    The fields of a subclass are its parameters, as for `ExperimentInput`. An experiment
    file names the class below ``interference``.
    """

    @abc.abstractmethod
    def speed(self, pod: Pod, node: Node, neighbours: Sequence[Pod], /) -> float:
        """Return how fast a pod works, as a factor.

        Called for each running pod with a run time, whenever pods of its node begin to
        run or end. From then on the pod needs its remaining work divided by the factor.

        The result must depend on the arguments and parameters alone.

        Args:
            pod: The pod.
            node: Its node.
            neighbours: The other pods on the node, with or without a run time, in the
                order in which they came.

        Returns:
            From 0 (it stands still) to 1 (it is alone on the node).
        """
