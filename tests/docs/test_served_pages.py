"""Pages that start a server show its real responses."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.docs.navigation import ROOT, all_pages
from tests.docs.snippets import Command, read_page
from tests.docs.test_docs import squeezed

ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
BACKGROUND = " &"
ANYTHING = "..."
PAGES = [
    page
    for page in all_pages()
    if any(
        command.line.endswith(BACKGROUND)
        for command in read_page(ROOT / f"{page}.md").commands
    )
]


@contextmanager
def started(command: Command, folder: Path) -> Iterator[str]:
    """Run a server on a free port; check its output, and return its address."""
    program, *arguments = shlex.split(command.line.removesuffix(BACKGROUND))
    assert program == "quaymaster"
    with subprocess.Popen(
        [sys.executable, "-m", program, *arguments, "--bind", "127.0.0.1:0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            said = "".join(
                process.stdout.readline() for _ in command.output.splitlines()
            )
            found = ADDRESS.search(said)
            assert found, said
            shown = ADDRESS.sub(found[0], command.output)
            assert squeezed(said) == squeezed(shown)
            yield found[0]
        finally:
            process.terminate()


def check(command: Command, address: str) -> None:
    """Send a page's requests to a server, and compare the responses as JSON."""
    words = [ADDRESS.sub(address, word) for word in shlex.split(command.line)]
    assert words[0] == "curl"
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    expected, found = json.loads(command.output), json.loads(done.stdout)
    assert like(found, expected), f"{command.line}\n{done.stdout}"


def like(found: object, expected: object) -> bool:
    """Whether a document equals the page's, in which `ANYTHING` matches all values."""
    if expected == ANYTHING:
        return True
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(
            like(found[key], expected[key]) for key in expected
        )
    return found == expected


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("page", PAGES)
def test_a_server_answers_as_its_page_shows(page: str, tmp_path: Path) -> None:
    shown = read_page(ROOT / f"{page}.md")
    for name, text in shown.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    address = ""
    with ExitStack() as servers:
        for command in shown.commands:
            if command.line.endswith(BACKGROUND):
                address = servers.enter_context(started(command, tmp_path))
            else:
                check(command, address)


@pytest.mark.house
def test_some_pages_start_a_server() -> None:
    assert "docs/how-to/ask-over-http" in PAGES
