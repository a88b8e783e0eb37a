"""Keep pods off nodes whose kubelets have rejected pods.

Beside another scheduler, or if a kubelet counts usage that the API does not show, a
node may be full although it looks free. The kubelet fails a pod for which it has no
room, with a reason such as ``OutOfcpu``. A controller creates another pod, which would
be sent to the same node at once. So the node gets no pods for a while: twice as long
each time.

Kube-scheduler has no such plugin.
"""

import logging
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
)
from quaymaster_node_cool_down.args import NodeCoolDownArgs
from quaymaster_node_cool_down.refusals import Refusals

__all__ = ["NodeCoolDown"]

_COOLING: Final = Status.unresolvable("node(s) were cooling down")
_CRITICAL: Final = 2_000_000_000
"""From this priority on, kubelets make room for a pod by evicting others."""

_PERIOD: Final = 1.0
"""Seconds between checks for rejected pods while no pod is reserved."""

_log = logging.getLogger(__name__)


@attrs.define
class _Rest:
    """The end and the length of a node's last cool-down."""

    end: float
    seconds: float


class NodeCoolDown:
    """Rejects nodes whose kubelet has recently rejected a pod.

    Args:
        args: The lengths of cool-downs.
        handle: The framework.
    """

    Args = NodeCoolDownArgs
    scope = Scope.NODE  # changes by rejections are reported with Handle.changed
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: NodeCoolDownArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._refusals = Refusals(handle.informers)
        self._rests: dict[str, _Rest] = {}
        self._cooling: frozenset[str] = frozenset()

    @hookimpl
    def start(self) -> None:
        self._refusals.refused_pods()  # skip the rejections from before the start
        self._handle.clock.call_later(_PERIOD, self._look_again, background=True)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # The end of a cool-down requeues pods through Handle.changed.
        return [on_node(Change.ADD)]

    @hookimpl
    def sign_pod(self, pod: Pod) -> bool:
        return _is_critical(pod)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        if node.name not in self._cooling or _is_critical(pod):
            return None
        return _COOLING

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        if not self._cooling or _is_critical(pod):
            return None
        is_cooling = [name in self._cooling for name in nodes.names_at(rows)]
        return NodeVerdicts.reject_where(np.array(is_cooling, dtype=bool), _COOLING)

    @hookimpl
    def explain_filter(self, node: NodeInfo) -> Sequence[str]:
        facts = ["the node's kubelet has rejected a pod"]
        rest = self._rests.get(node.name)
        if rest is not None:
            left = max(0.0, rest.end - self._handle.clock.now())
            facts.append(f"gets no pods for {left:.3g} of {rest.seconds:g} seconds")
        return facts

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> Status | None:
        # `filter` may use cached results, but this hook is called for every pod that is
        # about to be bound. So it checks for rejections that have arrived since.
        self._look()
        if node_name not in self._cooling or _is_critical(pod):
            return None
        return _COOLING

    def _look_again(self) -> None:
        self._look()
        self._handle.clock.call_later(_PERIOD, self._look_again, background=True)

    def _look(self) -> None:
        """Start a cool-down of each node that has rejected a pod."""
        refused = self._refusals.refused_pods()
        if not refused:
            return
        now = self._handle.clock.now()
        for pod in refused:
            self._rest(pod, now)
        self._update(now)

    def _rest(self, pod: Pod, now: float) -> None:
        args = self._args
        last = self._rests.get(pod.node_name)
        is_resting = last is not None and now < last.end
        if is_resting or pod.node_name in self._cooling:
            return  # the pod was bound before the cool-down
        seconds = float(args.initial_seconds)
        if last is not None and now < last.end + args.calm_seconds:
            seconds = min(2 * last.seconds, args.max_seconds)
        self._rests[pod.node_name] = _Rest(now + seconds, seconds)
        self._handle.clock.call_at(now + seconds, self._wake)
        _log.warning(
            "%s: node %s gets no pods for %g seconds: it refused %s: %s",
            self._handle.plugin_name,
            pod.node_name,
            seconds,
            pod.key,
            pod.status.reason,
        )

    def _wake(self) -> None:
        """Process new rejections, and end the cool-downs that are over."""
        self._look()
        self._update(self._handle.clock.now())

    def _update(self, now: float) -> None:
        """Drop calm nodes; report a change if the set of cooling nodes differs."""
        calm = self._args.calm_seconds
        rests = {
            name: rest for name, rest in self._rests.items() if now < rest.end + calm
        }
        cooling = frozenset(name for name, rest in rests.items() if now < rest.end)
        self._rests = rests
        if cooling != self._cooling:
            self._cooling = cooling
            self._handle.changed()


def _is_critical(pod: Pod) -> bool:
    return pod.priority >= _CRITICAL
