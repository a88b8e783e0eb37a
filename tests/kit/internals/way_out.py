"""What tests see of the way out of ``quaymaster._clusters.driver``."""

from quaymaster._clusters.driver import requests
from quaymaster._clusters.driver.buckets import Bucket
from quaymaster._clusters.driver.connections import Lost, Outcome
from quaymaster._clusters.driver.events import Events
from quaymaster._clusters.driver.executor import GreenletExecutor, wait_for
from quaymaster._clusters.driver.frames import Answered, Asked, Lane, Note, Reference
from quaymaster._clusters.driver.lanes import Lanes
from quaymaster._clusters.driver.refusals import error_of
from quaymaster._clusters.driver.updating import updated_tree
from quaymaster._clusters.driver.way_out import WayOut
from quaymaster._clusters.driver.width import Width
from quaymaster._clusters.kubernetes.access import Pem
from quaymaster._clusters.kubernetes.http1 import (
    AnswerReader,
    HttpError,
    Reply,
    fixed_lines,
    request_bytes,
)

__all__ = [
    "AnswerReader",
    "Answered",
    "Asked",
    "Bucket",
    "Events",
    "GreenletExecutor",
    "HttpError",
    "Lane",
    "Lanes",
    "Lost",
    "Note",
    "Outcome",
    "Pem",
    "Reference",
    "Reply",
    "WayOut",
    "Width",
    "error_of",
    "fixed_lines",
    "request_bytes",
    "requests",
    "updated_tree",
    "wait_for",
]
