"""All checks of ``quaymaster doctor``, in order."""

from collections.abc import Iterator

from quaymaster._base.errors import QuaymasterError
from quaymaster._surfaces.deploy.findings import Finding, missing
from quaymaster._surfaces.deploy.group_checks import groups_agree
from quaymaster._surfaces.deploy.local_checks import extenders_reached
from quaymaster._surfaces.deploy.patient import Patient
from quaymaster._surfaces.deploy.rights_check import rights_given
from quaymaster._surfaces.deploy.rivals import lease_held, nobody_else_schedules
from quaymaster._surfaces.deploy.server_checks import kinds_served, server_answers

__all__ = ["examine"]

_CHECKS = (
    server_answers,
    kinds_served,
    groups_agree,
    rights_given,
    lease_held,
    nobody_else_schedules,
)


def examine(patient: Patient) -> Iterator[Finding]:
    """Check a configuration and its cluster.

    If the server does not respond, its other checks are skipped.

    Args:
        patient: The configuration and the cluster.
    """
    try:
        for check in _CHECKS:
            yield from check(patient)
    except QuaymasterError as error:
        yield missing("server", f"does not answer: {error}")
    yield from extenders_reached(patient.config.extenders)
