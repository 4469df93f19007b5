"""Metrics for Prometheus: numbers by route, pipeline and model, and nothing about anybody."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

from personable.server.watch import Served
from personable.tracing import Attributes

__all__ = ["CONTENT_TYPE", "Metrics"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """The metrics of one app, with a registry of their own. It listens to requests and observes spans."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)

        def histogram(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(name, text, labels, buckets=SECONDS, registry=self.registry)

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, registry=self.registry)

        self._requests = counter("personable_requests", "Requests that ended.", "method", "route", "status")
        self._seconds = histogram("personable_request_seconds", "From a request to its end.", "method", "route")
        self._first = histogram("personable_first_event_seconds", "From a request to a stream's first event.", "route")
        self._broken = counter("personable_responses_broken_off", "Responses that did not come to their end.", "route")
        self._flying = Gauge("personable_answers_in_flight", "Answers under way.", ["pipeline"], registry=self.registry)
        self._answers = histogram("personable_answer_seconds", "Pipelines, to their end.", "pipeline", "outcome")
        self._calls = histogram("personable_model_call_seconds", "Model calls, to their end.", "model", "outcome")
        self._tokens = counter("personable_tokens", "Tokens read and written.", "model", "kind")
        self._searches = histogram("personable_search_seconds", "Searches for passages.")

    def __call__(self, served: Served) -> None:
        """Count a request."""
        self._requests.labels(served.method, served.route, str(served.status)).inc()
        self._seconds.labels(served.method, served.route).observe(served.seconds)
        if served.stream and served.first is not None:
            self._first.labels(served.route).observe(served.first)
        if not served.whole:
            self._broken.labels(served.route).inc()

    def began(self, attributes: Attributes) -> None:
        """See tracing.Observer."""
        if attributes["gen_ai.operation.name"] == "invoke_workflow":
            self._flying.labels(attributes["gen_ai.agent.name"]).inc()

    def ended(self, attributes: Attributes, seconds: float) -> None:
        """See tracing.Observer."""
        outcome = attributes.get("error.type", "ok")
        match attributes["gen_ai.operation.name"]:
            case "invoke_workflow":
                self._flying.labels(attributes["gen_ai.agent.name"]).dec()
                self._answers.labels(attributes["gen_ai.agent.name"], outcome).observe(seconds)
            case "chat":
                model = f"{attributes['gen_ai.provider.name']}:{attributes['gen_ai.request.model']}"
                self._calls.labels(model, outcome).observe(seconds)
                for kind, name in _TOKENS.items():
                    self._tokens.labels(model, kind).inc(float(str(attributes.get(name, 0))))
            case "retrieval":
                self._searches.observe(seconds)

    def text(self) -> bytes:
        """All of it, in Prometheus' text format."""
        return generate_latest(self.registry)


_TOKENS = {
    "prompt": "gen_ai.usage.input_tokens",
    "cached": "gen_ai.usage.cache_read.input_tokens",
    "completion": "gen_ai.usage.output_tokens",
}
