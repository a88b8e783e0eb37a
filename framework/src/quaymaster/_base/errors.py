"""The errors that the framework raises on purpose.

Every error derives from `QuaymasterError`, reads as one line (where, what was expected,
what the input had) and carries its parts as attributes.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

__all__ = [
    "EndlessLoopError",
    "KindError",
    "ManifestErrors",
    "MissingPackageError",
    "ObjectError",
    "ObserverError",
    "PluginError",
    "Problem",
    "QuantityError",
    "QuaymasterError",
    "SelectorError",
    "TimeError",
    "UnknownObjectionError",
    "VerificationError",
    "counted",
    "escaped",
    "listed",
    "one_line",
]

_LONGEST_PART: Final = 1000
_SHOWN: Final = 5
"""How many differences a message lists; there may be as many as nodes."""


class QuaymasterError(Exception):
    """The base of all errors that the framework raises on purpose."""


class MissingPackageError(QuaymasterError, ImportError):
    """A package that an operation needs is not installed."""


class EndlessLoopError(QuaymasterError):
    """Virtual time stands still: plugins cause each other's calls without end."""


class KindError(QuaymasterError):
    """A declared kind of objects has an invalid name, version or field."""


class ObserverError(QuaymasterError):
    """An observer of hooks cannot be installed or used."""


class PluginError(QuaymasterError):
    """A plugin broke the contract of one of its hooks.

    Attributes:
        plugin: The plugin's name.
        hook: The hook.
        of_hook: The message without the plugin, for texts that name it already.
    """

    def __init__(self, plugin: str, hook: str, problem: str) -> None:
        self.of_hook = f"{hook} {problem}"
        super().__init__(f"plugin '{plugin}': {self.of_hook}")
        self.plugin = plugin
        self.hook = hook


class UnknownObjectionError(ValueError, QuaymasterError):
    """A waiting pod is allowed or rejected for a plugin that it does not wait for.

    Attributes:
        pod: The pod's key.
        plugin: The plugin's name, as the caller gave it.
        expected: The plugins that the pod waits for.
    """

    def __init__(
        self, pod: str, verb: str, plugin: str, expected: Iterable[str]
    ) -> None:
        self.pod = pod
        self.plugin = plugin
        self.expected = tuple(sorted(expected))
        names = ", ".join(self.expected)
        super().__init__(
            f"{verb}: pod {pod} does not wait for plugin {plugin!r}, "
            f"expected one of: {names}"
        )


class QuantityError(ValueError, QuaymasterError):
    """A text is not a Kubernetes quantity.

    Attributes:
        text: The text.
    """

    def __init__(self, text: object) -> None:
        super().__init__(
            "expected a quantity (a number with an optional suffix, such as 500m, 2, "
            f"1.5Gi or 1e3), got {text!r}"
        )
        self.text = text


class TimeError(ValueError, QuaymasterError):
    """A text is not an RFC 3339 time.

    Attributes:
        text: The text.
    """

    def __init__(self, text: object) -> None:
        super().__init__(
            f"expected a time such as 2026-01-31T12:00:00Z (RFC 3339), got {text!r}"
        )
        self.text = text


class SelectorError(ValueError, QuaymasterError):
    """A selector cannot be evaluated by Kubernetes.

    Args:
        problems: All that is wrong with the selector, one line each.
        text: Kubernetes' own message. By default, the message lists the problems.

    Attributes:
        problems: All that is wrong with the selector, one line each.
    """

    def __init__(self, problems: Iterable[str], text: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__(text or "; ".join(self.problems))


@attrs.frozen(kw_only=True)
class Problem:
    """One mistake in the user's input.

    Attributes:
        where: The file, and the document and object in it, if they are available.
        path: The field, such as ``spec.containers[0].image``; may be empty.
        message: What was expected and what the input had.
    """

    where: str = ""
    path: str = ""
    message: str

    def __str__(self) -> str:
        return one_line(self.where, self.path, self.message)


def one_line(*parts: str) -> str:
    """Join the parts that are not empty, each cut to a readable length.

    Line breaks and control characters are escaped as in Python's texts.
    """
    return ": ".join(_shown(part) for part in parts if part)


def counted(count: int, what: str) -> str:
    """Return ``1 node`` or ``2 nodes``."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and how many more there are: ``a, b and 2 more``."""
    shown, more = ", ".join(names[:most]), len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def _shown(part: str) -> str:
    if len(part) > _LONGEST_PART:
        part = f"{part[:_LONGEST_PART]}..."
    return escaped(part)


def escaped(text: str) -> str:
    """Escape characters that a terminal would obey, such as escape sequences."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else repr(letter)[1:-1] for letter in text
    )


class _Problems(QuaymasterError):
    """Several problems, raised as one error."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class ObjectError(_Problems, ValueError):
    """An object has fields of the wrong type or form.

    Attributes:
        problems: Everything that is wrong with it, one `Problem` per field.
    """


class ManifestErrors(_Problems):
    """Some files could not be loaded, so no file was loaded.

    Attributes:
        problems: All problems, in the order of the files.
    """


class VerificationError(QuaymasterError):
    """Two ways to make the same decision differ; see ``SchedulerOptions.verify``.

    The error has one of four causes. A batch twin differs from its scalar hook. The
    answers of a plugin depend on more than its scope and its ``sign_pod`` cover.
    ``sign_pod`` depends on more than the pod. ``verify_reserve`` does not find what
    ``reserve`` has taken.

    Attributes:
        pod: The pod's key.
        differences: The differences, one line for each node.
    """

    def __init__(
        self,
        pod: str,
        differences: Iterable[str],
        what: str = "the decision is not the one of the scalar hooks",
    ) -> None:
        self.pod = pod
        self.differences = tuple(differences)
        more = len(self.differences) - _SHOWN
        shown = list(self.differences[:_SHOWN])
        if more > 0:
            shown.append(f"and {more} more")
        super().__init__(f"pod '{pod}': {what}: " + "; ".join(shown))
