"""Reads the documents of a YAML stream."""

import mmap
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from quaymaster._base.input.yaml.errors import YamlError, describe
from quaymaster._base.input.yaml.values import Duplicate, Values

__all__ = ["Document", "documents", "read"]


class Document(NamedTuple):
    """One document of a stream.

    Attributes:
        value: Its value; None if it is empty.
        duplicates: The keys that a mapping in it has more than once.
    """

    value: object
    duplicates: tuple[Duplicate, ...] = ()


def documents(text: bytes, *, unique_keys: bool = False) -> Iterator[object]:
    """Read the documents of a YAML stream one by one; an empty one is None.

    Args:
        text: The stream.
        unique_keys: Whether a key that a mapping has twice is an error.

    Raises:
        YamlError: The text is not YAML from some place on.
    """
    for document in read(text):
        if unique_keys and document.duplicates:
            first = document.duplicates[0]
            place = f"line {first.line}, column {first.column}"
            raise YamlError(f"{place}: the key {first.path[-1]!r} occurs twice")
        yield document.value


def read(text: bytes | mmap.mmap) -> Iterator[Document]:
    """Read the documents of a YAML stream one by one.

    Raises:
        YamlError: The text is not YAML from some place on.
    """
    try:
        parser = yaml.CSafeLoader(text)
        try:
            parser.get_event()  # the stream starts
            while parser.check_event(yaml.DocumentStartEvent):
                parser.get_event()
                values = Values()
                value = values.build(parser.get_event)
                parser.get_event()  # the document ends
                yield Document(value, tuple(values.duplicates))
        finally:
            parser.dispose()
    except yaml.YAMLError as error:
        raise describe(error) from error
