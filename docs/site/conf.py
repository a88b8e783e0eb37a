"""Builds the site from the pages as they are: see CONTRIBUTING.md."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from pages import write_api  # noqa: E402  (found by the line above)

from tests.docs import navigation  # noqa: E402

project = "Quaymaster"
copyright = "the Quaymaster authors, Apache License 2.0"  # noqa: A001  (Sphinx's name)

extensions = ["myst_parser", "sphinx_copybutton", "pages"]
root_doc = navigation.START
include_patterns = [
    f"{page}.md" for page in (*navigation.all_pages(), *write_api(ROOT))
]
exclude_patterns = [
    ".*",
    "framework/*.*",
    "framework/src",
    "framework/tests",
    "framework/cel/src",
    "framework/cel/tests",
    "profiles",
    "tests",
    "uv.lock",
]
myst_heading_anchors = 4
add_module_names = False
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
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
