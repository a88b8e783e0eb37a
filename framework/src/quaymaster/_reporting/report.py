"""Makes the page of a report: one file, which needs no network."""

import base64
import gzip
import hashlib
import html
from collections.abc import Sequence
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import attrs
import msgspec

from quaymaster._errors import QuaymasterError
from quaymaster._reporting.columns import run_columns
from quaymaster._simulation.observed import ObservedRun

__all__ = ["ReportError", "ReportTable", "assets", "check_charts", "report"]

SCRIPTS: Final = (
    *("format.js", "table.js", "map.js", "charts.js"),
    *("details.js", "differences.js", "page.js"),
)
_CHARTS: Final = ("bokeh.min.js", "bokeh-api.min.js")


class ReportError(QuaymasterError):
    """A report cannot be made."""


@attrs.frozen(kw_only=True)
class ReportTable:
    """A table that a report shows beside what it shows of the runs.

    Attributes:
        title: Its heading.
        columns: The headings of its columns.
        rows: The cells of each row: texts and numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]


def report(
    *runs: ObservedRun, title: str = "Simulation", tables: Sequence[ReportTable] = ()
) -> str:
    """Make a page that shows simulations: nodes, pods, time series, decisions.

    The page is one HTML file that loads nothing. It is the same for the same runs.

    Args:
        runs: What was observed; of several the page shows where they differ.
        title: The page's title.
        tables: What else the page is to show.

    Returns:
        The page.

    Raises:
        ReportError: The library that draws the charts is not installed.
    """
    document = {
        "title": title,
        "version": metadata.version("quaymaster"),
        "runs": [run_columns(run) for run in runs],
        "tables": [
            {"title": one.title, "columns": one.columns, "rows": one.rows}
            for one in tables
        ],
    }
    packed = gzip.compress(msgspec.json.encode(document), mtime=0)
    return _page(title, base64.b64encode(packed).decode())


def assets() -> tuple[str, str, str]:
    """Return the style, the script, and the script of the library for charts.

    Raises:
        ReportError: That library is not installed.
    """
    script = "\n".join(map(_static, SCRIPTS))
    return _static("page.css"), script, _chart_library()


def _page(title: str, data: str) -> str:
    style, script, library = assets()
    hashes = " ".join(map(_hash, (library, script)))
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    page = _static("page.html")
    parts = {
        "TITLE": html.escape(title),
        "POLICY": policy,
        "STYLE": style,
        "DATA": f'<script type="application/gzip" id="data">{data}</script>',
        "LIBRARY": f"<script>{library}</script>",
        "SCRIPT": f"<script>{script}</script>",
    }
    for name, text in parts.items():
        page = page.replace("{{" + name + "}}", text, 1)
    return page


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _static(name: str) -> str:
    folder = resources.files("quaymaster._reporting") / "static"
    return (folder / name).read_text(encoding="utf-8")


def check_charts() -> Path:
    """Return the folder of the library for charts, which a report needs.

    Raises:
        ReportError: It is not installed.
    """
    try:
        spec = find_spec("bokeh")
    except ValueError:  # what stands for it says that it is not there
        spec = None
    if spec is None or spec.origin is None:
        text = "a report needs what is not installed: bokeh"
        raise ReportError(f"{text} (pip install 'quaymaster[report]')")
    return Path(spec.origin).parent / "server" / "static" / "js"


def _chart_library() -> str:
    """The scripts of bokeh, read as files: importing the package takes a second."""
    folder = check_charts()
    # What ends a script element stands in comments and texts of the library only.
    return "\n".join(
        (folder / name).read_text(encoding="utf-8").replace("</script", "<\\/script")
        for name in _CHARTS
    )
