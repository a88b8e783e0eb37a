"""Writes our decisions of one case, as far as the plugins for them are installed."""

from quaymaster.scheduler import PluginRegistry
from tests.parity.cases import Case, Json
from tests.parity.cluster import Path
from tests.parity.coverage import missing_plugins, needed_plugins
from tests.parity.driver import play
from tests.parity.record import answerable, record

__all__ = ["emitted"]


def emitted(
    case: Case, registry: PluginRegistry, path: Path, *, partial: bool = False
) -> Json:
    """Play a case, and return its record; only its id if it is not covered.

    Args:
        case: The case.
        registry: The installed plugins.
        path: The hooks that judge nodes.
        partial: Whether to write fields that missing plugins contribute to.
    """
    missing = missing_plugins(registry)
    if needed_plugins(case, missing):
        return {"id": case.case_id}
    written = record(play(case, registry, path))
    return written if partial else answerable(written, missing)
