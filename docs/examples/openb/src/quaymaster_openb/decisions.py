"""Each decision of a run: which node, which of its GPUs, and for which score."""

from typing import Protocol, cast

import attrs
from quaymaster import NodeInfo, Pod, Scope
from quaymaster.experiments import Curve, Measured, Metric
from quaymaster.simulation import Run, Step, StepOutcome

from quaymaster_openb.gpus import INDEX

__all__ = ["Decisions"]


class _Scores(Protocol):
    def score(self, pod: Pod, node: NodeInfo) -> int: ...


@attrs.define(kw_only=True, eq=False)
class Decisions(Metric):
    """Notes each decision, as curves over the number of the arrival.

    Curves: ``node``, the number in the node's name; ``gpus``, a bit for each GPU;
    ``score``, that of the chosen node before it was normalised. All are empty for a pod
    without a node, and ``score`` also for a policy that draws lots.

    Attributes:
        policy: The Score plugin; its ``score`` is called again for the node before the
            decision, if it depends only on that node and the pod.
    """

    policy: str
    _nodes: list[float | None] = attrs.field(init=False, factory=list)
    _gpus: list[float | None] = attrs.field(init=False, factory=list)
    _scores: list[float | None] = attrs.field(init=False, factory=list)

    def step(self, run: Run, step: Step) -> None:
        """Note a decision."""
        node, gpus, score = None, None, None
        if step.outcome is StepOutcome.BOUND:
            found = run.snapshot.get(step.node)
            assert found is not None, "the pod is on it"
            bound = found.pods[step.pod.uid]
            before = found.clone()
            before.remove_pod(bound)
            policy = cast(_Scores, run.plugin(self.policy))
            is_asked = getattr(policy, "scope", Scope.CLUSTER) is Scope.NODE
            node = int(step.node.rpartition("-")[2])
            numbers = filter(None, bound.annotations.get(INDEX, "").split("-"))
            gpus = sum(1 << int(number) for number in numbers)
            score = policy.score(step.pod, before) if is_asked else None
        self._nodes.append(node)
        self._gpus.append(gpus)
        self._scores.append(score)

    def end(self, _run: Run) -> Measured:
        """Return the curves."""
        x = range(len(self._nodes))
        found = {"node": self._nodes, "gpus": self._gpus, "score": self._scores}
        return Measured(
            curves=[Curve(name=name, x=x, y=y) for name, y in found.items()]
        )
