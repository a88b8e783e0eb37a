"""What tests see of ``quaymaster._driver``."""

from quaymaster._driver.cluster import KubernetesCluster
from quaymaster._driver.followed import Followed
from quaymaster._driver.frames import (
    Begin,
    Changed,
    FrameError,
    FrameSocket,
    Message,
    Spec,
    ToEngine,
)
from quaymaster._driver.link import IO_PROGRAM, Link
from quaymaster._driver.packing import PodPacker
from quaymaster._driver.reflector import Reflector
from quaymaster._driver.told import as_text

__all__ = [
    "IO_PROGRAM",
    "Begin",
    "Changed",
    "Followed",
    "FrameError",
    "FrameSocket",
    "KubernetesCluster",
    "Link",
    "Message",
    "PodPacker",
    "Reflector",
    "Spec",
    "ToEngine",
    "as_text",
]
