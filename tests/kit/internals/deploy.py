"""What tests see of ``quaymaster._deploy``."""

from quaymaster._deploy.doctor import examine
from quaymaster._deploy.findings import Finding, State
from quaymaster._deploy.local_checks import port_free
from quaymaster._deploy.patient import Patient
from quaymaster._deploy.rights import Need, Right, rights_of
from quaymaster._deploy.rules import rules_of

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
