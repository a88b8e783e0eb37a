"""``python -m tests.releasing.licences``: list the licences of all dependencies.

Only what users install counts: what our distributions require, with all their extras,
and what that requires in turn. The tools of developers are not among them. The exit
code is 1 if a licence is unknown, or asks users to publish their own code.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

__all__ = ["is_accepted", "licence_of", "licences"]

_OWN: Final = ("quaymaster", "kubernetes-cel")
_DEVELOPERS: Final = "quaymaster-workspace"
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
    """Yield the name and the licence of each distribution that users may install."""
    installed = {
        canonicalize_name(each.metadata["Name"]): each for each in distributions()
    }
    own = {name for name in installed if name.startswith(_OWN)} - {_DEVELOPERS}
    for name in sorted(_required_by(own, installed) - own):
        yield installed[name].metadata["Name"], licence_of(installed[name])


def _required_by(
    own: set[NormalizedName], installed: dict[NormalizedName, Distribution]
) -> set[NormalizedName]:
    """Return the names of all that ``own`` requires, and of what that requires."""
    wanted = [
        (name, extra) for name in own for extra in ["", *_extras(installed[name])]
    ]
    visited: set[tuple[NormalizedName, str]] = set()
    while wanted:
        name, extra = wanted.pop()
        if name not in installed or (name, extra) in visited:
            continue
        visited.add((name, extra))
        for text in installed[name].requires or []:
            requirement = Requirement(text)
            if not requirement.marker or requirement.marker.evaluate({"extra": extra}):
                target = canonicalize_name(requirement.name)
                wanted += [(target, each) for each in ["", *requirement.extras]]
    return {name for name, _ in visited}


def _extras(distribution: Distribution) -> list[str]:
    return distribution.metadata.get_all("Provides-Extra") or []


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
