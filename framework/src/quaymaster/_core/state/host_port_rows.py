"""Finds the nodes on which a pod uses a host port."""

from collections.abc import Collection

from quaymaster._core.state.node_info import NodeInfo

__all__ = ["HostPortRows"]


class HostPortRows:
    """The rows of the nodes on which a pod uses a host port, on any address."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], dict[int, None]] = {}

    def of(self, protocol: str, port: int) -> Collection[int]:
        """Return the rows on which some pod uses a port."""
        return self._rows.get((protocol or "TCP", port), {}).keys()

    def add(self, info: NodeInfo) -> None:
        """Add all used ports of a node."""
        for key in info.used_ports:
            self._rows.setdefault(key, {})[info.row] = None

    def remove(self, info: NodeInfo) -> None:
        """Remove all used ports of a node."""
        for key in info.used_ports:
            self._drop(key, info.row)

    def write(self, info: NodeInfo, keys: Collection[tuple[str, int]]) -> None:
        """Update some ``(protocol, port)`` pairs of a node: used or not."""
        taken = set(info.used_ports)
        for key in keys:
            if key in taken:
                self._rows.setdefault(key, {})[info.row] = None
            else:
                self._drop(key, info.row)

    def _drop(self, key: tuple[str, int], row: int) -> None:
        rows = self._rows.get(key)
        if rows is not None:
            rows.pop(row, None)
            if not rows:
                del self._rows[key]
