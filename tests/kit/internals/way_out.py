"""What tests see of the way out of ``quaymaster._driver``."""

from quaymaster._driver import requests
from quaymaster._driver.buckets import Bucket
from quaymaster._driver.connections import Lost, Outcome
from quaymaster._driver.events import Events
from quaymaster._driver.executor import GreenletExecutor, wait_for
from quaymaster._driver.frames import Answered, Asked, Lane, Note, Reference
from quaymaster._driver.lanes import Lanes
from quaymaster._driver.refusals import error_of
from quaymaster._driver.updating import updated_tree
from quaymaster._driver.way_out import WayOut
from quaymaster._driver.width import Width
from quaymaster._kubernetes.access import Pem
from quaymaster._kubernetes.http1 import (
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
