"""The error of templates."""

__all__ = ["GoTemplateError"]


class GoTemplateError(ValueError):
    """A template cannot be read, or an action cannot be evaluated.

    Attributes:
        line: Where it is, from 1.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
