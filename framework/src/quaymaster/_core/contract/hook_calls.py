"""Observers of hooks, and the calls that they receive."""

from collections.abc import Sequence
from typing import Protocol

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["HookCall", "HookObserver"]


@attrs.define(eq=False)
class HookCall:
    """One finished call of one hook of one plugin.

    The objects are the hook's own arguments and its own result; do not change them.
    ``nodes`` follows the cluster, so read it before ``called`` returns.

    Attributes:
        plugin: The plugin's name.
        hook: The hook.
        pod: The pod that it was called for; None for ``start`` and ``close``.
        node: The name of the node that it was called for; empty if it was called for
            many nodes or none.
        nodes: The columns of all nodes, for a hook that takes them.
        rows: The rows of ``nodes`` that it was called for, for a hook that takes them.
        seconds: How long it took, with the check of its result.
        answer: The result that the framework uses: the plugin's own, or an Error status
            if the hook raised or its result was not valid.
    """

    plugin: str
    hook: str
    pod: Pod | None
    node: str
    nodes: NodeTable | None
    rows: Rows | None
    seconds: float
    answer: object

    def node_names(self) -> Sequence[str]:
        """Return the names of the nodes that the hook was called for."""
        if self.nodes is not None and self.rows is not None:
            return self.nodes.names_at(self.rows)
        return (self.node,) if self.node else ()


class HookObserver(Protocol):
    """Receives the calls of all plugins' hooks, on the scheduler's thread.

    An observer does not change which hooks are called: batch twins are called and
    results are cached as without it. It receives no call for a hook that was not
    called, because its result was cached or its batch twin ran instead. An exception of
    an observer is logged, and has no effect on any decision.

    Pass observers as ``SchedulerOptions(hook_observers=[...])``. An installed
    distribution can add one in the entry-point group ``quaymaster.observers``: a class
    or a function that is called without arguments once for each scheduler. Without an
    observer, hooks are compiled without any code for observers.

    Mirrors the metric ``plugin_execution_duration_seconds`` (Kubernetes v1.36,
    ``pkg/scheduler/metrics/metrics.go``), which samples a tenth of the attempts. Here
    observers receive all calls, so that two runs report the same.
    """

    def called(self, call: HookCall, /) -> None:
        """Handle a call that has returned; those of PreBind and Bind may come later."""
