"""The types of all fields of the API's objects, also of those not read here.

`fields.json.gz` is made from the API's published OpenAPI (k8s.io/kubernetes v1.36.2,
``api/openapi-spec/swagger.json``) by ``python -m tests.openapi``.
"""

from quaymaster._openapi.duplicates import Path, find_duplicates, path_text
from quaymaster._openapi.table import Reference, fields_of, structure_of
from quaymaster._openapi.unknown import UnknownField, find_unknown, unknown_field
from quaymaster._openapi.wrong import WrongValue, find_wrong

__all__ = [
    "Path",
    "Reference",
    "UnknownField",
    "WrongValue",
    "fields_of",
    "find_duplicates",
    "find_unknown",
    "find_wrong",
    "path_text",
    "structure_of",
    "unknown_field",
]
