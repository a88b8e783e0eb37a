"""What tests see of ``quaymaster._driver``."""

from quaymaster._driver.beginning import begin_of
from quaymaster._driver.bell import Bell
from quaymaster._driver.cluster import KubernetesCluster
from quaymaster._driver.counts import REQUEST_SECONDS, RequestCounts
from quaymaster._driver.followed import Followed
from quaymaster._driver.frame_socket import FrameError, FrameSocket
from quaymaster._driver.frames import (
    Begin,
    Changed,
    Counted,
    Durations,
    Election,
    LeaseSeen,
    Message,
    Spec,
    ToEngine,
)
from quaymaster._driver.lease_health import LeaseHealth
from quaymaster._driver.life import Life
from quaymaster._driver.link import IO_PROGRAM, Link
from quaymaster._driver.packing import PodPacker
from quaymaster._driver.reflector import Reflector
from quaymaster._driver.told import as_text

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
    "as_text",
    "begin_of",
]
