"""What is wrong with a text that is no YAML."""

from typing import Protocol

import yaml

__all__ = ["Mark", "YamlError", "describe", "error_at"]


class Mark(Protocol):
    """A place in a text, counted from 0."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class YamlError(ValueError):
    """A text that is no YAML: the message has line and column if they are known."""


def error_at(message: str, mark: Mark | None) -> YamlError:
    """An error at a place in the text, if it is known."""
    if mark is None:
        return YamlError(message)
    return YamlError(f"line {mark.line + 1}, column {mark.column + 1}: {message}")


def describe(error: yaml.YAMLError) -> YamlError:
    """What libyaml finds wrong."""
    if isinstance(error, yaml.reader.ReaderError):
        return YamlError(f"byte {error.position}: {error.reason}")
    if not isinstance(error, yaml.MarkedYAMLError):
        return YamlError(str(error))
    message = ", ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    return error_at(message, mark)
