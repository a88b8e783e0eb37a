"""What tests see of ``quaymaster._surfaces.deploy``."""

from quaymaster._surfaces.deploy.doctor import examine
from quaymaster._surfaces.deploy.findings import Finding, State
from quaymaster._surfaces.deploy.local_checks import port_free
from quaymaster._surfaces.deploy.patient import Patient
from quaymaster._surfaces.deploy.rights import Need, Right, rights_of
from quaymaster._surfaces.deploy.rules import rules_of

__all__ = [
    "Finding",
    "Need",
    "Patient",
    "Right",
    "State",
    "examine",
    "port_free",
    "rights_of",
    "rules_of",
]
