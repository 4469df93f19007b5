"""Plots of a comparison as SVG in a data URI: they sit inside the page and print sharply, in black and one colour."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from personable.errors import MissingExtraError
from personable.evaluation.compare import Group, Result
from personable.evaluation.measure import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _QUIET, _MARK = "#1a1a1a", "#8a8a8a", "#1f5fa8"


def intervals(group: Group, metric: Metric) -> str:
    """Each system's mean of `metric` with its 95 % interval; the baseline's mean is a dashed line."""
    shown = [result for result in group.results if metric.name in result.figures]
    figure, axes = _canvas(height=0.9 + 0.36 * len(shown))
    scale = 100 if metric.percent else 1
    for row, result in enumerate(shown):
        mean, low, high, _ = result.figures[metric.name]
        axes.plot([scale * low, scale * high], [row, row], color=_INK, linewidth=1.4, solid_capstyle="butt")
        axes.plot(scale * mean, row, "o", color=_MARK, markersize=6.5)
        if result.name == group.baseline:
            axes.axvline(scale * mean, color=_QUIET, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    axes.set_yticks(range(len(shown)), [result.name for result in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel(f"{metric.label}{', %' if metric.percent else ''} (dot: mean, bar: 95 % interval)")
    return _data_uri(figure)


def quality_against_tokens(group: Group, metric: Metric) -> str:
    """`metric` against the uncached tokens that a question costs, one labelled dot a system."""
    shown = [result for result in group.results if metric.name in result.figures]
    figure, axes = _canvas(height=3.7)
    scale = 100 if metric.percent else 1
    points = [(_tokens(result), scale * result.figures[metric.name].mean) for result in shown]
    axes.plot(*zip(*points, strict=True), "o", color=_MARK, markersize=6.5, linestyle="none")
    spend = [x for x, _ in points]
    if max(spend) > 20 * max(min(spend), 1):
        axes.set_xscale("symlog", linthresh=10)
        axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.margins(x=0.12, y=0.18)
    axes.set_xlim(left=min(axes.get_xlim()[0], 0) if min(spend) == 0 else None)
    _label(axes, points, [result.name for result in shown])
    axes.set_xlabel("Tokens a question (uncached prompt + completion)")
    axes.set_ylabel(f"{metric.label}{', %' if metric.percent else ''}")
    return _data_uri(figure)


def _tokens(result: Result) -> float:
    return result.cost.paid / len(result.records)


def _label(axes: Axes, points: list[tuple[float, float]], names: list[str]) -> None:
    """Write names beside their dots; one that would cover something is moved up and tied to its dot by a line."""
    axes.figure.canvas.draw()
    dots = [axes.transData.transform(point) for point in points]
    taken: list[tuple[float, float, float]] = [(x - 6, x + 6, y) for x, y in dots]
    for (x, y), name in sorted(zip(points, names, strict=True), key=lambda pair: pair[0][1]):
        at_x, at_y = axes.transData.transform((x, y))
        width, height = 8.5 * len(name), 15.0
        left = at_x + width + 10 > axes.bbox.x1
        start, middle = (at_x - width - 8 if left else at_x + 8), at_y
        while any(
            start < end and begin < start + width and abs(middle - other) < height for begin, end, other in taken
        ):
            middle += 4
        taken.append((start, start + width, middle))
        line = {"arrowstyle": "-", "color": _QUIET, "linewidth": 0.6} if middle > at_y else None
        offset = (-6.0 if left else 6.0, (middle - at_y) * 0.72)
        side = "right" if left else "left"
        axes.annotate(
            name, (x, y), offset, textcoords="offset points", ha=side, va="center", fontsize=9, arrowprops=line
        )


def _canvas(height: float) -> tuple[Figure, Axes]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Plots", "eval") from error
    figure = Figure(figsize=(6.4, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    return figure, axes


def _data_uri(figure: Figure) -> str:
    from matplotlib import rc_context

    drawn = io.BytesIO()
    with rc_context({"svg.hashsalt": "personable", "svg.fonttype": "path"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode()
