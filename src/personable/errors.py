"""Every error that Personable raises on purpose.

    PersonableError            exit status 1
    ├── UsageError             2   what was asked for makes no sense (an empty question, an unknown option)
    ├── ConfigurationError     3   settings, missing extras, a collection made with another embedder
    │   └── MissingExtraError  3   an optional library is needed; the message names the extra
    ├── DataError              4   files, collections and people: unreadable, malformed, not there
    │   ├── UnreadableFileError 4  one file could not be read (indexing reports it and goes on)
    │   └── NotFoundError      4   no such person, collection, passage or answer
    └── ModelError             5   a language or embedding model failed
        ├── ModelTimeoutError  5   it did not answer in time
        ├── ModelRefusedError  5   wrong key, unknown model, quota: trying again would not help
        └── ModelOutputError   5   it answered, but not in the form asked for, also after repair

Each message says what went wrong, with what, and what to do. `exit_status` is what the command line returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personable.types import Tokens


class PersonableError(Exception):
    """Base of all errors raised on purpose; `str(error)` is a sentence fit to show to a person."""

    exit_status = 1


class UsageError(PersonableError):
    exit_status = 2


class ConfigurationError(PersonableError):
    exit_status = 3


class MissingExtraError(ConfigurationError):
    """An optional library is missing.

    `what` is the thing that needs it ("PDF files"), `extra` the extra that brings it ("readers").
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} need an optional library: pip install "personable[{extra}]"')
        self.extra = extra


class DataError(PersonableError):
    exit_status = 4


class UnreadableFileError(DataError):
    pass


class NotFoundError(DataError):
    pass


class ModelError(PersonableError):
    """What it took before it failed: `calls` counts the requests, `tokens` what was read and written (None: not known
    of any), `cost` is in US dollars (None: no price is known)."""

    exit_status = 5
    calls = 0
    tokens: Tokens | None = None
    cost: float | None = 0.0


class ModelTimeoutError(ModelError):
    pass


class ModelRefusedError(ModelError):
    pass


class ModelOutputError(ModelError):
    pass
