"""What tests see of ``quaymaster._surfaces.deploy``."""

from quaymaster._surfaces.deploy.doctor import examine
from quaymaster._surfaces.deploy.findings import Finding, State
from quaymaster._surfaces.deploy.group_checks import groups_agree, unserved_groups
from quaymaster._surfaces.deploy.local_checks import port_free
from quaymaster._surfaces.deploy.patient import Patient
from quaymaster._surfaces.deploy.rights import Need, Right, rights_of
from quaymaster._surfaces.deploy.rules import rules_of
from quaymaster._surfaces.deploy.server_checks import kinds_served

__all__ = [
    "Finding",
    "Need",
    "Patient",
    "Right",
    "State",
    "examine",
    "groups_agree",
    "kinds_served",
    "port_free",
    "rights_of",
    "rules_of",
    "unserved_groups",
]
