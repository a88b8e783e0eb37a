"""What tests see of ``quaymaster._clusters.driver``."""

from quaymaster._clusters.driver.beginning import begin_of
from quaymaster._clusters.driver.bell import Bell
from quaymaster._clusters.driver.cluster import KubernetesCluster
from quaymaster._clusters.driver.counts import REQUEST_SECONDS, RequestCounts
from quaymaster._clusters.driver.followed import Followed
from quaymaster._clusters.driver.frame_socket import FrameError, FrameSocket
from quaymaster._clusters.driver.frames import (
    Begin,
    Changed,
    Counted,
    Durations,
    Election,
    LeaseSeen,
    Message,
    Spec,
    ToEngine,
    Trouble,
)
from quaymaster._clusters.driver.lease_health import LeaseHealth
from quaymaster._clusters.driver.life import Life
from quaymaster._clusters.driver.link import IO_PROGRAM, Link
from quaymaster._clusters.driver.packing import PodPacker
from quaymaster._clusters.driver.reflector import Reflector
from quaymaster._clusters.driver.told import as_text

__all__ = [
    "IO_PROGRAM",
    "REQUEST_SECONDS",
    "Begin",
    "Bell",
    "Changed",
    "Counted",
    "Durations",
    "Election",
    "Followed",
    "FrameError",
    "FrameSocket",
    "KubernetesCluster",
    "LeaseHealth",
    "LeaseSeen",
    "Life",
    "Link",
    "Message",
    "PodPacker",
    "Reflector",
    "RequestCounts",
    "Spec",
    "ToEngine",
    "Trouble",
    "as_text",
    "begin_of",
]
