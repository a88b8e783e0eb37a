"""Devices of a mixed cluster, claims for them, and the controller of claims."""

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from tests.e2e.client import ApiClient, RefusedError, Tree

__all__ = ["CARD", "device_objects", "free_devices", "random_claim"]

CARD: Final = "example.com/card"
"""The extended resource whose devices a driver publishes."""

_GROUP: Final = "resource.k8s.io/v1"
_GPU: Final = "gpu.example.com"
_DRIVERS: Final = {"gpu": _GPU, "card": "card.example.com"}
_OF_GPU: Final = f"device.attributes['{_GPU}']"
_MEMORY: Final = f"device.capacity['{_GPU}'].memory"
_SELECTORS: Final = (
    f"{_OF_GPU}.model == 'large'",
    f"{_OF_GPU}.numa == 0",
    f"{_OF_GPU}.numa < 2 && {_MEMORY}.compareTo(quantity('40Gi')) >= 0",
    f"has({_OF_GPU}.serial) && {_OF_GPU}.serial.startsWith('a')",
)
_REPAIR: Final = {"key": "example.com/repair", "operator": "Exists"}


def device_objects(node_names: list[str]) -> Iterator[Tree]:
    """Yield the classes of devices, and the slices of some nodes."""
    for name, driver in _DRIVERS.items():
        spec: Tree = {"selectors": [_selector(f"device.driver == '{driver}'")]}
        if name == "card":
            spec["extendedResourceName"] = CARD
        yield _object("DeviceClass", name, spec)
    for number, node in enumerate(node_names):
        if number % 4 in (1, 2):
            devices = [_gpu(number, index) for index in range(2 + number % 3)]
            yield _slice(node, _GPU, devices)
        if number % 5 == 3:
            cards: list[Tree] = [{"name": f"card-{index}"} for index in range(2)]
            yield _slice(node, _DRIVERS["card"], cards)


def random_claim(name: str, namespace: str, chance: random.Random) -> Tree:
    """Return a random claim for GPUs."""
    requests = [_request(f"request-{index}", chance) for index in range(_few(chance))]
    devices: Tree = {"requests": requests}
    if chance.random() < 0.3:
        devices["constraints"] = [{"matchAttribute": f"{_GPU}/numa"}]
    claim = _object("ResourceClaim", name, {"devices": devices})
    claim["metadata"]["namespace"] = namespace
    return claim


def free_devices(client: ApiClient, pod: Tree) -> None:
    """Free and delete the claims of a pod that has ended, as their controller does.

    Args:
        client: A client that may write claims.
        pod: The pod; claims that the scheduler created for it count, too.
    """
    namespace = pod["metadata"]["namespace"]
    names = {
        reference["resourceClaimName"]
        for reference in pod["spec"].get("resourceClaims", ())
    }
    resources = [part.get("resources", {}) for part in pod["spec"]["containers"]]
    if not names and not any(CARD in part.get("limits", {}) for part in resources):
        return
    path = f"/apis/{_GROUP}/namespaces/{namespace}/resourceclaims"
    for claim in client.request("GET", path)["items"]:
        owners = claim["metadata"].get("ownerReferences", ())
        is_owned = any(owner["uid"] == pod["metadata"]["uid"] for owner in owners)
        if is_owned or claim["metadata"]["name"] in names:
            _free(client, f"{path}/{claim['metadata']['name']}")


def _free(client: ApiClient, path: str) -> None:
    with suppress(RefusedError):  # another program has deleted it
        freed = {"status": {"allocation": None, "reservedFor": None}}
        client.patch(f"{path}/status", freed)
        client.patch(path, {"metadata": {"finalizers": None}})
        client.delete(path)


def _few(chance: random.Random) -> int:
    return chance.choice((1, 1, 1, 2))


def _request(name: str, chance: random.Random) -> Tree:
    if chance.random() < 0.25:
        large = {"name": "best", **_exactly(chance, _SELECTORS[0])}
        return {
            "name": name,
            "firstAvailable": [large, {"name": "any", **_exactly(chance)}],
        }
    return {"name": name, "exactly": _exactly(chance)}


def _exactly(chance: random.Random, *expressions: str) -> Tree:
    if not expressions and chance.random() < 0.4:
        expressions = (chance.choice(_SELECTORS),)
    request: dict[str, Any] = {"deviceClassName": "gpu"}
    if expressions:
        request["selectors"] = [_selector(expression) for expression in expressions]
    if chance.random() < 0.2:
        request["count"] = 2
    if chance.random() < 0.3:
        request["tolerations"] = [_REPAIR]
    return request


def _selector(expression: str) -> Tree:
    return {"cel": {"expression": expression}}


def _gpu(number: int, index: int) -> Tree:
    is_large = (number + index) % 3 == 0
    device: Tree = {
        "name": f"gpu-{index}",
        "attributes": {
            "model": {"string": "large" if is_large else "small"},
            "numa": {"int": index % 2},
        },
        "capacity": {"memory": {"value": "80Gi" if is_large else "16Gi"}},
    }
    if number % 8 != 1:
        device["attributes"]["serial"] = {"string": "ab"[index % 2]}
    if (number + index) % 7 == 0:
        device["taints"] = [
            {"key": "example.com/repair", "value": "fan", "effect": "NoSchedule"}
        ]
    return device


def _slice(node: str, driver: str, devices: list[Tree]) -> Tree:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    return _object("ResourceSlice", f"{node}-{driver}", spec)


def _object(kind: str, name: str, spec: Tree) -> Tree:
    metadata: Tree = {"name": name}
    return {"apiVersion": _GROUP, "kind": kind, "metadata": metadata, "spec": spec}
