"""Checks CSI drivers.

Mirrors ``validateCSIDriverSpec`` (Kubernetes v1.37,
``pkg/apis/storage/validation/validation.go``). Fields with a default are filled in
before.
"""

from typing import Final

from quaymaster._api.objects import CSIDriver, CSIDriverSpec
from quaymaster._api.objects.report import Report

__all__ = ["check_csi_driver"]

_LIFECYCLE_MODES: Final = ("Persistent", "Ephemeral")
_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LEAST_PERIOD: Final = 10
_LEAST_EXPIRATION: Final = 600
_MOST_EXPIRATION: Final = 2**32


def check_csi_driver(driver: CSIDriver, report: Report) -> None:
    """Check policies and modes, the tokens and the period of updates."""
    spec, path = driver.spec, "spec"
    if spec.fs_group_policy is not None:
        where = f"{path}.fsGroupPolicy"
        report.one_of(spec.fs_group_policy, _GROUP_POLICIES, where)
    _check_tokens(spec, path, report)
    for mode in spec.volume_lifecycle_modes:
        report.one_of(mode, _LIFECYCLE_MODES, f"{path}.volumeLifecycleModes")
    period = spec.node_allocatable_update_period_seconds
    where = f"{path}.nodeAllocatableUpdatePeriodSeconds"
    report.at_least(period, where, _LEAST_PERIOD)


def _check_tokens(spec: CSIDriverSpec, path: str, report: Report) -> None:
    where = f"{path}.tokenRequests"
    audiences: set[str] = set()
    for index, request in enumerate(spec.token_requests):
        inside = f"{where}[{index}]"
        if request.audience in audiences:
            expected = "an audience that no other request has"
            report.expect(False, f"{inside}.audience", expected, request.audience)
            continue
        audiences.add(request.audience)
        report.in_range(
            request.expiration_seconds,
            f"{inside}.expirationSeconds",
            _LEAST_EXPIRATION,
            _MOST_EXPIRATION,
        )
    if spec.service_account_token_in_secrets is not None and not spec.token_requests:
        message = "expected tokenRequests beside it, got none"
        report.add(f"{path}.serviceAccountTokenInSecrets", message)
