"""``python -m tests.openapi SWAGGER``: write the table of fields that is shipped.

SWAGGER is ``api/openapi-spec/swagger.json`` of the module ``k8s.io/kubernetes``.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Final

from tests.openapi.table import make_table

TABLE: Final = (
    Path(__file__).parents[2] / "framework/src/quaymaster/_api/openapi/fields.json.gz"
)


def main() -> None:
    """Write the table."""
    swagger = json.loads(Path(sys.argv[1]).read_bytes())
    text = json.dumps(make_table(swagger), sort_keys=True, separators=(",", ":"))
    # Without a time in it, equal tables are equal files.
    TABLE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    sys.stdout.write(f"{TABLE.name}: {TABLE.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
