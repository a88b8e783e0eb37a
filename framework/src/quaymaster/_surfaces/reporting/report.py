"""Makes the page of a report: one file, which needs no network."""

import base64
import gzip
import hashlib
import html
from collections.abc import Sequence
from importlib import metadata, resources
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.missing_packages import not_installed
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.recording.compared import ReplayResult
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.why.pending_groups import PendingSummary
from quaymaster._surfaces.reporting.columns import run_columns
from quaymaster._surfaces.reporting.group_tables import group_tables
from quaymaster._surfaces.reporting.metric_tables import metric_tables
from quaymaster._surfaces.reporting.replays import replay_columns
from quaymaster._surfaces.reporting.scaled_tables import scaled_tables
from quaymaster._surfaces.reporting.suggested import suggestions_document
from quaymaster._surfaces.reporting.tables import ReportTable

__all__ = [
    "ReportError",
    "assets",
    "check_installed",
    "live_page",
    "report",
    "report_document",
]

SCRIPTS: Final = (
    *("format.js", "table.js", "map.js", "charts.js", "details.js"),
    *(
        "suggestions.js",
        "state.js",
        "shares.js",
        "differences.js",
        "replay.js",
        "page.js",
    ),
)
_CHARTS: Final = ("bokeh.min.js", "bokeh-api.min.js")


class ReportError(QuaymasterError):
    """A report cannot be made."""


def report(
    *runs: ObservedRun,
    title: str = "Simulation",
    tables: Sequence[ReportTable] = (),
    replay: ReplayResult | None = None,
    steps: bool = False,
    prices: Prices | None = None,
    suggestions: PendingSummary | None = None,
) -> str:
    """Make a page that shows simulations: nodes, pods, time series, decisions.

    The page is one HTML file that loads nothing. It is the same for the same runs.

    Args:
        runs: What was observed; of several the page shows where they differ.
        title: The page's title.
        tables: What else the page is to show.
        replay: A replay to show: how its decisions compare, with the scores of both
            sides where they differ.
        steps: Whether the runs are states of one cluster, each after a step. Then the
            page opens on the last state, beside a map of the one before it.
        prices: Prices of nodes without an annotation, to show costs.
        suggestions: Changes that place the pending pods of the last run, as
            `quaymaster.simulation.explain_pending` returns them.

    Returns:
        The page.

    Raises:
        ReportError: The library that draws the charts is not installed.
    """
    document = report_document(
        runs,
        title=title,
        tables=tables,
        replay=replay,
        steps=steps,
        prices=prices,
        suggestions=suggestions,
    )
    return _page(title, _packed(msgspec.json.encode(document)))


def report_document(
    runs: Sequence[ObservedRun],
    *,
    title: str,
    tables: Sequence[ReportTable],
    replay: ReplayResult | None = None,
    steps: bool = False,
    prices: Prices | None = None,
    suggestions: PendingSummary | None = None,
) -> dict[str, object]:
    """Return what the page of a report reads, as plain data; see `report`."""
    return {
        "title": title,
        "version": metadata.version("quaymaster"),
        "runs": [run_columns(run, prices) for run in runs],
        "tables": [
            {
                "title": table.title,
                "columns": table.columns,
                "rows": table.rows,
                "failed": table.failed,
                "last": table.is_last,
            }
            for table in (
                *tables,
                *group_tables(runs),
                *scaled_tables(runs[-1:] if steps else runs),
                *metric_tables(runs),
            )
        ],
        "replay": replay and replay_columns(replay),
        "steps": steps,
        "suggestions": suggestions and suggestions_document(suggestions),
    }


def live_page() -> str:
    """Return the page that is served live, which loads its style and scripts."""
    return _static("workbench.html")


def assets(*, live: bool = False) -> tuple[str, str, str]:
    """Return the style, the script, and the script of the library for charts.

    Args:
        live: Whether they are for the page that is served live.

    Raises:
        ReportError: That library is not installed.
    """
    names = (*SCRIPTS, "workbench.js") if live else SCRIPTS
    script = "\n".join(map(_static, names))
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
        "DATA": _data("data", data),
        "LIBRARY": _data("library", _packed(library.encode())),
        "SCRIPT": f"<script>{script}</script>",
    }
    for name, text in parts.items():
        page = page.replace("{{" + name + "}}", text, 1)
    return page


def _data(name: str, packed: str) -> str:
    return f'<script type="application/gzip" id="{name}">{packed}</script>'


def _packed(content: bytes) -> str:
    # Without a time, so that equal runs make equal pages. In base64, no text can end
    # the script element around it.
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _static(name: str) -> str:
    folder = resources.files("quaymaster._surfaces.reporting") / "static"
    return (folder / name).read_text(encoding="utf-8")


def check_installed(*packages: str, extra: str) -> None:
    """Refuse what needs packages that are not installed.

    Args:
        packages: Their names, as they are imported.
        extra: The extra that brings them.

    Raises:
        ReportError: Some are not installed.
    """
    missing = [name for name in packages if _spec(name) is None]
    if missing:
        raise ReportError(not_installed(missing, extra))


def _spec(package: str) -> ModuleSpec | None:
    try:
        return find_spec(package)
    except ValueError:  # a placeholder may not be importable
        return None


def _chart_library() -> str:
    """The scripts of bokeh, read as files: importing the package takes a second."""
    check_installed("bokeh", extra="report")
    spec = _spec("bokeh")
    assert spec is not None, "it is installed"
    assert spec.origin is not None, "it is a package with a file"
    folder = Path(spec.origin).parent / "server" / "static" / "js"
    texts = ((folder / name).read_text(encoding="utf-8") for name in _CHARTS)
    return "\n".join(texts)
