"""The configuration in force, as a page, without its secrets.

Mirrors k8s.io/component-base v0.36, ``configz``.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from quaymaster._core.config.dump import dump_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._surfaces.operation.pages import Query, Reply, json_reply

__all__ = ["REDACTED", "configz", "redacted"]

REDACTED: Final = "[redacted]"

_SECRET: Final = re.compile("secret|token|passw|credential|key", re.IGNORECASE)
# These match `_SECRET`, but are label keys, file paths or names.
_HARMLESS: Final = re.compile("^key$|topologyKey|file$|names?$", re.IGNORECASE)


def configz(config: Callable[[], SchedulerConfig]) -> Callable[[Query], Reply]:
    """Return the page of a configuration.

    Args:
        config: Returns the configuration in force; any thread may call it.
    """

    def page(_query: Query) -> Reply:
        return json_reply({"componentconfig": redacted(dump_config(config()))})

    return page


def redacted(value: object) -> object:
    """Return a document in which `REDACTED` replaces possible secrets.

    These are the values of keys such as ``apiToken`` or ``keyData``, and the user and
    password in a URL.
    """
    if isinstance(value, Mapping):
        return {
            key: REDACTED if item and _is_secret(str(key)) else redacted(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"(?<=://)[^/@\s]+@", f"{REDACTED}@", value)
    return value


def _is_secret(key: str) -> bool:
    return bool(_SECRET.search(key)) and not _HARMLESS.search(key)
