"""What a span costs, in microseconds of CPU time: python benchmarks/spans.py

First where nobody imported OpenTelemetry, then with its interface alone, then recorded by its SDK and exported nowhere.
"""

from __future__ import annotations

from importlib import import_module
from time import process_time

from personable import tracing

COUNT, TIMES = 20_000, 5


def cost() -> str:
    """The middle one of `TIMES` means over `COUNT` spans, with the least and the most."""
    means = []
    for _ in range(TIMES):
        began = process_time()
        for _ in range(COUNT):
            with tracing.retrieval(5) as span:
                span.set(tracing.hits(5))
        means.append((process_time() - began) / COUNT * 1e6)
    means.sort()
    return f"{means[TIMES // 2]:.1f} ({means[0]:.1f} to {means[-1]:.1f})"


def main() -> None:
    """Print the table."""
    print(f"| {TIMES} times {COUNT:,} spans | µs of CPU time each |\n|---|---|")
    print(f"| not imported | {cost()} |")
    trace = import_module("opentelemetry.trace")
    print(f"| interface alone | {cost()} |")
    trace.set_tracer_provider(import_module("opentelemetry.sdk.trace").TracerProvider())
    print(f"| recorded | {cost()} |")


if __name__ == "__main__":
    main()
