"""What an observer of hooks is told."""

from collections.abc import Sequence
from typing import Protocol

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["HookCall", "HookObserver"]


@attrs.define(eq=False)
class HookCall:
    """One call of one hook of one plugin, which has ended.

    All but the texts and numbers is what the hook was given and what it returned: only
    to be read. ``nodes`` follows the cluster, so read it before ``called`` returns.

    Attributes:
        plugin: The plugin's name.
        hook: The hook.
        pod: The pod that it was called for; None for ``start`` and ``close``.
        node: The name of the node that it was asked about; empty if it was asked about
            many or none.
        nodes: The columns of all nodes, for a hook that gets them.
        rows: The rows of ``nodes`` that it was asked about, for a hook that gets them.
        seconds: How long it took, with the check of its answer.
        answer: What the framework was given: the plugin's answer, or an Error status
            for what it raised or must not answer.
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
        """Return the names of the nodes that the hook was asked about."""
        if self.nodes is not None and self.rows is not None:
            return self.nodes.names_at(self.rows)
        return (self.node,) if self.node else ()


class HookObserver(Protocol):
    """Is told of the calls of all plugins' hooks, on the scheduler's thread.

    It sees what is called, and changes nothing of it: batch twins are called and
    answers are remembered as without an observer. A hook that is not called, since its
    answer is remembered or a twin answers for it, is not told. What it raises is
    logged, and has no effect on any decision.

    Given by ``SchedulerOptions(hook_observers=[...])``, or by an installed distribution
    in the entry-point group ``quaymaster.observers``: a class, or a function, that is
    called without arguments once for each scheduler. Without an observer, hooks are
    compiled as if there were no such thing.

    Mirrors the metric ``plugin_execution_duration_seconds`` (Kubernetes v1.36,
    ``pkg/scheduler/metrics/metrics.go``), which samples a tenth of the attempts; here
    all calls are told, so that two runs tell the same.
    """

    def called(self, call: HookCall, /) -> None:
        """Called when a hook has returned; PreBind and Bind may be told later."""
