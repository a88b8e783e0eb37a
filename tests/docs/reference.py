"""Generates the reference pages: extension points, modules, plugins, files.

``python -m tests.docs.reference`` writes them; a test checks that they are up to date.
"""

import ast
import inspect
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from quaymaster import hookspecs
from quaymaster.hookspecs import EXTENSION_POINTS, ExtensionPoint
from quaymaster.scheduler import PluginRegistry
from tests.docs import experiment_files, provisioners, results, scenario_files
from tests.docs.conformance import CONFORMANCE, conformance_page
from tests.docs.modules import modules_page
from tests.kit.internals.config import SCHEMA_FILE

__all__ = [
    "FOLDER",
    "MODULES",
    "PLUGINS",
    "modules_page",
    "pages",
    "plugin_index",
    "prose",
    "slug",
]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference" / "extension-points"
PLUGINS = ROOT / "docs" / "reference" / "plugins.md"
MODULES = ROOT / "docs" / "reference" / "modules.md"

_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes):$")


def pages() -> Mapping[str, str]:
    """Return file name -> text, for every page of the folder."""
    made = {f"{slug(point)}.md": _page(point) for point in EXTENSION_POINTS}
    return {"README.md": _index(), **made}


def plugin_index() -> str:
    """Return the page that lists the built-in plugins, each with its README."""
    registry = PluginRegistry.discover()
    rows = []
    for readme in sorted((ROOT / "plugins").glob("*/README.md")):
        purpose = readme.read_text(encoding="utf-8").split("\n\n")[1]
        project = tomllib.loads((readme.parent / "pyproject.toml").read_text())
        [name] = project["project"]["entry-points"]["quaymaster.plugins"]
        points = registry[name].extension_points
        listed = ", ".join(f"`{point.key}`" for point in points if point.key)
        link = f"../../plugins/{readme.parent.name}/README.md"
        rows.append(f"| [{name}]({link}) | {listed} | {' '.join(purpose.split())} |")
    table = "\n".join(rows)
    return (
        "# Built-in plugins\n\n"
        "Each page says what the plugin decides, its arguments, the events that wake "
        "its pods, and where it differs from upstream.\n\n"
        f"| plugin | extension points | what it does |\n| --- | --- | --- |\n{table}\n"
    )


def write() -> None:
    """Write all pages, and remove files that are no longer generated."""
    PLUGINS.write_text(plugin_index(), encoding="utf-8")
    MODULES.write_text(modules_page(), encoding="utf-8")
    # It needs this module, by way of the pages of the site.
    from tests.docs.signatures import SIGNATURES, signatures_page  # noqa: PLC0415

    SIGNATURES.write_text(signatures_page(), encoding="utf-8")
    provisioners.PAGE.write_text(provisioners.provisioners_page(), encoding="utf-8")
    CONFORMANCE.write_text(conformance_page(), encoding="utf-8")
    scenario_files.PAGE.write_text(scenario_files.scenario_page(), encoding="utf-8")
    experiments = experiment_files.experiment_page()
    experiment_files.PAGE.write_text(experiments, encoding="utf-8")
    tunings = experiment_files.tuning_page()
    experiment_files.TUNING_PAGE.write_text(tunings, encoding="utf-8")
    results.PAGE.write_text(results.results_page(), encoding="utf-8")
    _write_folder(results.SCHEMAS, results.result_schemas())
    _write_folder(FOLDER, pages())
    SCHEMA_FILE.write_text(results.config_schema_text(), encoding="utf-8")


def _write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def slug(point: ExtensionPoint) -> str:
    return point.hook.replace("_", "-")


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def _index() -> str:
    rows = "\n".join(
        f"| [{point.spec.__name__}]({slug(point)}.md) | {_config_name(point)} | "
        f"{', '.join(f'`{hook}`' for hook in point.hooks)} | "
        f"{_first_line(point.spec)} |"
        for point in EXTENSION_POINTS
    )
    intro = prose(inspect.getdoc(inspect.getmodule(hookspecs.FilterPlugin)) or "")
    return (
        "# Extension points\n\n"
        "These pages are made from the hookspecs in "
        "`quaymaster/_core/contract/hookspecs.py`.\n\n"
        f"{intro}\n\n"
        "| protocol | in a profile | hooks | what it is for |\n"
        "| --- | --- | --- | --- |\n"
        f"{rows}\n"
    )


def _config_name(point: ExtensionPoint) -> str:
    name = point.key or point.field
    return f"`{name}`" if name else "for every plugin"


def _page(point: ExtensionPoint) -> str:
    where = "Read of every plugin that a profile enables anywhere."
    if point.key:
        where = f"In a profile: `plugins.{point.key}`."
    elif point.field:
        where = f"In a profile: `{point.field}`."
    hooks = "\n\n".join(_hook(point, hook) for hook in point.hooks)
    purpose = prose(inspect.getdoc(point.spec) or "")
    return f"# {point.spec.__name__}\n\n{purpose}\n\n{where}\n\n{hooks}\n"


def _hook(point: ExtensionPoint, hook: str) -> str:
    text = prose(inspect.getdoc(getattr(point.spec, hook)) or "")
    age = point.age(hook)
    history = f"Since {age.since}."
    if age.deprecated is not None:
        history += f" **Deprecated**: {age.deprecated}."
    signature = f"```text\n{_signature(point, hook)}\n```"
    return f"## `{hook}`\n\n{signature}\n\n{history}\n\n{text}"


def _signature(point: ExtensionPoint, hook: str) -> str:
    """Return the signature from the source, with the names of its types."""
    [spec] = ast.parse(inspect.getsource(point.spec)).body
    found = next(
        node
        for node in ast.walk(spec)
        if isinstance(node, ast.FunctionDef) and node.name == hook
    )
    assert found.returns is not None
    arguments = ",\n".join(f"    {ast.unparse(arg)}" for arg in found.args.args)
    return f"def {hook}(\n{arguments},\n) -> {ast.unparse(found.returns)}"


def prose(docstring: str) -> str:
    """Convert a docstring in Google style to Markdown."""
    lines: list[str] = []
    in_section = False
    for line in docstring.replace("``", "`").splitlines():
        section = _SECTION.match(line)
        if section:
            in_section = True
            lines.append(f"**{section[1]}**\n")
        elif re.match(r"^    [A-Za-z_]+: ", line):
            name, _, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}")
        elif in_section and line.startswith(" "):
            lines.append(
                ("  " if lines[-1].startswith(("-", "  ")) else "") + line.strip()
            )
        elif line.endswith("::"):
            lines.append(line[:-1])
        else:
            lines.append(line)
    return "\n".join(lines).strip()


if __name__ == "__main__":
    write()
