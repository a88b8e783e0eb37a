"""What tests see of ``quaymaster._driver``."""

from quaymaster._driver.followed import Followed
from quaymaster._driver.frames import (
    Changed,
    FrameError,
    FrameSocket,
    Message,
    Spec,
    ToEngine,
)
from quaymaster._driver.packing import PodPacker
from quaymaster._driver.reflector import Reflector
from quaymaster._driver.told import as_text

__all__ = [
    "Changed",
    "Followed",
    "FrameError",
    "FrameSocket",
    "Message",
    "PodPacker",
    "Reflector",
    "Spec",
    "ToEngine",
    "as_text",
]
