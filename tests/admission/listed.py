"""The recorded objects that differ because a rule is not checked.

``docs/reference/admission.md`` lists the rules.
"""

from typing import Final

__all__ = ["NOT_CHECKED"]

_PRIORITY: Final = "a priority without its class"
_SERVICES: Final = "addresses of Services"
NOT_CHECKED: Final = {
    "invalid-150": _PRIORITY,
    "application-308": _SERVICES,
    "application-310": _SERVICES,
    "application-312": _SERVICES,
    "application-316": _SERVICES,
}
"""Case -> the rule."""
