"""``python -m tests.releasing.licences``: list the licences of all dependencies.

The exit code is 1 if a licence is unknown, or asks users to publish their own code.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from typing import Final

__all__ = ["is_accepted", "licence_of", "licences"]

_OWN: Final = ("quaymaster", "kubernetes-cel")
_TOOLS: Final = ("codespell",)  # developers run them, and nothing imports them
_REFUSED: Final = (
    "AGPL",
    "GPL-2",
    "GPL-3",
    "GNU General",
    "GNU Affero",
    "SSPL",
    "BUSL",
)
_ALLOWED: Final = ("LGPL", "Lesser General", "with classpath")
_CLASSIFIER: Final = "License :: "


def licences() -> Iterator[tuple[str, str]]:
    """Yield the name and the licence of each installed distribution."""
    found = {each.metadata["Name"]: licence_of(each) for each in distributions()}
    for name in sorted(found, key=str.lower):
        if not name.startswith(_OWN) and name not in _TOOLS:
            yield name, found[name]


def licence_of(distribution: Distribution) -> str:
    """Return the licence of a distribution; empty if it states none."""
    metadata = distribution.metadata
    expression = _first(distribution, "License-Expression")
    classifiers = [
        text.removeprefix(_CLASSIFIER).removeprefix("OSI Approved :: ")
        for text in metadata.get_all("Classifier") or []
        if text.startswith(_CLASSIFIER) and text != f"{_CLASSIFIER}OSI Approved"
    ]
    text = _first(distribution, "License").strip().partition("\n")[0]
    return expression or ", ".join(classifiers) or text


def _first(distribution: Distribution, field: str) -> str:
    values: list[str] = distribution.metadata.get_all(field) or [""]
    return values[0]


def is_accepted(licence: str) -> bool:
    """Return whether users may install a package without publishing their code."""
    alternatives = licence.replace(" OR ", "\n").split("\n")
    return bool(licence) and any(map(_is_free, alternatives))


def _is_free(licence: str) -> bool:
    is_weak = any(word in licence for word in _ALLOWED)
    return is_weak or not any(word in licence for word in _REFUSED)


def main() -> int:
    """Print the list."""
    wrong = 0
    for name, licence in licences():
        is_fine = is_accepted(licence)
        wrong += not is_fine
        mark = "" if is_fine else "  <- not accepted"
        sys.stdout.write(f"{name}: {licence or 'unknown'}{mark}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
