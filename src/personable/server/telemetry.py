"""Sending spans away by OTLP, where the usual environment variables of OpenTelemetry say where to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from personable.errors import MissingExtraError

PLACES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


@contextmanager
def exporting() -> Iterator[None]:
    """Export the spans of this process until it is left, where one of `PLACES` is set; the last ones leave at the end.

    Raises MissingExtraError where it is set and the exporter is not installed.
    """
    if not any(os.environ.get(name) for name in PLACES):
        yield
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise MissingExtraError("traces", "telemetry") from error
    usual = Resource({"service.name": "personable", "service.version": version("personable")})
    provider = TracerProvider(resource=usual.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
