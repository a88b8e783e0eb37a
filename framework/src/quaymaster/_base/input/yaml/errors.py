"""Errors of texts that are not YAML."""

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
    """A text is not YAML: the message has line and column if they are available."""


def error_at(message: str, mark: Mark | None) -> YamlError:
    """Make an error at a place in the text, if the place is available."""
    if mark is None:
        return YamlError(message)
    return YamlError(f"line {mark.line + 1}, column {mark.column + 1}: {message}")


def describe(error: yaml.YAMLError) -> YamlError:
    """Convert an error of libyaml."""
    if isinstance(error, yaml.reader.ReaderError):
        return YamlError(f"byte {error.position}: {error.reason}")
    if not isinstance(error, yaml.MarkedYAMLError):
        return YamlError(str(error))
    message = ", ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    return error_at(message, mark)
