"""The OpenAPI document of the service."""

from importlib.metadata import version
from typing import Any

import msgspec

from quaymaster._surfaces.service.messages import (
    ExplainRequest,
    FitRequest,
    SimulateRequest,
)

__all__ = ["openapi"]

_POD_FIELDS = {
    "pod": {"type": "object", "description": "A manifest of a Pod."},
    "line": {
        "type": "string",
        "description": "Instead of a manifest: cpu=2,memory=4Gi and so on.",
    },
}
_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}
_STRINGS = {"type": "array", "items": _STRING}


def openapi(*, has_token: bool) -> dict[str, object]:
    """The document, as OpenAPI 3.1 has it.

    Args:
        has_token: Whether requests need a token.
    """
    document: dict[str, object] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Quaymaster",
            "version": version("quaymaster"),
            "description": "Would it fit? Answers of the scheduler on a warm cluster.",
        },
        "paths": {
            "/v1/fit": _post("Would these pods fit, one after the other?", _fit()),
            "/v1/explain": _post(
                "Why would this pod go where it would go?", _explain()
            ),
            "/v1/simulate": _post("What if these objects came in?", _simulate()),
            "/healthz": {
                "get": {
                    "summary": "Is it there, and what does it know?",
                    "security": [],
                    "responses": {"200": {"description": "It is."}},
                }
            },
        },
        "components": {
            "schemas": {"Problem": _problem()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    if has_token:
        document["security"] = [{"token": []}]
    return document


def _post(summary: str, schemas: tuple[object, object]) -> dict[str, object]:
    request, response = schemas
    problem = {
        "description": "What is wrong, by RFC 9457.",
        "content": {
            "application/problem+json": {
                "schema": {"$ref": "#/components/schemas/Problem"}
            }
        },
    }
    return {
        "post": {
            "summary": summary,
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": request}},
            },
            "responses": {
                "200": {
                    "description": "The answer.",
                    "content": {"application/json": {"schema": response}},
                },
                "default": problem,
            },
        }
    }


def _request_schema(
    kind: type[msgspec.Struct], **properties: object
) -> dict[str, object]:
    fields = msgspec.structs.fields(kind)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [field.encode_name for field in fields if field.required],
        "properties": {field.encode_name: properties[field.name] for field in fields},
    }


def _fit() -> tuple[object, object]:
    count = {"type": "integer", "minimum": 1, "default": 1}
    item: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {**_POD_FIELDS, "count": count},
    }
    pod = {
        "pod": _STRING,
        "node": {**_STRING, "description": "Empty if it fits nowhere."},
        "message": _STRING,
        "reasons": _STRINGS,
        "plugins": _STRINGS,
    }
    answer = _answer(
        fits={"type": "boolean", "description": "Whether all of them fit."},
        placed=_INTEGER,
        asked=_INTEGER,
        pods={"type": "array", "items": {"type": "object", "properties": pod}},
    )
    pods = {"type": "array", "minItems": 1, "items": item}
    return _request_schema(FitRequest, pods=pods), answer


_REJECTION: dict[str, object] = {
    "node": _STRING,
    "plugin": _STRING,
    "reasons": {**_STRINGS, "description": "kube-scheduler's words."},
    "details": {**_STRINGS, "description": "The facts behind the reasons."},
    "postFilter": {
        **_STRINGS,
        "description": "What preemption can do, if the pod fits on no node.",
    },
}


def _explain() -> tuple[object, object]:
    top = {"type": "integer", "minimum": 0, "default": 10}
    listed = {"type": "array", "items": {"type": "object"}}
    answer = _answer(
        pod=_STRING,
        scheduler=_STRING,
        fits={"type": "boolean"},
        message=_STRING,
        feasible=_INTEGER,
        rejected=_INTEGER,
        reasons=listed,
        scores=listed,
        rejections={
            "type": "array",
            "items": {"type": "object", "properties": _REJECTION},
        },
    )
    return _request_schema(ExplainRequest, **_POD_FIELDS, top=top), answer


def _simulate() -> tuple[object, object]:
    listed = {"type": "array", "items": {"type": "object"}}
    request = _request_schema(
        SimulateRequest,
        objects={**listed, "minItems": 1},
        all={"type": "boolean", "default": False},
    )
    answer = _answer(
        placements=listed,
        unscheduled=listed,
        preempted=listed,
        summary={"type": "object"},
        warnings=_STRINGS,
    )
    return request, answer


def _answer(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def _problem() -> dict[str, object]:
    place = {"where": _STRING, "path": _STRING, "message": _STRING}
    return _answer(
        type=_STRING,
        title=_STRING,
        status=_INTEGER,
        detail=_STRING,
        problems={
            "type": "array",
            "items": {"type": "object", "properties": place},
        },
    )
