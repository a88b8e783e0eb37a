"""How strictly unknown and duplicate fields are taken."""

import enum

__all__ = ["Validation"]


class Validation(enum.StrEnum):
    """What happens to fields that nobody knows, and to keys that come twice.

    As ``kubectl --validate`` has it.
    """

    STRICT = "strict"
    """They are errors."""

    WARN = "warn"
    """They are told, and left out; of a key that comes twice the last value counts."""

    IGNORE = "ignore"
    """They are left out silently."""

    @classmethod
    def of(cls, text: str) -> "Validation":
        """Read a value of ``kubectl --validate``: these words, ``true`` or ``false``.

        Raises:
            ValueError: It is none of them.
        """
        return {"true": cls.STRICT, "false": cls.IGNORE}.get(text) or cls(text)
