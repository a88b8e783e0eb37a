"""Counts how often pods on nodes name a claim."""

from collections.abc import Mapping

from quaymaster._api.objects import Pod

__all__ = ["ClaimUsers"]


class ClaimUsers:
    """Counts, for each claim, how often the pods on all nodes name it."""

    __slots__ = ("_users",)

    def __init__(self) -> None:
        self._users: dict[str, int] = {}

    def of(self, key: str) -> int:
        """Return how often pods name a claim, without ephemeral volumes.

        Args:
            key: The claim's key, ``namespace/name``.
        """
        return self._users.get(key, 0)

    def add(self, pod: Pod, sign: int) -> None:
        """Add (1) or remove (-1) a pod's claims."""
        users = self._users
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            key = f"{pod.metadata.namespace}/{name}"
            users[key] = users.get(key, 0) + sign
            if not users[key]:
                del users[key]

    def contents(self) -> Mapping[str, int]:
        """Return a copy of all counts, by the claims' keys."""
        return dict(self._users)

    def restore(self, contents: Mapping[str, int]) -> None:
        """Restore counts that `contents` returned."""
        self._users = dict(contents)
