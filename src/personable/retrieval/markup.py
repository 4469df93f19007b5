"""HTML as light Markdown: headings, list items, paragraphs and table rows, nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_BLOCKS = frozenset("p div section article header footer main aside ul ol table blockquote pre dl dt dd figure".split())
_SPACE = re.compile(r"[ \t\n\r\f\v]+")


def html_title(html: str) -> str:
    """The content of `<title>`, on one line; empty where there is none."""
    from html import unescape

    found = re.search(r"<title[^>]*>(.*?)</title", html, re.IGNORECASE | re.DOTALL)
    return _SPACE.sub(" ", unescape(found[1])).strip() if found else ""


def html_text(html: str) -> str:
    """The visible text of `html`, with `#` before headings, `- ` before list items and ` | ` between table cells."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    return parser.result()


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = [""]
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif re.fullmatch(r"h[1-6]", tag):
            self._lines += ["", "#" * int(tag[1]) + " "]
        elif tag == "li":
            self._lines.append("- ")
        elif tag in ("br", "tr"):
            self._lines.append("")
        elif tag in ("td", "th") and self._lines[-1]:
            self._lines[-1] += " | "
        elif tag in _BLOCKS and self._lines[-1] != "- ":
            self._lines += ["", ""]

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif re.fullmatch(r"h[1-6]", tag) or tag in _BLOCKS:
            self._lines += ["", ""]

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            text = _SPACE.sub(" ", data)
            self._lines[-1] += text if self._lines[-1] else text.lstrip()

    def result(self) -> str:
        lines = (line.rstrip() for line in self._lines)
        kept = [line for line in lines if line not in ("-", "#", "##", "###", "####", "#####", "######")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
