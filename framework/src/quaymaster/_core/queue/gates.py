"""PreEnqueue: decides which pods may enter the active and the backoff queue.

Mirrors ``runPreEnqueuePlugins`` (Kubernetes v1.36,
``pkg/scheduler/backend/queue/scheduling_queue.go``).
"""

import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

from quaymaster._api.objects import Pod
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.status import Status
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.runtime.failures import WrongAnswerError

__all__ = ["Gate", "passes_gates"]

Gate: TypeAlias = tuple[str, Callable[[Pod], Status | None]]
"""A PreEnqueue plugin: its name and its compiled hook."""

_log = logging.getLogger(__name__)


def passes_gates(queued: QueuedPod, gates: Sequence[Gate]) -> bool:
    """Call the PreEnqueue plugins until one rejects the pod; the gating plugin first.

    The pod is gated by the plugin that rejects it. The plugin is added to the pod's
    unschedulable plugins. They stay when the pod passes; the next attempt clears them.

    Args:
        queued: The pod; its gating plugin and unschedulable plugins are updated.
        gates: The plugins of its profile, in their order.
    """
    pod, first = queued.pod, queued.gating_plugin
    if first and gates and gates[0][0] != first:
        # Upstream calls the gating plugin even if the pod's profile no longer has it,
        # and crashes.
        for plugin, hook in gates:
            if plugin == first and (status := hook(pod)) is not None:
                _gate(queued, plugin, status)
                return False
        gates = [gate for gate in gates if gate[0] != first]
    for plugin, hook in gates:
        status = hook(pod)
        if status is not None:
            _gate(queued, plugin, status)
            return False
    queued.gating_plugin = ""
    return True


def _gate(queued: QueuedPod, plugin: str, status: Status) -> None:
    if status.error is not None:
        _log_failure(plugin, queued.pod, status.error)
    queued.gating_plugin = plugin
    if plugin not in queued.unschedulable_plugins:
        queued.unschedulable_plugins |= {plugin}


def _log_failure(plugin: str, pod: Pod, error: BaseException) -> None:
    """Log the failure of a plugin, which gates the pod."""
    if isinstance(error, WrongAnswerError):
        _log.error("%s, for pod %s", error, pod.key)
        return
    # Each failure gets a line; the guard of the hook logs a few of the tracebacks.
    text = "pre_enqueue of plugin %r failed for pod %s: %s"
    _log.error(text, plugin, pod.key, describe_exception(error))
