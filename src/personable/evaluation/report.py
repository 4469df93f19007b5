"""The report of a comparison: the same tables as one self-contained HTML page (with plots) and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from personable.evaluation import plots
from personable.evaluation.compare import Group, Paired, Result
from personable.evaluation.measure import Metric
from personable.evaluation.page import page
from personable.evaluation.statistics import Interval

NONE = "–"


class Table(NamedTuple):
    """A caption, a header and rows of text."""

    caption: str
    header: list[str]
    rows: list[list[str]]


class Section(NamedTuple):
    """One group of runs: tables, sentences about them, and plots as (description, data URI)."""

    title: str
    notes: list[str]
    tables: list[Table]
    images: list[tuple[str, str]]


class Written(NamedTuple):
    """The two files of a report."""

    html: Path
    markdown: Path


def write_report(groups: Sequence[Group], folder: Path) -> Written:
    """Write `report.html` and `report.md` into `folder`, made where it is missing. Raises MissingExtraError."""
    sections = [_section(group) for group in groups]
    folder.mkdir(parents=True, exist_ok=True)
    written = Written(folder / "report.html", folder / "report.md")
    written.html.write_text(page("Evaluation report", [_html(section) for section in sections]), encoding="utf-8")
    written.markdown.write_text(markdown(sections), encoding="utf-8")
    return written


def markdown(sections: Sequence[Section]) -> str:
    """Sections as Markdown; plots are only in the page."""
    lines = ["# Evaluation report", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        lines += [line for note in section.notes for line in (note, "")]
        for table in section.tables:
            lines += [f"**{table.caption}**", "", _markdown_row(table.header)]
            lines += [_markdown_row(["---"] + ["---:"] * (len(table.header) - 1))]
            lines += [_markdown_row(row) for row in table.rows] + [""]
    return "\n".join(lines)


def _section(group: Group) -> Section:
    quality = [metric for metric in group.metrics if metric.quality]
    tables = [_figures(group), _costs(group)]
    tested = [metric for metric in quality if not metric.name.startswith("passage@")]
    tables += [_tests(group, metric) for metric in tested if any(metric.name in r.paired for r in group.results)]
    failures = _failures(group)
    return Section(
        title=group.dataset,
        notes=_notes(group),
        tables=tables + ([failures] if failures.rows else []),
        images=_images(group, quality[0]) if quality else [],
    )


def _notes(group: Group) -> list[str]:
    notes = [
        "In brackets: 95 % bootstrap intervals of the mean over questions. Failed questions and empty answers count "
        "as wrong. Containment accuracy rewards long answers, so read it beside their words."
    ]
    notes += group.notes
    for result in group.results:
        if result.missing:
            whole = result.run.identity.questions
            notes.append(f"{result.name} is not at its end: {len(result.records)} of {whole} questions asked.")
    return notes


def _figures(group: Group) -> Table:
    header = ["System", "Model", "n", "Failed", *(_label(metric) for metric in group.metrics)]
    rows = [
        [
            result.name,
            result.run.identity.model,
            str(len(result.records)),
            str(len(result.failed)),
            *(_interval(metric, result.figures.get(metric.name), len(result.records)) for metric in group.metrics),
        ]
        for result in group.results
    ]
    return Table("Quality", header, rows)


def _costs(group: Group) -> Table:
    header = ["System", "Calls a question", "Longest path", "Prompt tokens", "of these cached", "Completion tokens"]
    header += ["Uncached + completion a question", "Seconds a question", "Right", "Calls / right"]
    header += ["Uncached + completion / right", "Seconds / right"]
    return Table("Cost", header, [_cost(result) for result in group.results])


def _cost(result: Result) -> list[str]:
    cost, n = result.cost, len(result.records)
    return [
        result.name,
        f"{cost.calls / n:.1f}",
        str(cost.steps),
        f"{cost.tokens.prompt:,}",
        f"{cost.tokens.cached:,}",
        f"{cost.tokens.completion:,}",
        f"{cost.paid / n:,.0f}",
        f"{cost.seconds / n:.2f}",
        NONE if cost.right is None else str(cost.right),
        _number(cost.per_right(cost.calls), ".1f"),
        _number(cost.per_right(cost.paid), ",.0f"),
        _number(cost.per_right(cost.seconds), ".2f"),
    ]


def _tests(group: Group, metric: Metric) -> Table:
    header = ["System", "n", "Difference", "Wins", "Ties", "Losses", "p", "Test"]
    bleu = metric is group.metrics[0]
    rows = []
    for result in group.results:
        if metric.name in result.paired:
            more = [_number(result.bleu, ".1f")] if bleu else []
            rows.append([result.name, *_paired(metric, result.paired[metric.name]), *more])
    caption = f"{metric.label}: against {group.baseline}, question by question"
    return Table(caption, header + (["BLEU-2 with it"] if bleu else []), rows)


def _paired(metric: Metric, paired: Paired) -> list[str]:
    scale = 100 if metric.percent else 1
    mean, low, high, n = paired.difference
    difference = f"{scale * mean:+.1f} [{scale * low:+.1f}, {scale * high:+.1f}]"
    p = "< .001" if paired.p < 0.001 else f"{paired.p:.3f}".lstrip("0")
    return [str(n), difference, *(str(count) for count in paired.tally), p, paired.test]


def _failures(group: Group) -> Table:
    rows = [[r.name, record.id, str(record.outcome.error)] for r in group.results for record in r.failed]
    return Table("Failed questions", ["System", "Question", "Error"], rows)


def _images(group: Group, metric: Metric) -> list[tuple[str, str]]:
    return [
        (f"{metric.label} of each system with its 95 % interval", plots.intervals(group, metric)),
        (f"{metric.label} against tokens a question", plots.quality_against_tokens(group, metric)),
    ]


def _label(metric: Metric) -> str:
    return f"{metric.label}, %" if metric.percent else metric.label


def _interval(metric: Metric, figure: Interval | None, n: int) -> str:
    if figure is None:
        return NONE
    scale = 100 if metric.percent else 1
    short = "" if figure.n == n else f" (n {figure.n})"
    return f"{scale * figure.mean:.1f} [{scale * figure.low:.1f}, {scale * figure.high:.1f}]{short}"


def _number(value: float | None, form: str) -> str:
    return NONE if value is None else format(value, form)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def _html(section: Section) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>"]
    parts += [f"<p>{escape(note)}</p>" for note in section.notes]
    figures = [f'<figure><img src="{uri}" alt="{escape(text)}"></figure>' for text, uri in section.images]
    tables = [_html_table(table) for table in section.tables]
    return "\n".join([*parts, *tables[:1], '<div class="plots">', *figures, "</div>", *tables[1:]])


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    body = "\n".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(map(_html_cell, rest)) + "</tr>"
        for first, *rest in table.rows
    )
    caption = f"<caption>{escape(table.caption)}</caption>"
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _html_cell(cell: str) -> str:
    """A table cell; an interval stands below its mean."""
    return f"<td>{escape(cell).replace(' [', '<br>[')}</td>"
