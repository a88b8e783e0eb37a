"""The names of ``quaymaster._clusters.driver`` that tests of sent requests use."""

from quaymaster._clusters.driver import requests
from quaymaster._clusters.driver.buckets import Bucket
from quaymaster._clusters.driver.connections import Lost, Outcome
from quaymaster._clusters.driver.events import Events
from quaymaster._clusters.driver.executor import GreenletExecutor, wait_for
from quaymaster._clusters.driver.frames import Lane, Note, Reference, Request, Response
from quaymaster._clusters.driver.lanes import Lanes
from quaymaster._clusters.driver.outbound import Outbound
from quaymaster._clusters.driver.parallelism import Parallelism
from quaymaster._clusters.driver.refusals import error_of
from quaymaster._clusters.driver.updating import updated_tree
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
    "Bucket",
    "Events",
    "GreenletExecutor",
    "HttpError",
    "Lane",
    "Lanes",
    "Lost",
    "Note",
    "Outbound",
    "Outcome",
    "Parallelism",
    "Pem",
    "Reference",
    "Reply",
    "Request",
    "Response",
    "error_of",
    "fixed_lines",
    "request_bytes",
    "requests",
    "updated_tree",
    "wait_for",
]
