"""Bind a pod to its node through the cluster.

Writes the pod's binding subresource, with the annotations that plugins have chosen for
the pod (upstream's binding has none). A failed call becomes an Error status with the
`ApiError` as its ``error``: after an `UnknownOutcomeError` the framework reads the pod
to find out whether it was bound.

Mirrors ``DefaultBinder`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/defaultbinder/default_binder.go``).
"""

from quaymaster import CycleState, Handle, Pod, Status, hookimpl
from quaymaster.cluster import ApiError, Verb, Write

__all__ = ["DefaultBinder"]


class DefaultBinder:
    """Binds every pod that no earlier plugin has bound."""

    reads = ()
    writes = (Write(Verb.CREATE, Pod, "binding"),)
    blocks = False

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        cluster, annotations = self._handle.cluster, state.annotations
        try:
            cluster.bind(pod, node_name, annotations=annotations)
        except ApiError as error:
            return Status.from_error(error)
        return None
