"""Measures a document with its aliases expanded, and limits it.

Mirrors go.yaml.in/yaml v2.4, ``decode.go`` (``allowedAliasRatio``), which keeps small
texts from becoming huge; texts are limited, too.
"""

from typing import Final, NamedTuple

__all__ = ["Anchored", "Expansion"]

# The limits of ``allowedAliasRatio``: few aliases, and few values, are free.
_FREE_ALIASES: Final = 100
_FREE_VALUES: Final = 1_000
_FEW_VALUES: Final = 400_000
_MANY_VALUES: Final = 4_000_000
_RATIO_OF_FEW: Final = 0.99
_RATIO_OF_MANY: Final = 0.10
_LONGEST_REPEATED: Final = 100_000_000  # characters


class Anchored(NamedTuple):
    """A value with an anchor.

    Attributes:
        value: The value.
        values: How many values it consists of, itself included.
        characters: How many characters its scalars have.
    """

    value: object
    values: int
    characters: int


class Expansion:
    """Counts values and characters, repeated ones included."""

    __slots__ = ("_characters", "_repeated", "_repeated_characters", "_values")

    def __init__(self) -> None:
        self._values = 0
        self._characters = 0
        self._repeated = 0
        self._repeated_characters = 0

    def add(self, characters: int) -> None:
        """Count a value."""
        self._values += 1
        self._characters += characters

    def repeat(self, anchored: Anchored) -> bool:
        """Count an alias, and return whether the total is still within bounds."""
        self._values += 1 + anchored.values
        self._repeated += anchored.values
        self._characters += anchored.characters
        self._repeated_characters += anchored.characters
        if self._repeated_characters > _LONGEST_REPEATED:
            return False
        if self._repeated <= _FREE_ALIASES or self._values <= _FREE_VALUES:
            return True
        return self._repeated / self._values <= _allowed(self._values)

    def copy(self) -> "Expansion":
        """Copy the counts."""
        copied = Expansion()
        copied._values, copied._characters = self._values, self._characters
        return copied

    def since(self, begin: "Expansion", value: object) -> Anchored:
        """Measure a value by the counts since it began."""
        values = self._values - begin._values
        return Anchored(value, values, self._characters - begin._characters)


def _allowed(values: int) -> float:
    """Return the share of a document that aliases may repeat; it falls with size."""
    if values <= _FEW_VALUES:
        return _RATIO_OF_FEW
    if values >= _MANY_VALUES:
        return _RATIO_OF_MANY
    grown = (values - _FEW_VALUES) / (_MANY_VALUES - _FEW_VALUES)
    return _RATIO_OF_FEW - (_RATIO_OF_FEW - _RATIO_OF_MANY) * grown
