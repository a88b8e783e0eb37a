"""What tests see of ``quaymaster._studies.comparing``."""

from quaymaster._studies.comparing.differences import first_difference, moved
from quaymaster._studies.comparing.estimates import estimate
from quaymaster._studies.comparing.messages import Answer, decode_answer, encode

__all__ = [
    "Answer",
    "decode_answer",
    "encode",
    "estimate",
    "first_difference",
    "moved",
]
