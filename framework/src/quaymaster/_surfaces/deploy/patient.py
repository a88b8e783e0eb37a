"""The configuration and the cluster that the doctor checks."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import attrs
import msgspec

from quaymaster._api.objects import ApiObject
from quaymaster._clusters.kubernetes.connection import Answer
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._surfaces.deploy.rights import Need

__all__ = ["Asks", "Patient", "Tree"]

Tree: TypeAlias = dict[str, Any]
T = TypeVar("T")


class Asks(Protocol):
    """Sends requests; see `quaymaster._clusters.kubernetes.client.ApiClient`."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: bytes = b"",
    ) -> Answer:
        """Send one request.

        Raises:
            ApiError: The server cannot be reached, or refuses.
        """


@attrs.frozen(kw_only=True)
class Patient:
    """A configuration and its cluster.

    Attributes:
        client: The client of the API server.
        config: The configuration.
        kinds: The kinds that its plugins read.
        needs: The rights that it needs.
        now: Seconds since the epoch.
    """

    client: Asks
    config: SchedulerConfig
    kinds: Sequence[type[ApiObject]]
    needs: Sequence[Need]
    now: Callable[[], float] = time.time

    @property
    def scheduler_names(self) -> Sequence[str]:
        """The scheduler names of its profiles."""
        return [profile.scheduler_name for profile in self.config.profiles]

    def read(self, path: str, query: Mapping[str, str | int] | None = None) -> Tree:
        """Read a path.

        Raises:
            ApiError: The server cannot be reached, or refuses.
        """
        return _tree(self.client.request("GET", path, query=query))

    def post(self, path: str, tree: Tree) -> Tree:
        """Send a tree, and return the response.

        Raises:
            ApiError: The server cannot be reached, or refuses.
        """
        body = msgspec.json.encode(tree)
        return _tree(self.client.request("POST", path, body=body))


def _tree(answer: Answer) -> Tree:
    try:
        return msgspec.json.decode(answer.body, type=Tree)
    except msgspec.DecodeError:
        return {}
