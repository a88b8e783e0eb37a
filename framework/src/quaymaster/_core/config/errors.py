"""The errors of configurations."""

from collections.abc import Iterable

from quaymaster._base.errors import Problem, QuaymasterError

__all__ = ["ArgsError", "ConfigErrors", "ReloadError"]


class ConfigErrors(QuaymasterError, ValueError):
    """A configuration cannot be used; it reports all mistakes at once.

    Attributes:
        problems: One `Problem` per mistake, in the order in which they were found.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class ReloadError(QuaymasterError):
    """A changed configuration file could not be applied.

    Attributes:
        source: The file.
        digest: The digest of its content.
        problems: The mistakes, one line each, with the file and the place.
    """

    def __init__(self, source: str, digest: str, error: Exception) -> None:
        text = str(error)
        if not isinstance(error, QuaymasterError):
            text = f"{type(error).__name__}: {text}"
        self.source = source
        self.digest = digest
        self.problems = tuple(
            line if line.startswith(f"{source}: ") else f"{source}: {line}"
            for line in text.splitlines()
        )
        kept = f"{source}: not applied ({digest}), the old configuration stays in force"
        super().__init__("\n".join([f"{kept}:", *self.problems]))


class ArgsError(QuaymasterError, ValueError):
    """A plugin's arguments that break a rule which spans several fields.

    Yield these from a ``validate`` method of an arguments class::

        def validate(self) -> Iterator[ArgsError]:
            if self.low > self.high:
                yield ArgsError("low", f"expected at most high ({self.high})")

    Attributes:
        path: The field, from the object that is validated: ``shape[1].utilization``.
        message: The expected and the actual value.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message
