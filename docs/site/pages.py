"""The Sphinx extension for the pages.

It makes the pages of the public modules, adds the navigation, shows the names of files
above their blocks, and links names in code to where they are described.
"""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

from tests.docs import navigation
from tests.docs.api import api_pages
from tests.docs.references import API, destinations

MODULES = "docs/reference/modules"
TUTORIAL = "docs/tutorial/README"
# Their names are those of private classes more often than not.
UNLINKED = ("docs/explanation/", "CHANGELOG", "CONTRIBUTING")

_FILE = re.compile(
    r"^<!-- file: (?P<name>\S+) -->\n```(?P<language>\w+)\n(?P<text>.*?)^```\n",
    re.MULTILINE | re.DOTALL,
)
# Words such as `nodes` mean the word, mostly, and not the function.
_DISTINCT = re.compile(r"([A-Z]\w*[a-z]\w*|\w+[._]\w[\w.]*)(?:\(.*\))?", re.DOTALL)


def write_api(root: Path) -> list[str]:
    """Write the pages of the public modules; return their names."""
    folder = root / API
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for module, text in api_pages().items():
        (folder / f"{module}.md").write_text(text, encoding="utf-8")
    return [f"{API}/{module}" for module in api_pages()]


def name_files(_app: Sphinx, page: str, source: list[str]) -> None:
    """Show the name of a file above its text, and what is new in it."""
    before = _files_before(page)

    def block(found: re.Match[str]) -> str:
        new = _new_lines(before.get(found["name"], ""), found["text"])
        options = [f":caption: `{found['name']}`"]
        options += [f":emphasize-lines: {new}"] if new else []
        head = "\n".join([f"```{{code-block}} {found['language']}", *options])
        return f"{head}\n\n{found['text']}```\n"

    source[0] = _FILE.sub(block, source[0])


def _files_before(page: str) -> Mapping[str, str]:
    """The files that a reader of the tutorial has, who comes to a page."""
    steps = list(navigation.below(TUTORIAL))
    files: dict[str, str] = {}
    for step in steps[: steps.index(page)] if page in steps else ():
        for found in _FILE.finditer(navigation.text_of(step)):
            files[found["name"]] = found["text"]
    return files


def _new_lines(before: str, after: str) -> str:
    """The numbers of the lines that are new or changed, from 1; none if all are."""
    if not before:
        return ""
    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), False)
    numbers = [
        str(number + 1)
        for what, _, _, first, last in matcher.get_opcodes()
        if what in ("insert", "replace")
        for number in range(first, last)
    ]
    return ",".join(numbers)


def add_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """Append to the start page, and to index pages, what Sphinx needs to navigate."""
    if page == navigation.START:
        source[0] += "".join(
            _contents(part.pages, part.title) for part in navigation.parts()
        )
    elif page == MODULES:
        source[0] += _contents({f"{API}/{module}": module for module in api_pages()})
    elif page in navigation.INDEXES:
        source[0] += _contents(navigation.below(page))


def _contents(pages: Mapping[str, str], caption: str = "") -> str:
    lines = [f"{text} </{page}>" for page, text in pages.items()]
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *lines, "```", ""])


def link_names(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Make code that is a name of the product a link to its description."""
    if page.startswith(UNLINKED):
        return
    for literal in list(tree.findall(nodes.literal)):
        code = literal.astext()
        found = _DISTINCT.fullmatch(code)
        name = found[1] if found else code if page == MODULES else ""
        name = re.sub(r"^handle\.", "Handle.", name)
        if name and not _is_linked(literal) and not _is_foreign(literal):
            link = _link(app, page, name, literal.deepcopy())
            if link is not None:
                literal.replace_self(link)


def _is_linked(node: nodes.Node) -> bool:
    while (node := node.parent) is not None:
        if isinstance(node, (nodes.reference, nodes.title)):
            return True
    return False


def _is_foreign(node: nodes.Node) -> bool:
    """Whether this is in a column of a table that says how others call it."""
    while node is not None and not isinstance(node, nodes.entry):
        node = node.parent
    if node is None:
        return False
    column = node.parent.index(node)
    table = node.parent.parent.parent
    heads = [row for head in table.findall(nodes.thead) for row in head.children]
    return any(row[column].astext() in ("Go", "upstream") for row in heads)


def find_type(
    app: Sphinx, _env: BuildEnvironment, sought: nodes.Element, text: nodes.Element
) -> nodes.reference | None:
    """Find a type of a signature by its bare name, which is public once."""
    if sought.get("refdomain") != "py":
        return None
    name = sought["reftarget"].rpartition(".")[2]
    return _link(app, sought["refdoc"], name, text)


def _link(
    app: Sphinx, page: str, name: str, text: nodes.Node
) -> nodes.reference | None:
    if name not in destinations():
        return None
    there, anchor = destinations()[name]
    described = app.env.get_domain("py").data["objects"]
    if there.startswith(API) and anchor not in described and "-" not in anchor:
        anchor = anchor.rpartition(".")[0]  # its class says what it is
    if there == page and not anchor:
        return None
    return make_refnode(app.builder, page, there, anchor, text)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", name_files)
    app.connect("source-read", add_contents)
    app.connect("doctree-resolved", link_names)
    app.connect("missing-reference", find_type)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
