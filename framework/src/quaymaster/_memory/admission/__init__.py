"""What an API server does to objects before it stores them."""

from quaymaster._memory.admission.admission import Admission
from quaymaster._memory.admission.problems import AdmissionError, Report, place_of

__all__ = ["Admission", "AdmissionError", "Report", "place_of"]
