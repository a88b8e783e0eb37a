"""Records of clusters, and their replay with another scheduler."""

from quaymaster._recording.clusters import ClusterRecorder
from quaymaster._recording.compared import (
    Agreement,
    ComparedDecision,
    Decided,
    ReplayProgress,
    ReplayResult,
)
from quaymaster._recording.files import RecordError, RecordWriter
from quaymaster._recording.live import Recorded, RecordProgress, record
from quaymaster._recording.reading import RecordedObjects, read_objects
from quaymaster._recording.replaying import replay
from quaymaster._recording.rerunning import RerunResult, rerun
from quaymaster._recording.simulating import record_simulation
from quaymaster._recording.traces.importing import (
    ImportedTrace,
    TraceFormat,
    import_trace,
)
from quaymaster._recording.usage import Course

__all__ = [
    "Agreement",
    "ClusterRecorder",
    "ComparedDecision",
    "Course",
    "Decided",
    "ImportedTrace",
    "RecordError",
    "RecordProgress",
    "RecordWriter",
    "Recorded",
    "RecordedObjects",
    "ReplayProgress",
    "ReplayResult",
    "RerunResult",
    "TraceFormat",
    "import_trace",
    "read_objects",
    "record",
    "record_simulation",
    "replay",
    "rerun",
]
