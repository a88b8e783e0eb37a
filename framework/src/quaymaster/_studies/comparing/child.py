"""Runs a variant in the environment of this interpreter, for a comparison elsewhere.

``python -m quaymaster._studies.comparing.child`` reads a request from standard input
and writes an answer to standard output.
"""

import os
import sys

import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES
from quaymaster._clusters.manifests.load import load
from quaymaster._clusters.manifests.validation import Validation
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.load import default_config, load_config
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.comparing.messages import (
    FORM,
    Answer,
    Request,
    decode_request,
    encode,
)
from quaymaster._studies.comparing.variants import Measures, Variant

__all__ = ["answer", "main"]


def main() -> None:
    """Read a request, and write its answer."""
    # Output that plugins print must not become part of the answer.
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        response = answer(decode_request(sys.stdin.buffer.read()))
    except (QuaymasterError, msgspec.DecodeError) as error:
        response = Answer(mistake=str(error))
    with os.fdopen(out, "wb") as file:
        file.write(encode(response))


def answer(request: Request) -> Answer:
    """Handle a request.

    Raises:
        QuaymasterError: Something is wrong with the input.
    """
    if request.form > FORM:
        return Answer(mistake=f"it knows requests of form {FORM}, not {request.form}")
    kubernetes = request.kubernetes or DEFAULT_KUBERNETES
    registry = installed_plugins()
    config = (
        default_config(registry, kubernetes=kubernetes)
        if request.config is None
        else load_config(request.config, registry, kubernetes=kubernetes)
    )
    stored = [("the input", msgspec.json.encode(request.objects))]
    kinds = declared_kinds(config, registry)
    variant = Variant(
        name="",
        objects=load(
            (),
            kinds=kinds,
            stored=stored,
            kubernetes=config.kubernetes,
            # The caller has checked them, for the newest compared version.
            validation=Validation.IGNORE,
        ).objects,
        config=config,
        registry=registry,
        max_pods=request.max_pods,
    )
    if request.explain is not None:
        return Answer.explaining(variant.explain(request.explain, request.seed))
    if request.observe:
        return Answer.showing(variant.observe(request.seed))
    measures = Measures(
        prices=Prices(per_instance_type=request.prices),
        topology_keys=request.topology_keys,
    )
    return Answer(outcome=variant.outcome(request.seed, measures))


if __name__ == "__main__":
    main()
