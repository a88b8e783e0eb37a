"""The data of a report's page."""

import base64
import gzip
import json
import re
from typing import Any

__all__ = ["shown_by"]


def shown_by(page: str) -> dict[str, Any]:
    """Return what a browser reads from a page.

    Args:
        page: The page, as its file has it.
    """
    found = re.search(r'<script type="application/gzip" id="data">([^<]+)<', page)
    assert found is not None
    shown: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return shown
