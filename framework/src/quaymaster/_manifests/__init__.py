"""Objects from manifests: files, directories and standard input.

YAML and JSON, several documents or values in one file, lists (``kind: List``) and whole
dumps (``kubectl get pods -o json``) can be mixed. Kinds that scheduling does not know
are counted and left out. Everything that is wrong is told at once, with its place.
"""

from quaymaster._errors import ManifestErrors, Problem
from quaymaster._manifests.custom_kinds import shipped_mappings
from quaymaster._manifests.load import load
from quaymaster._manifests.loaded import Loaded, Source
from quaymaster._manifests.validation import Validation

__all__ = [
    "Loaded",
    "ManifestErrors",
    "Problem",
    "Source",
    "Validation",
    "load",
    "shipped_mappings",
]
