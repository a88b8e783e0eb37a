"""Builds the site from the pages as they are: see CONTRIBUTING.md."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.docs import navigation  # noqa: E402  (found by the line above)

project = "Quaymaster"
copyright = "the Quaymaster authors, Apache License 2.0"  # noqa: A001  (Sphinx's name)

extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = navigation.START
include_patterns = [f"{page}.md" for page in navigation.all_pages()]
exclude_patterns = [".*", "framework", "profiles", "tests", "uv.lock"]
myst_heading_anchors = 4
pygments_style = "tango"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_title = "Quaymaster"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "index.html"}
templates_path = ["templates"]
html_copy_source = False
html_show_sphinx = False
# A prompt is not copied, nor is what a command prints.
copybutton_prompt_text = "$ "


FILE = re.compile(r"^<!-- file: (\S+) -->\n```(\w+)\n", re.MULTILINE)


def name_files(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Show the name of a file above the block that has its text."""
    source[0] = FILE.sub(r"```{code-block} \2\n:caption: \1\n\n", source[0])


def add_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """Append to the start page, and to index pages, what Sphinx needs to navigate."""
    if page == navigation.START:
        source[0] += "".join(
            contents(part.pages, part.title) for part in navigation.parts()
        )
    elif page in navigation.INDEXES:
        source[0] += contents(navigation.below(page))


def contents(pages: "navigation.Mapping[str, str]", caption: str = "") -> str:
    lines = [f"{text} </{page}>" for page, text in pages.items()]
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *lines, "```", ""])


def setup(app: Sphinx) -> None:
    app.connect("source-read", name_files)
    app.connect("source-read", add_contents)
