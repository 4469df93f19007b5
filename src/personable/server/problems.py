"""What goes wrong, as problem details (RFC 9457): what happened, with what, and what to do; never a stack or a key.

Paths of the OpenAI-compatible interface tell the same in the form of that interface.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import HTTPException as FastAPIHTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from personable import errors
from personable.server.openai_forms import OPENAI_PATHS, openai_error

LOGGER = logging.getLogger("personable.server")
MEDIA_TYPE = "application/problem+json"

TITLES = {
    400: "The request makes no sense",
    401: "A key is needed",
    403: "The key does not reach this",
    404: "Not found",
    405: "The method is not allowed here",
    409: "In conflict with what is stored",
    413: "Too large",
    415: "This content type is not read here",
    422: "The request is malformed",
    429: "Too many requests",
    431: "The headers are too large",
    499: "The client went away",
    500: "Unexpected failure",
    501: "Not installed",
    502: "The language model failed",
    503: "Not configured or not ready",
    504: "The language model did not answer in time",
}

STATUSES: tuple[tuple[type[errors.PersonableError], int], ...] = (
    (errors.UsageError, 400),
    (errors.NotFoundError, 404),
    (errors.UnreadableFileError, 422),
    (errors.DataError, 409),
    (errors.MissingExtraError, 501),
    (errors.ConfigurationError, 503),
    (errors.ModelTimeoutError, 504),
    (errors.ModelError, 502),
)


class Fault(BaseModel):
    """One thing that is wrong with a request: `where` it stands, such as `body.question`, and what."""

    where: str
    what: str


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[Fault] = []


class ProblemError(FastAPIHTTPException):
    """Raise it where the server itself finds a problem; an HTTPException, which body readers let through.

    `where` names the part of the request that is wrong, such as `body.model`.
    """

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None, *, where: str = "") -> None:
        super().__init__(status, detail, headers)
        self.where = where


class ClientGoneError(ProblemError):
    """Nobody is there any more who would read an answer."""

    def __init__(self) -> None:
        super().__init__(499, "the client went away, so the work was stopped")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route's `responses`: these statuses, and those that any request may meet."""
    usual = (400, 401, 403, 413, 415, 422, 429, 503)
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": TITLES[status], "content": content} for status in sorted({*usual, *statuses})}


def problem_of(error: Exception) -> Problem:
    """The problem that an error is. What was not raised on purpose tells nothing but that it happened."""
    if isinstance(error, HTTPException):
        problem, where = _problem(error.status_code, str(error.detail)), getattr(error, "where", "")
        return problem.model_copy(update={"errors": [Fault(where=where, what=problem.detail)]}) if where else problem
    for kind, status in STATUSES:
        if isinstance(error, kind):
            return _problem(status, str(error))
    LOGGER.error("unexpected %s", type(error).__name__, exc_info=error)
    return _problem(500, "something failed that should not have; the server's log says where")


def malformed(errors: Iterable[Mapping[str, Any]]) -> Problem:
    """The problem that pydantic's errors are."""
    # What was sent is not repeated: it may be long, or no Unicode.
    faults = [Fault(where=".".join(map(str, one["loc"])), what=one["msg"]) for one in errors]
    said = "; ".join(f"{fault.where}: {fault.what}" for fault in faults[:3])
    return _problem(422, said).model_copy(update={"errors": faults})


def answer_with(problem: Problem, headers: dict[str, str] | None = None, *, path: str = "") -> JSONResponse:
    """A problem as a response, in the form that the request's path speaks."""
    if path.startswith(OPENAI_PATHS):
        status, body = openai_error_of(problem)
        return JSONResponse(body, status, headers=headers)
    shown = problem.model_dump(exclude_defaults=True) | {"type": problem.type}
    return JSONResponse(shown, problem.status, headers=headers, media_type=MEDIA_TYPE)


def openai_error_of(problem: Problem) -> tuple[int, dict[str, Any]]:
    """Status and body of a problem in the form of the OpenAI interface."""
    return openai_error(problem.status, problem.detail, problem.errors[0].where if problem.errors else "")


def add_handlers(app: FastAPI) -> None:
    """Let every error leave the app as a problem."""
    for kind in (HTTPException, errors.PersonableError, Exception):
        app.add_exception_handler(kind, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)


async def _on_error(request: Request, error: Exception) -> Response:
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else None
    return answer_with(problem_of(error), headers, path=request.url.path)


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    sent = request.headers.get("content-type", "")
    if not sent.startswith(("application/json", "multipart/form-data")) and any(
        one["loc"] == ("body",) for one in error.errors()
    ):
        return answer_with(_problem(415, "send JSON: Content-Type: application/json"), path=request.url.path)
    return answer_with(malformed(error.errors()), path=request.url.path)


def _problem(status: int, detail: str) -> Problem:
    return Problem(title=TITLES.get(status, "Failed"), status=status, detail=detail)
