"""The resources that an API server serves."""

from typing import Final

import msgspec

from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._surfaces.deploy.patient import Asks, Tree

__all__ = ["served_plurals"]

_NOT_FOUND: Final = 404


def served_plurals(client: Asks, api_version: str) -> frozenset[str]:
    """Return the names of the resources that a server has in a group version.

    Args:
        client: The client of the API server.
        api_version: The group and version, such as ``apps/v1``.

    Raises:
        ApiError: The server cannot be reached, or refuses.
    """
    root = "apis" if "/" in api_version else "api"
    try:
        answer = client.request("GET", f"/{root}/{api_version}")
    except ApiError as error:
        if error.code != _NOT_FOUND:
            raise
        return frozenset()
    try:
        tree = msgspec.json.decode(answer.body, type=Tree)
    except msgspec.DecodeError:
        return frozenset()
    return frozenset(resource.get("name", "") for resource in tree.get("resources", ()))
