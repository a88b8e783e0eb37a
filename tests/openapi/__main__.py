"""``python -m tests.openapi VERSION=MODULE...``: write the shipped table of fields.

VERSION is a minor version of Kubernetes, such as ``1.37``, and MODULE the folder of the
Go module ``k8s.io/kubernetes`` of that version, whose published OpenAPI is read
(``api/openapi-spec/swagger.json``). The versions come from the oldest on.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any, Final

from tests.openapi.gated_fields import GATED_FIELDS
from tests.openapi.gates import gate_defaults
from tests.openapi.table import make_table

TABLE: Final = (
    Path(__file__).parents[2] / "framework/src/quaymaster/_api/openapi/fields.json.gz"
)


def main() -> None:
    """Write the table."""
    modules = {
        version: Path(folder)
        for version, _, folder in (argument.partition("=") for argument in sys.argv[1:])
    }
    table = make_table(
        {version: _definitions(module) for version, module in modules.items()},
        {
            version: gate_defaults(module, version)
            for version, module in modules.items()
        },
        GATED_FIELDS,
    )
    text = json.dumps(table, sort_keys=True, separators=(",", ":"))
    # The time is set, so that equal tables are equal files.
    TABLE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    sys.stdout.write(f"{TABLE.name}: {TABLE.stat().st_size} bytes\n")


def _definitions(module: Path) -> dict[str, Any]:
    swagger = json.loads((module / "api/openapi-spec/swagger.json").read_bytes())
    definitions: dict[str, Any] = swagger["definitions"]
    return definitions


if __name__ == "__main__":
    main()
