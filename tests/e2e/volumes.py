"""Acts as the controllers of volumes: provisions them, and binds claims."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Final, Self

from quaymaster import ApiObject
from quaymaster.objects import to_wire
from quaymaster.testing import make_persistent_volume
from tests.e2e.client import ApiClient, RefusedError, Tree, path_of
from tests.e2e.follower import Follower, key_of
from tests.e2e.mixed_cluster import DRIVER

__all__ = ["VolumeController"]

_ZONE: Final = "topology.kubernetes.io/zone"
_SELECTED: Final = "volume.kubernetes.io/selected-node"
_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
_CLAIMS: Final = "/api/v1/persistentvolumeclaims"
_VOLUMES: Final = "/api/v1/persistentvolumes"


class VolumeController:
    """Makes a volume for a claim whose node is chosen, or that needs none.

    As a context manager it works until the end.

    Args:
        client: The client of the API server.
        zones: Node name -> its zone.
    """

    def __init__(self, client: ApiClient, zones: dict[str, str]) -> None:
        self._client = client
        self._zones = zones
        self._stack = ExitStack()
        self.claims = Follower(client, _CLAIMS, self._see_claim)
        self.volumes = Follower(client, _VOLUMES, self._see_volume)

    def __enter__(self) -> Self:
        self._stack.enter_context(self.claims)
        self._stack.enter_context(self.volumes)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def remove(self, claim: str) -> None:
        """Delete a claim, by its key, and the volumes that were made for it."""
        namespace, _, name = claim.partition("/")
        paths = [f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"]
        paths += [
            path_of(volume)
            for volume in self.volumes.all()
            if volume["metadata"]["name"].startswith(name)
        ]
        for path in paths:
            with suppress(RefusedError):  # another program was faster
                self._client.delete(path)

    def prepare(self, needs: Sequence[ApiObject | Tree]) -> None:
        """Create claims and volumes, and wait until they are processed."""
        made = [self._client.create(need) for need in needs]
        volumes, claims = (
            [key_of(item) for item in made if item["kind"] == kind]
            for kind in ("PersistentVolume", "PersistentVolumeClaim")
        )
        self.volumes.wait(lambda: not any(map(self._is_new_volume, volumes)))
        self.claims.wait(lambda: not any(map(self._is_new_claim, claims)))

    def _is_new_volume(self, key: str) -> bool:
        volume = self.volumes.get(key)
        return bool(volume is None or volume["status"]["phase"] == "Pending")

    def _is_new_claim(self, key: str) -> bool:
        claim = self.claims.get(key)
        if claim is None:
            return True
        is_pending = claim["status"]["phase"] == "Pending"
        return bool(is_pending and claim["spec"]["storageClassName"] == "at-once")

    def _see_claim(self, claim: Tree) -> None:
        """Provision a volume for a claim, if it is time."""
        spec, metadata = claim["spec"], claim["metadata"]
        name = spec["storageClassName"]
        if spec.get("volumeName") or name in ("local", "never"):
            return
        node = metadata.get("annotations", {}).get(_SELECTED)
        zones = sorted(set(self._zones.values()))
        if node is not None:
            zone = self._zones[node]
        elif name == "at-once":
            zone = zones[len(metadata["uid"].strip("0123456789")) % len(zones)]
        else:
            return
        volume = to_wire(
            make_persistent_volume(
                name=f"{metadata['name']}-made",
                storage_class=name,
                access_modes=spec["accessModes"],
                driver=DRIVER,
                node_labels={_ZONE: zone},
            )
        )
        keys = ("name", "namespace", "uid")
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        reference.update({key: metadata[key] for key in keys})
        volume["spec"]["claimRef"] = reference
        volume["spec"]["csi"]["volumeHandle"] = metadata["uid"]
        with suppress(RefusedError):  # it exists since an earlier event
            self._client.create(volume)

    def _see_volume(self, volume: Tree) -> None:
        """Bind the claim for which a volume is meant."""
        reference, phase = volume["spec"].get("claimRef"), volume["status"]["phase"]
        if reference is None:
            if phase == "Pending":
                self._set_phase(volume, "Available")
            return
        if phase == "Bound":
            return
        claim = path_of({**reference, "apiVersion": "v1", "metadata": reference})
        patch = {
            "metadata": {"annotations": {_COMPLETED: "yes"}},
            "spec": {"volumeName": volume["metadata"]["name"]},
        }
        with suppress(RefusedError):  # it is deleted
            self._client.patch(claim, patch)
            self._client.patch(f"{claim}/status", {"status": {"phase": "Bound"}})
            self._set_phase(volume, "Bound")

    def _set_phase(self, volume: Tree, phase: str) -> None:
        with suppress(RefusedError):  # it is deleted
            status = {"status": {"phase": phase}}
            self._client.patch(f"{path_of(volume)}/status", status)
