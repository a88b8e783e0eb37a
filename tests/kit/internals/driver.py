"""What tests see of ``quaymaster._clusters.driver``."""

from quaymaster._clusters.driver.cluster import KubernetesCluster
from quaymaster._clusters.driver.counts import REQUEST_SECONDS, RequestCounts
from quaymaster._clusters.driver.engine_stack import StackReader, place_in
from quaymaster._clusters.driver.first_message import first_message
from quaymaster._clusters.driver.followed import Followed
from quaymaster._clusters.driver.frame_socket import FrameError, FrameSocket
from quaymaster._clusters.driver.frames import (
    Begin,
    Changed,
    Counted,
    Current,
    Durations,
    Election,
    LeaseSeen,
    Message,
    Spec,
    ToEngine,
    Trouble,
)
from quaymaster._clusters.driver.lease_health import LeaseHealth
from quaymaster._clusters.driver.link import IO_PROGRAM, Link
from quaymaster._clusters.driver.liveness import Liveness
from quaymaster._clusters.driver.packing import PodPacker
from quaymaster._clusters.driver.reflector import Reflector
from quaymaster._clusters.driver.sent_versions import as_text
from quaymaster._clusters.driver.suspects import Suspects, pause_seconds
from quaymaster._clusters.driver.wakeup import Wakeup

__all__ = [
    "IO_PROGRAM",
    "REQUEST_SECONDS",
    "Begin",
    "Changed",
    "Counted",
    "Current",
    "Durations",
    "Election",
    "Followed",
    "FrameError",
    "FrameSocket",
    "KubernetesCluster",
    "LeaseHealth",
    "LeaseSeen",
    "Link",
    "Liveness",
    "Message",
    "PodPacker",
    "Reflector",
    "RequestCounts",
    "Spec",
    "StackReader",
    "Suspects",
    "ToEngine",
    "Trouble",
    "Wakeup",
    "as_text",
    "first_message",
    "pause_seconds",
    "place_in",
]
