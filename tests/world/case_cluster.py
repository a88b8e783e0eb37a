"""What a course does to a cluster, ours or a real one."""

from typing import Protocol

from tests.world.cases import Tree

__all__ = ["CaseCluster"]


class CaseCluster(Protocol):
    """A cluster on which a course can be played.

    Methods that return an answer return its HTTP ``code``, and a ``message`` if the
    request was refused.
    """

    def wait_until(self, seconds: float) -> None:
        """Return when everything is done that is due at that second of the course."""

    def objects(self) -> dict[str, list[Tree]]:
        """Return the objects in wire form, by kind."""

    def create(self, tree: Tree) -> Tree:
        """Post an object; return the answer."""

    def patch(self, kind_name: str, name: str, patch: Tree) -> Tree:
        """Apply a JSON merge patch; return the answer."""

    def delete(self, kind_name: str, name: str) -> Tree:
        """Delete an object; return the answer."""

    def evict(self, name: str) -> Tree:
        """Evict a pod; return the answer."""

    def start_pod(self, pod: Tree, is_ready: bool) -> None:
        """Write the status of a pod that runs."""

    def end_pod(self, pod: Tree, exit_code: int) -> None:
        """Write the status of a pod whose containers have ended."""

    def remove_pod(self, pod: Tree) -> None:
        """Confirm the end of a deleted pod."""

    def stop_kubelet(self, node: str) -> None:
        """Silence a node."""

    def start_kubelet(self, node: str) -> None:
        """End the silence of a node."""

    def set_node_ready(self, name: str, status: str) -> None:
        """Write the Ready condition of a node."""
