"""The frame of the report's page: everything inside one file, readable on a small screen and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 86rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1.2rem; }
p { max-width: 46rem; }
.wide { overflow-x: auto; margin: 1.2rem 0; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #e2e2e2; vertical-align: top;
  white-space: nowrap; }
thead th { white-space: normal; border-bottom: 2px solid #1a1a1a; vertical-align: bottom; }
th:first-child { text-align: left; white-space: nowrap; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; flex: 1 1 28rem; max-width: 37rem; }
img { width: 100%; height: auto; }
@media print { body { max-width: none; margin: 0; font-size: 10pt; } .wide { overflow: visible; }
  table { font-size: 7pt; } th, td { padding: 1.5pt 3pt; } figure, tr { break-inside: avoid; }
  @page { size: landscape; } }
"""


def page(title: str, sections: Sequence[str]) -> str:
    """A whole HTML page around `sections`, which are HTML already."""
    body = "\n".join(f"<section>{section}</section>" for section in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
</body>
</html>
"""
