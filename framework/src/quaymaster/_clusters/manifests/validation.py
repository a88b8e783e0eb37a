"""How strictly unknown and duplicate fields are treated."""

import enum

__all__ = ["Validation"]


class Validation(enum.StrEnum):
    """What to do about unknown fields and duplicate keys.

    The values are those of ``kubectl --validate``.
    """

    STRICT = "strict"
    """They are errors."""

    WARN = "warn"
    """They are warnings, and ignored; the last value of a duplicate key counts."""

    IGNORE = "ignore"
    """They are ignored silently."""

    @classmethod
    def of(cls, text: str) -> "Validation":
        """Read a value of ``kubectl --validate``: these words, ``true`` or ``false``.

        Raises:
            ValueError: The text is not one of them.
        """
        return {"true": cls.STRICT, "false": cls.IGNORE}.get(text) or cls(text)
