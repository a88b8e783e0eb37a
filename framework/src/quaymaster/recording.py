"""Records of clusters, and their replay with another scheduler."""

from quaymaster._studies.recording.clusters import ClusterRecorder
from quaymaster._studies.recording.compared import (
    Agreement,
    ComparedDecision,
    Decided,
    ReplayProgress,
    ReplayResult,
)
from quaymaster._studies.recording.files import RecordError, RecordWriter
from quaymaster._studies.recording.live import Recorded, RecordProgress, record
from quaymaster._studies.recording.reading import RecordedObjects, read_objects
from quaymaster._studies.recording.replaying import replay
from quaymaster._studies.recording.rerunning import RerunResult, rerun
from quaymaster._studies.recording.simulating import RecordObserver, record_simulation
from quaymaster._studies.recording.traces.importing import (
    ImportedTrace,
    TraceFormat,
    import_trace,
)
from quaymaster._studies.recording.usage import Course

__all__ = [
    "Agreement",
    "ClusterRecorder",
    "ComparedDecision",
    "Course",
    "Decided",
    "ImportedTrace",
    "RecordError",
    "RecordObserver",
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
