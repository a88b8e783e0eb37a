"""Admission: what an API server does to objects before it stores them."""

from quaymaster._inmemory.admission.admission import Admission
from quaymaster._inmemory.admission.problems import AdmissionError, Report, place_of

__all__ = ["Admission", "AdmissionError", "Report", "place_of"]
