"""Signing in with a key, signing out, and choosing for whom one looks."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Cookie, Form, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from personable.errors import NotFoundError
from personable.server.access import COOKIE, AnyCaller, TheEngine, limiter_of
from personable.server.problems import ProblemError
from personable.server.web.frame import SIGN_IN, STATIC, PageRoute, page
from personable.server.web.visitor import FOR_COOKIE, TheVisitor

router = APIRouter(route_class=PageRoute, include_in_schema=False)
FILES = {
    "app.css": "text/css",
    "app.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
ENDED = "You are not signed in any more. Enter your key again."


@router.get("/static/{name}")
async def static_file(name: str) -> Response:
    """A file of ours. Its address changes with it."""
    if name not in FILES:
        raise ProblemError(404, "there is no such file")
    return FileResponse(STATIC / name, media_type=FILES[name], headers={"Cache-Control": "public, max-age=31536000"})


@router.get("/")
async def first() -> Response:
    """The first page."""
    return RedirectResponse("/ask", 303)


@router.get(SIGN_IN)
async def sign_in_page(request: Request, ended: str = "") -> Response:
    """Where a key is asked for."""
    return page(request, "sign_in.html", message=ENDED if ended else "")


@router.post(SIGN_IN)
async def sign_in(request: Request, engine: TheEngine, key: Annotated[str, Form(max_length=500)]) -> Response:
    """Exchange a key for a login."""
    origin = request.headers.get("Origin", "null")
    elsewhere = origin != "null" and urlsplit(origin).netloc != request.url.netloc
    if elsewhere or request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        raise ProblemError(403, "sign in on this page itself, not from another site")
    lasting = timedelta(hours=engine.settings.server_login_hours)
    try:
        _, token = await engine.people.sign_in(key.strip(), lasting)
    except NotFoundError:
        limiter_of(request).count_wrong(request.client.host if request.client else "")
        return page(request, "sign_in.html", 401, message="This key is unknown, revoked or expired.")
    response = RedirectResponse("/ask", 303)
    response.set_cookie(COOKIE, token, max_age=int(lasting.total_seconds()), **_kept_safe(request))
    response.delete_cookie(FOR_COOKIE)
    return response


@router.post("/sign-out")
async def sign_out(
    _: AnyCaller, engine: TheEngine, token: Annotated[str | None, Cookie(alias=COOKIE)] = None
) -> Response:
    """End the login."""
    await engine.people.sign_out(token or "")
    return forget_login(RedirectResponse(SIGN_IN, 303))


@router.post("/looking-for")
async def look_for(
    request: Request, visitor: TheVisitor, engine: TheEngine, person: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Choose for whom a builder or an admin looks; "" is nobody in particular."""
    chosen = visitor.who.speaks_for(person or None)
    response = RedirectResponse("/ask", 303)
    if chosen is None:
        response.delete_cookie(FOR_COOKIE)
    else:
        await engine.people.get(chosen)
        response.set_cookie(FOR_COOKIE, quote(chosen, safe=""), **_kept_safe(request))
    return response


def forget_login(response: Response) -> Response:
    """The response, which takes the cookies of a login away."""
    for name in (COOKIE, FOR_COOKIE):
        response.delete_cookie(name)
    return response


def _kept_safe(request: Request) -> dict[str, Any]:
    return {"httponly": True, "samesite": "strict", "secure": request.url.scheme == "https"}
