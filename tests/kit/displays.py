"""What a notebook displays of a result."""

__all__ = ["html_of"]


def html_of(result: object) -> str:
    """Return the HTML of a result, which notebooks read by this name."""
    text = result._repr_html_()  # type: ignore[attr-defined]  # every result has it
    assert isinstance(text, str)
    return text
