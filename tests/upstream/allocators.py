"""Plays the allocation of devices to claims on one node after the other."""

import json
import re
from collections.abc import Iterable, Sequence

import attrs
import msgspec

from quaymaster import Node
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    AllocationResult,
    DeviceClass,
    ResourceClaim,
    ResourceClaimStatus,
    ResourceSlice,
    to_wire,
)
from tests.kit.internals.devices import (
    AllocatedDevices,
    AllocationError,
    Allocator,
    InvalidPoolsError,
    Inventory,
)
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    object_from,
)

__all__ = ["play"]

_REAL_LISTER = re.compile(r'deviceclass\.resource\.k8s\.io "[^"]+" not found')
_LISTER_OF_TESTS = ' "not found" not found'
"""What the lister of upstream's tests reports for a class that does not exist."""


@attrs.frozen
class _Made:
    """What a test gives to the constructor of an allocator."""

    inventory: Inventory
    allocated: AllocatedDevices
    classes: dict[str, DeviceClass]
    kubernetes: Kubernetes


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Make an allocator, and allocate devices with it.

    Raises:
        CallNotPlayedError: The case depends on a gate that cannot be simulated.
    """
    kubernetes = case.kubernetes()
    made: dict[int, _Made] = {}
    answers: list[Json | str] = []
    for call in case.calls:
        if call["call"] == "Allocator.Allocate":
            answers.append(_allocated(made[call["on"]], call))
            continue
        number = len(made)
        made[number] = _made(call, kubernetes)
        answers.append({"results": [{"on": number}, None]})
    return answers


def _made(call: Json, kubernetes: Kubernetes) -> _Made:
    _, features, allocated, classes, slices, _ = call["in"]
    if features["DerivedAttributes"]:
        raise CallNotPlayedError("derived attributes: the gate is not simulated")
    return _Made(
        Inventory(_slices(slices), kubernetes=kubernetes),
        AllocatedDevices(_allocations(allocated)),
        {device_class.name: device_class for device_class in _classes(classes)},
        kubernetes,
    )


def _classes(trees: Json) -> Iterable[DeviceClass]:
    for tree in trees.get("objs") or ():
        yield object_from(tree["DeviceClass"], DeviceClass)


def _slices(trees: Sequence[Json] | None) -> Iterable[ResourceSlice]:
    """Return the slices; tests give several the same name, so they get numbers."""
    for number, tree in enumerate(trees or ()):
        fields = tree["ResourceSlice"]
        name = f"{fields['metadata'].get('name', '')}-{number:03}"
        metadata = {**fields["metadata"], "name": name, "uid": name}
        yield object_from({**fields, "metadata": metadata}, ResourceSlice)


def _allocations(state: Json) -> Iterable[AllocationResult]:
    results = [_result(text) for text in state["AllocatedDevices"] or ()]
    amounts: Json = state.get("AggregatedCapacity") or {}
    for text in state.get("AllocatedSharedDeviceIDs") or ():
        result = _result(text)
        device = {
            key: value for key, value in json.loads(text).items() if key != "ShareID"
        }
        taken = amounts.pop(json.dumps(device, separators=(",", ":")), {})
        results.append({**result, "consumedCapacity": taken})
    for text, taken in amounts.items():
        results.append({**_result(text), "shareID": text, "consumedCapacity": taken})
    claim = {"status": {"allocation": {"devices": {"results": results}}}}
    allocation = object_from(claim, ResourceClaim).status.allocation
    assert allocation is not None
    yield allocation


def _result(text: str) -> Json:
    """Return the result of an allocation for a device that is named in JSON."""
    names = {key: name["value"] for key, name in json.loads(text).items()}
    result = {key.lower(): names[key] for key in ("Driver", "Pool", "Device")}
    share = {"shareID": names["ShareID"]} if "ShareID" in names else {}
    return {"request": "held", **result, **share}


def _allocated(made: _Made, call: Json) -> Json:
    _, node, claims = call["in"]
    allocator = Allocator(
        made.inventory,
        made.allocated,
        made.classes.get,
        [object_from(tree["ResourceClaim"], ResourceClaim) for tree in claims],
        kubernetes=made.kubernetes,
    )
    try:
        results = allocator.allocate(object_from(node["Node"], Node))
    except (AllocationError, InvalidPoolsError) as error:
        text = _REAL_LISTER.sub(_LISTER_OF_TESTS, str(error))
        return {"results": [None, {"error": text}]}
    if results is None:
        return {"results": [None, None]}
    return {"results": [list(map(_tree_of, results)), None]}


def _tree_of(allocation: AllocationResult) -> Json:
    claim = ResourceClaim(status=ResourceClaimStatus(allocation=allocation))
    text = msgspec.json.encode(to_wire(claim)["status"]["allocation"])
    tree: Json = json.loads(text)
    return tree
