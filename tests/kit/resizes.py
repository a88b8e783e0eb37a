"""Pods whose containers are being resized."""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import ContainerStatus, Quantity, ResourceRequirements
from quaymaster.testing import make_container, make_pod

__all__ = ["make_exchange"]

_WANTED = {"a": "2", "b": "1"}
_GIVEN = {"a": "1", "b": "2"}


def make_exchange(*, done: bool) -> Pod:
    """Make a pod on node n1 whose two containers exchange a CPU.

    Args:
        done: Whether each container has its new resources already.
    """
    pod = make_pod(
        name="exchange",
        node="n1",
        containers=[
            make_container(name=name, requests={"cpu": cpu})
            for name, cpu in _WANTED.items()
        ],
    )
    statuses = tuple(
        _status(name, cpu) for name, cpu in (_WANTED if done else _GIVEN).items()
    )
    return replace(pod, status=replace(pod.status, container_statuses=statuses))


def _status(name: str, cpu: str) -> ContainerStatus:
    given = {"cpu": Quantity(cpu)}
    return ContainerStatus(
        name=name,
        resources=ResourceRequirements(requests=given),
        allocated_resources=given,
    )
