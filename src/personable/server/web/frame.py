"""What all pages share: templates, headers that keep other hosts and scripts out, and errors that people can read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException

from personable.errors import PersonableError
from personable.server.access import COOKIE, CSRF_FIELD, CSRF_HEADER
from personable.server.problems import Problem, problem_of

HERE = Path(__file__).parent
STATIC = HERE / "static"
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PAGES = {
    "/ask": "Ask",
    "/you": "You",
    "/for-you": "For you",
    "/certified": "Certified",
    "/collections": "Collections",
    "/benchmarks": "Benchmarks",
}
SIGN_IN = "/sign-in"
SHOWN_FOR = "shown_for"
"""The field of a form that says for whom its page was shown."""


def is_fragment(request: Request) -> bool:
    """Whether htmx asks for a part of a page."""
    return request.headers.get("HX-Request") == "true"


def render(name: str, **values: Any) -> str:
    """A template as HTML: every value is escaped, and one that is missing is an error."""
    return _templates().get_template(name).render(values)


def page(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page, or for htmx a part of one, for who looks at it."""
    visitor = getattr(request.state, "visitor", None)
    shared = {"visitor": visitor, "csrf": visitor.who.csrf if visitor else "", "here": request.url.path}
    return HTMLResponse(render(name, **shared, **values), status)


def after(request: Request, url: str, part: Callable[[], HTMLResponse]) -> Response:
    """What follows a form: for htmx the part of the page that changed, else the page at `url`."""
    return part() if is_fragment(request) else RedirectResponse(url, 303)


def link(path: str, **query: str | None) -> str:
    """A path with a query of what is given."""
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


@cache
def static_url(name: str) -> str:
    """The address of a file of ours; it changes with the file, which may then be kept for ever."""
    return f"/static/{name}?{hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


class PageRoute(APIRoute):
    """A route whose errors are shown as a page, and whose headers let nothing in from elsewhere."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        plain = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                response = await plain(request)
            except (HTTPException, PersonableError) as error:
                response = _refused(request, problem_of(error))
            except RequestValidationError as error:
                said = "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors()[:3])
                response = _refused(request, Problem(title="The request is malformed", status=422, detail=said))
            for header, value in HEADERS.items():
                response.headers.setdefault(header, value)
            return response

        return handled


def _refused(request: Request, problem: Problem) -> Response:
    if problem.status == 401:
        url = link(SIGN_IN, ended="yes" if COOKIE in request.cookies else None)
        gone = Response(status_code=401, headers={"HX-Redirect": url})
        return gone if is_fragment(request) else RedirectResponse(url, 303)
    return page(request, "_error.html" if is_fragment(request) else "error.html", problem.status, problem=problem)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"pages": PAGES, "static": static_url, "link": link}
    made.globals |= {"csrf_field": CSRF_FIELD, "csrf_header": CSRF_HEADER, "shown_for": SHOWN_FOR}
    return made
