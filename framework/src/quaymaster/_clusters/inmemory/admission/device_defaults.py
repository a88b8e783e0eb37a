"""Defaults of device claims.

Mirrors ``pkg/apis/resource/v1/defaults.go``, and what
``pkg/registry/resource/resourceslice/strategy.go`` drops (Kubernetes v1.37).
"""

from typing import TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
)

__all__ = ["default_claim_of_devices"]

RequestT = TypeVar("RequestT", ExactDeviceRequest, DeviceSubRequest)


def default_claim_of_devices(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    """Return the spec with an allocation mode, a count if needed, and operators."""
    requests = tuple(map(_request, spec.devices.requests))
    if requests == spec.devices.requests:
        return spec
    return replace(spec, devices=replace(spec.devices, requests=requests))


def _request(request: DeviceRequest) -> DeviceRequest:
    exactly = request.exactly
    return replace(
        request,
        exactly=None if exactly is None else _counted(exactly),
        first_available=tuple(map(_counted, request.first_available)),
    )


def _counted(request: RequestT) -> RequestT:
    mode = request.allocation_mode or "ExactCount"
    count = request.count
    # Not for ``All``, for which a count is an error.
    if mode == "ExactCount" and not count:
        count = 1
    tolerations = tuple(
        replace(toleration, operator=toleration.operator or "Equal")
        for toleration in request.tolerations
    )
    return replace(request, allocation_mode=mode, count=count, tolerations=tolerations)
