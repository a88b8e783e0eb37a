"""What tests see of ``quaymaster._deploy``."""

from quaymaster._deploy.rights import Need, Right, rights_of
from quaymaster._deploy.rules import rules_of

__all__ = ["Need", "Right", "rights_of", "rules_of"]
