"""The log: one JSON object a line on standard error, without personal text.

What this package and uvicorn's error log say holds none. What others say may quote anything: of it only the template is
kept. Of an exception the types and frames are kept, of it and its causes, and not the messages. The setting
`server_log_texts` keeps all of it, for who hunts a fault on data of their own.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import Any

from personable.server.watch import REQUEST, Served

ACCESS = logging.getLogger("personable.access")
FIELDS = ("method", "route", "status", "seconds", "key", "whole")
"""What a line of the access log holds beside its message."""
LEFT_OUT = "(left out)"
_OURS = ("personable", "uvicorn.error")
_FRAMES, _CAUSES = 30, 20


def log_request(served: Served) -> None:
    """Log one request."""
    fields: dict[str, Any] = {name: getattr(served, name) for name in FIELDS}
    fields |= {"seconds": round(served.seconds, 4), "request": served.id}
    ACCESS.info("request", extra=fields)


def set_up(level: str = "INFO", *, texts: bool = False) -> None:
    """Send every log record of this process to standard error as JSON; other libraries from WARNING on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(texts=texts))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in _OURS:
        logging.getLogger(name).setLevel(level)


class Lines(logging.Formatter):
    """Records as JSON; `texts` keeps messages that may quote somebody."""

    def __init__(self, *, texts: bool = False) -> None:
        super().__init__()
        self.texts = texts

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._message(record),
        }
        request = getattr(record, "request", "") or REQUEST.get()
        line |= {"request": request} if request else {}
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = chain(record.exc_info[1], texts=self.texts)
        return json.dumps(line, default=str)

    def _message(self, record: logging.LogRecord) -> str:
        ours = record.name.startswith(_OURS)
        if ours or self.texts:
            return record.getMessage()
        return str(record.msg) if record.args else LEFT_OUT


def chain(error: BaseException, *, texts: bool) -> list[dict[str, Any]]:
    """An exception, what it groups and what caused it: type, frames, and with `texts` the message."""
    found: list[dict[str, Any]] = []
    coming, seen = [error], set[int]()
    while coming and len(found) < _CAUSES:
        at = coming.pop(0)
        if id(at) in seen:  # one that left a group has that group as its cause
            continue
        seen.add(id(at))
        told = {"type": type(at).__name__, "frames": frames(at.__traceback__)}
        found.append(told | ({"message": str(at)} if texts else {}))
        coming += at.exceptions if isinstance(at, BaseExceptionGroup) else ()
        cause = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
        coming += [cause] if cause is not None else []
    return found


def frames(trace: TracebackType | None) -> list[str]:
    """Where it happened, the innermost frame last, as `file:line function`; no line of code, which may hold text."""
    walked = traceback.StackSummary.extract(traceback.walk_tb(trace), limit=-_FRAMES, lookup_lines=False)
    return [f"{'/'.join(PurePath(one.filename).parts[-3:])}:{one.lineno} {one.name}" for one in walked]
