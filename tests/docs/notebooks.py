"""Executes the notebooks, and writes a page of each, which the site shows.

``python -m tests.docs.notebooks`` writes outputs and pages; with ``--check`` it prints
the files that would change, and its exit code is 1 if there are any.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

__all__ = ["NOTEBOOKS", "current"]

NOTEBOOKS: Final = Path(__file__).parents[2] / "docs" / "notebooks"

_SHOWN: Final = ("text/html", "text/plain")
"""Which form of an output is kept, the first that it has."""


def current() -> Mapping[Path, str]:
    """Execute all notebooks; return the texts of their files and pages."""
    texts = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
        # Other users of the machine cannot read this transport.
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc")
        NotebookClient(notebook, km=kernel, timeout=300).execute()
        notebook = _plain(notebook)
        texts[path] = nbformat.writes(notebook) + "\n"  # type: ignore[no-untyped-call]  # as above
        texts[path.with_suffix(".md")] = _page(path.name, notebook)
    return texts


def _plain(notebook: Any) -> Any:  # noqa: ANN401 - nbformat has no types
    """Return a notebook without times, names of versions, and second forms."""
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"cell-{number}", {}
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            form = next((form for form in _SHOWN if form in data), None)
            if form is not None:
                output["data"], output["metadata"] = {form: data[form]}, {}
    return notebook


def _page(name: str, notebook: Any) -> str:  # noqa: ANN401 - as above
    made = f"<!-- Made from {name}: python -m tests.docs.notebooks -->"
    link = f"This page is a [notebook]({name}), which you can download and execute."
    title, _, text = notebook.cells[0].source.partition("\n")
    parts = [title, made, link, text.strip()]
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += _outputs(cell)
    return "\n\n".join(filter(None, parts)) + "\n"


def _outputs(cell: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" in data:
            # A blank line would end the HTML in Markdown.
            lines = data["text/html"].splitlines()
            yield "\n".join(line for line in lines if line.strip())
        else:
            text = data.get("text/plain") or output.get("text", "")
            yield f"```text\n{text.rstrip()}\n```"


def _changed() -> dict[Path, str]:
    return {
        path: text
        for path, text in current().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


if __name__ == "__main__":
    changed = _changed()
    if "--check" in sys.argv:
        sys.exit("\n".join(f"not current: {path.name}" for path in changed) or 0)
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
