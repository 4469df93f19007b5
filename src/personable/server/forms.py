"""Forms with files (`multipart/form-data`), which are read after it is known who sends them."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from fastapi import Request
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.types import Message

from personable.server.problems import ProblemError

TYPE = "multipart/form-data"
MOST_FILES = 5_000
"""Files of one upload."""


class FileForm:
    """The form that a request brings: `async with FileForm(request) as form`. Its temporary files go at the end.

    Raises ProblemError: 415 for another content type, 400 for a form that is malformed or breaks off.
    """

    def __init__(self, request: Request) -> None:
        kind, options = parse_options_header(request.headers.get("content-type", ""))
        if kind != TYPE.encode():
            raise ProblemError(415, f"files are sent as {TYPE}, such as: curl -F files=@notes.md …")
        self._end = b"--" + options.get(b"boundary", b"") + b"--"
        self._tail = b""
        self._receive = request.receive
        self._form = Request(request.scope, self._watched).form(max_files=MOST_FILES, max_fields=100)

    async def __aenter__(self) -> FormData:
        form = await self._form.__aenter__()
        if self._end not in self._tail:  # the parser leaves out a last file that breaks off, and says nothing
            await form.close()
            raise ProblemError(400, "the form breaks off before its end, so nothing was taken; send it again")
        return form

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._form.__aexit__(kind, error, trace)

    async def _watched(self) -> Message:
        message = await self._receive()
        self._tail = (self._tail + message.get("body", b""))[-512:]
        return message


def only_file(form: FormData) -> UploadFile:
    """The one file of a form, its field `file`. Raises ProblemError (422)."""
    found = form.getlist("file")
    if len(found) != 1 or not isinstance(found[0], UploadFile):
        raise ProblemError(422, "send one file, as the field `file`")
    return found[0]


def file_form(what: str) -> dict[str, Any]:
    """For a route's `openapi_extra`: a form with one file."""
    return form_schema({"file": {"type": "string", "format": "binary", "description": what}}, ["file"])


def form_schema(fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """For a route's `openapi_extra`: a form with these fields."""
    schema = {"type": "object", "properties": fields, "required": required}
    return {"requestBody": {"required": True, "content": {TYPE: {"schema": schema}}}}
